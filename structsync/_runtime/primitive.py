"""The public base of every primitive: a core in a trio program."""

from __future__ import annotations

from collections.abc import Hashable
from types import CoroutineType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeAlias, final

import trio
from trio.lowlevel import Abort, enable_ki_protection

from structsync._core.queue.arbiter import Arbiter
from structsync._core.queue.own_core import fault_at_creation
from structsync._core.queue.request import ClaimT
from structsync._core.queue.request import Request as CoreRequest

from . import cancelling, ownership, parking, positions, releasing
from .arguments import NO_PRIORITY, check_priority, check_sync
from .causes import Closed, OwnerExited
from .claim import Claim
from .done import DONE
from .events import emit
from .live import Live
from .private_names import refuse_private_names
from .request import Request
from .runs import running_task, transitions_of
from .watching import watchers

if TYPE_CHECKING:
    from typing import Self

CheckpointMode: TypeAlias = Literal["always", "budget"]

# With checkpoint="budget": how many uncontended acquires may go without a schedule point in a row.
# As in tokio's cooperative budget of 128 polls, the next one yields.
BUDGET = 127


class Primitive(Live[ClaimT]):
    """Base of all primitives, and of those that you write yourself.

    A primitive of your own is a core, that is a subclass of :class:`Arbiter` with your state and the
    three functions ``admits``, ``admit`` and ``discharge``; and a subclass of this class whose
    methods call ``_acquire``, ``_acquire_nowait``, ``_release``, ``_held`` and ``_request`` with
    claims that your core understands. It then has the fairness, the cancellation rules, ``close``,
    events, scopes and checks of all others. A subclass that has, declares or sets another private name of
    this one for something of its own, such as ``_name``, is a TypeError when it is made; the type of ``_core`` may
    be declared.

    Args:
      core: the decisions; only this primitive may use it.
      checkpoint: ``"always"``: every acquire is a checkpoint; ``"budget"``: up to 127 uncontended
          acquires in a row may return without a schedule point (cancellation is always checked).
      name: its name in ``repr``, errors, leaks and reports; None keeps one that was assigned before.

    Raises:
      TypeError: if ``core`` is not an :class:`Arbiter`, its ``__init__`` has not called that of
          Arbiter or overwrote what that set, its ``admits`` is not a sync function, or ``name`` is
          not a str.
      ValueError: if ``checkpoint`` is neither.
    """

    __slots__ = ()

    def __init__(
        self,
        core: Arbiter[ClaimT],
        *,
        checkpoint: CheckpointMode = "always",
        name: str | None = None,
    ) -> None:
        if checkpoint not in ("always", "budget"):
            raise ValueError(f"checkpoint must be 'always' or 'budget', not {checkpoint!r}")
        if not isinstance(core, Arbiter):
            raise TypeError(f"core must be an object of a subclass of Arbiter, not {core!r}")
        if core.user_written:
            check_sync(core.admits, "admits")
            if fault := fault_at_creation(core):
                raise TypeError(fault)
        super().__init__(core, BUDGET if checkpoint == "budget" else 0, name)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for base in cls.__mro__[1:]:
            if base.__dict__.get("__final__"):
                raise TypeError(
                    f"{base.__name__} is final; subclass structsync.Primitive to write a primitive "
                    "of your own, or keep a private one inside your class"
                )
        refuse_private_names(cls)

    # For subclasses.

    @enable_ki_protection
    async def _acquire(self, claim: ClaimT, *, priority: int = 0) -> None:
        """Take the claim, waiting in the queue for it if necessary.

        Raises:
          TypeError, ValueError: if ``priority`` is not an int, or the policy has none; as ``_held``
              and ``_request`` do.
        """
        if priority is not NO_PRIORITY:
            check_priority(priority, self._core)
        await parking.acquire(self, claim, priority)

    @enable_ki_protection
    def _acquire_nowait(self, claim: ClaimT) -> None:
        """Take the claim if it would be granted at once, else raise :exc:`trio.WouldBlock`."""
        parking.acquire_nowait(self, claim)

    @enable_ki_protection
    def _release(self, claim: ClaimT) -> None:
        """Release the claim, and wake the tasks that are granted something by that."""
        releasing.release(self, claim)

    def _held(self, claim: ClaimT, *, priority: int = 0) -> Held[ClaimT]:
        """Return an async context manager that holds the claim."""
        if priority is not NO_PRIORITY:
            check_priority(priority, self._core)
        return Held(self, claim, priority)

    @enable_ki_protection
    def _request(self, claim: ClaimT, *, priority: int = 0) -> Request[ClaimT]:
        """Take the claim, or a position in the queue for it, now; return the handle to wait on."""
        if priority is not NO_PRIORITY:
            check_priority(priority, self._core)
        return Request(self, positions.submit(self, claim, priority))

    def _claim(self, claim: ClaimT) -> Claim[Self]:
        """Return the claim for :func:`acquire_all` and :func:`acquire_any`; take nothing."""
        return Claim(self, lambda task: claim)

    async def _wait_for(self, request: CoreRequest[ClaimT]) -> None:
        """Sleep until a request that is in the queue already ends."""
        await positions.wait_for(self, request)

    def _withdraw(self, request: CoreRequest[ClaimT]) -> bool:
        """Withdraw a request, if it is pending."""
        return positions.withdraw(self, request)

    def _leave(self, claim: ClaimT, owner: trio.lowlevel.Task | None = None) -> None:
        """Release the claim at the end of a block that held it, or of the owner's request."""
        releasing.release(self, claim, owner)

    def _abort(self, request: CoreRequest[ClaimT], raise_cancel: cancelling.RaiseCancel) -> Abort:
        return cancelling.abort(request, raise_cancel)

    # For every user.

    @enable_ki_protection
    def close(self) -> None:
        """Close the primitive for good.

        Waiters and later acquires get :exc:`trio.ClosedResourceError`; releasing still works.
        Idempotent.

        Raises:
          RuntimeError: if another trio run uses it now.
        """
        self._close_as(self._title())

    def _close_as(self, title: str) -> None:
        """Close it; waiters are told that what has this title was closed."""
        before = self._core.cause  # a broken barrier can still be closed
        self._end(Closed(title))
        if self._observers and self._core.cause is not before:
            with transitions_of(self):
                emit("closed", self, None, running_task())

    def _end(self, cause: Hashable) -> None:
        releasing.change(self, lambda: self._core.end(cause))

    async def _after_close(self) -> None:
        """Do what :meth:`close`, which cannot wait, leaves to the end of a scope."""


