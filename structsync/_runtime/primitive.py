"""The public base of every primitive: a core in a trio program."""

from __future__ import annotations

from collections.abc import Coroutine, Hashable
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, NoReturn, TypeAlias

import trio
from trio.lowlevel import enable_ki_protection

from structsync._core.queue.arbiter import Arbiter
from structsync._core.queue.request import ClaimT
from structsync._core.queue.user_code import user_code
from structsync._primitives.groups import Claim

from . import ownership, parking
from .arguments import check_sync
from .causes import Closed, OwnerExited
from .events import Observer, emit, everywhere
from .request import Request
from .runs import running_task

CheckpointMode: TypeAlias = Literal["always", "budget"]

# With checkpoint="budget": how many uncontended acquires may go without a schedule point in a row.
# As in tokio's cooperative budget of 128 polls, the next one yields.
BUDGET = 127


@dataclass(frozen=True, slots=True)
class PrimitiveStatistics:
    """The state of a primitive, for debugging.

    Attributes:
      tasks_waiting: how many requests are pending.
    """

    tasks_waiting: int


class Primitive(Generic[ClaimT]):
    """Base of all primitives, and of those that you write yourself.

    A primitive of your own is a core, that is a subclass of :class:`Arbiter` with your state and the
    three functions ``admits``, ``admit`` and ``give_back``; and a subclass of this class whose
    methods call ``_acquire``, ``_acquire_nowait``, ``_give_back``, ``_held`` and ``_request`` with
    claims that your core understands. It then has the fairness, the cancellation rules, ``close``,
    events, scopes and checks of all others.

    Args:
      core: the decisions; only this primitive may use it.
      checkpoint: ``"always"``: every acquire is a checkpoint; ``"budget"``: up to 127 uncontended
          acquires in a row may return without a schedule point (cancellation is always checked).
    """

    __slots__ = (
        "__weakref__",
        "_core",
        "_observers",
        "_root",
        "_skips",
        "_skips_left",
        "_thread",
    )
    _owned: ClassVar[bool] = False

    def __init__(self, core: Arbiter[ClaimT], *, checkpoint: CheckpointMode = "always") -> None:
        if checkpoint not in ("always", "budget"):
            raise ValueError(f"checkpoint must be 'always' or 'budget', not {checkpoint!r}")
        if not type(core).__module__.startswith("structsync._core."):
            _guard(core)
        self._core = core
        self._observers: list[Observer] = everywhere
        # The run that uses it while it is not at rest (C6): its thread, or 0 where the root task is
        # to be compared, because a Request may outlive its run and a thread may start another run.
        self._thread = 0
        self._root: trio.lowlevel.Task | None = None
        self._skips = self._skips_left = BUDGET if checkpoint == "budget" else 0

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for base in cls.__mro__[1:]:
            if base.__dict__.get("__final__"):
                raise TypeError(
                    f"{base.__name__} is final; subclass structsync.Primitive to write a primitive "
                    "of your own, or keep a private one inside your class"
                )

    # For subclasses.

    @enable_ki_protection
    async def _acquire(self, claim: ClaimT, *, priority: int = 0) -> None:
        """Take the claim, waiting in the queue for it if necessary."""
        await parking.acquire(self, claim, priority)

    @enable_ki_protection
    def _acquire_nowait(self, claim: ClaimT) -> None:
        """Take the claim if it would be granted at once, else raise :exc:`trio.WouldBlock`."""
        parking.acquire_nowait(self, claim)

    @enable_ki_protection
    def _give_back(self, claim: ClaimT) -> None:
        """Give the claim back and wake whom that lets in."""
        parking.give_back(self, claim)

    def _held(self, claim: ClaimT, *, priority: int = 0) -> Held[ClaimT]:
        """Return an async context manager that holds the claim."""
        return Held(self, claim, priority)

    @enable_ki_protection
    def _request(self, claim: ClaimT, *, priority: int = 0) -> Request[ClaimT]:
        """Take the claim, or a position in the queue for it, now; return the handle to wait on."""
        return Request(self, parking.submit(self, claim, priority))

    def _claim(self, claim: ClaimT) -> Claim:
        """Return the claim for :func:`acquire_all` and :func:`acquire_any`; take nothing."""
        return Claim(self, lambda task: claim)

    def _leave(self, claim: ClaimT) -> None:
        """Give the claim back at the end of a block that held it."""
        self._give_back(claim)

    # For everybody.

    @enable_ki_protection
    def close(self) -> None:
        """Take the primitive out of service for good.

        Waiters and later acquires get :exc:`trio.ClosedResourceError`; giving back still works.
        Idempotent.

        Raises:
          RuntimeError: if another trio run uses it now.
        """
        before = self._core.cause  # a broken barrier can still be closed
        self._end(Closed(type(self).__name__))
        if self._observers and self._core.cause is not before:
            emit("closed", self, None, running_task())

    def _end(self, cause: Hashable) -> None:
        parking.change(self, lambda: self._core.end(cause))

    def statistics(self) -> PrimitiveStatistics:
        """Return the state of this primitive, for debugging."""
        return PrimitiveStatistics(tasks_waiting=len(self._core.queue))

    def _describe(self) -> str:
        """Return the state as it stands in ``repr``; by default the fields of the core."""
        core = self._core
        return ", ".join(f"{name}={getattr(core, name, 'unset')!r}" for name in core.state_fields)

    def __repr__(self) -> str:
        core = self._core
        words = [self._describe(), f"{len(core.waiting())} waiting"]
        if core.policy.name != "fifo":
            words.append(f"policy={core.policy.name!r}")
        if core.cause is not None:
            words.append("closed" if isinstance(core.cause, Closed) else "broken")
        details = ", ".join(word for word in words if word)
        return f"<{type(self).__name__} at {id(self):#x}: {details}>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(
            f"a {type(self).__name__} cannot be copied or pickled: tasks wait in this one; "
            "share the object itself"
        )

    def _units(self, claim: ClaimT) -> int:
        """Return for how many units of :meth:`_balance` a claim stands."""
        return 1

    def _balance(self) -> int | None:
        """Return a number that falls by one for each unit lent out.

        Scopes find leaks by it. None: go by what was granted and given back; right for a primitive
        whose every claim is to be given back.
        """
        return None


def _guard(core: Arbiter[Any]) -> None:
    """Let nothing change while the ``admits`` of a user's core runs (I6)."""
    admits = core.admits
    check_sync(admits, "admits")

    def guarded(claim: Any) -> bool:
        with user_code():
            return admits(claim)

    core.admits = guarded  # type: ignore[method-assign]  # for this core alone, while it is live


class OwnedPrimitive(Primitive[ClaimT]):
    """A primitive that belongs to tasks, and breaks if one of them ends with it (C5)."""

    __slots__ = ()
    _owned: ClassVar[bool] = True

    def _owner_exited(self, task: trio.lowlevel.Task) -> None:
        parking.owner_exited(self, task, OwnerExited(type(self).__name__, task))

    @enable_ki_protection
    def _give_back(self, claim: ClaimT) -> None:
        parking.give_back(self, claim)
        ownership.drop(claim, self)  # type: ignore[arg-type]  # a task, or a claim that names one


class Held(Generic[ClaimT]):
    """An async context manager: takes a claim on entry, gives it back on exit."""

    __slots__ = ("_claim", "_primitive", "_priority")

    def __init__(self, primitive: Primitive[ClaimT], claim: ClaimT, priority: int) -> None:
        self._primitive = primitive
        self._claim = claim
        self._priority = priority

    def __aenter__(self) -> Coroutine[Any, Any, None]:
        return parking.acquire(self._primitive, self._claim, self._priority)

    @enable_ki_protection
    async def __aexit__(self, *exc_info: object) -> None:
        parking.give_back(self._primitive, self._claim)