class OwnedPrimitive(Primitive[ClaimT]):
    """A primitive that belongs to tasks, and breaks if one of them ends with it (C5)."""

    __slots__ = ()
    _owned: ClassVar[bool] = True

    def _owner_exited(self, task: trio.lowlevel.Task, claim: ClaimT) -> None:
        cause = OwnerExited(type(self).__name__, self._name, task)
        ownership.owner_exited(self, task, task, cause)


class ReleasesAtExit(Generic[ClaimT]):
    """The end of a block that has taken a claim on entry."""

    __slots__ = ("_claim", "_primitive", "_priority")

    def __init__(self, primitive: Primitive[ClaimT], claim: ClaimT, priority: int) -> None:
        self._primitive = primitive
        self._claim = claim
        self._priority = priority

    @enable_ki_protection
    def __aexit__(
        self, kind: object, error: object, traceback: object, /
    ) -> CoroutineType[Any, Any, None]:
        self._primitive._leave(self._claim)
        return DONE


@final
class Held(ReleasesAtExit[ClaimT]):
    """An async context manager: takes a claim on entry, releases it on exit."""

    __slots__ = ()

    @enable_ki_protection
    def __aenter__(self) -> CoroutineType[Any, Any, None]:
        acquire = parking.acquire_for_block if watchers else parking.acquire
        return acquire(self._primitive, self._claim, self._priority)
