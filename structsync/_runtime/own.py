"""The public way to write a primitive: functions for its methods, and a base for what tasks own."""

from __future__ import annotations

from collections.abc import Callable
from types import CoroutineType
from typing import Any, ClassVar, Literal, TypeAlias, TypeVar

from trio.lowlevel import Task, enable_ki_protection

from structsync._core.queue.owned import OwnedArbiter
from structsync._core.queue.request import ClaimT
from structsync._core.queue.request import Request as CoreRequest

from . import ownership, parking, releasing
from .arguments import NO_PRIORITY, check_priority
from .causes import OwnerExited
from .claim import Claim
from .done import coroutine_function
from .primitive import CheckpointMode, Primitive, ReleasesAtExit
from .request import Request

PrimitiveT = TypeVar("PrimitiveT", bound=Primitive[Any])
OwnerExit: TypeAlias = Literal["breaks", "releases"]


@coroutine_function
@enable_ki_protection
async def acquire(primitive: Primitive[ClaimT], claim: ClaimT, *, priority: int = 0) -> Any:
    """Take the claim, waiting in the queue for it if necessary.

    Cancellation: a cancelled acquire has taken nothing, and the requests behind it move up.

    Returns:
      What the core hands out for the claim, see :meth:`structsync.Arbiter.handed_out`.

    Raises:
      Exception: what ``admits`` or ``refuse_impossible`` of the core raises.
      TypeError: if ``priority`` is not an int.
      ValueError: if ``priority`` is not 0 and the policy of the core is not ``"priority"``.
      trio.ClosedResourceError, trio.BrokenResourceError: if the primitive is closed or breaks, before
          or meanwhile.
    """
    if priority is not NO_PRIORITY:
        check_priority(priority, primitive._core)
    await parking.acquire(primitive, claim, priority)
    return primitive._core.handed_out(claim)


@enable_ki_protection
def acquire_nowait(primitive: Primitive[ClaimT], claim: ClaimT) -> Any:
    """Take the claim if it would be granted at once, and return what the core hands out for it.

    Raises:
      trio.WouldBlock: if it would have to wait.
      Exception: as :func:`acquire`.
    """
    parking.acquire_nowait(primitive, claim)
    return primitive._core.handed_out(claim)


@enable_ki_protection
def release(primitive: Primitive[ClaimT], claim: ClaimT) -> None:
    """Release the claim, and grant the next requests that fit in the same step.

    Raises:
      Exception: what ``discharge`` of the core raises; nothing is changed then.
    """
    releasing.release(primitive, claim)


@enable_ki_protection
def request(primitive: Primitive[ClaimT], claim: ClaimT, *, priority: int = 0) -> Request[ClaimT]:
    """Take the claim, or a position in the queue for it, now; return the handle.

    Raises:
      Exception: as :func:`acquire`.
    """
    return primitive._request(claim, priority=priority)


def held(primitive: Primitive[ClaimT], claim: ClaimT, *, priority: int = 0) -> Block[ClaimT]:
    """Return an async context manager that holds the claim, and is given what the core hands out.

    Raises:
      TypeError, ValueError: as :func:`acquire`, for the priority.
    """
    if priority is not NO_PRIORITY:
        check_priority(priority, primitive._core)
    return Block(primitive, claim, priority)


def claim(primitive: PrimitiveT, make: Callable[[Task], Any]) -> Claim[PrimitiveT]:
    """Return a claim for :func:`structsync.acquire_all` and :func:`structsync.acquire_any`.

    Args:
      make: returns the claim of the task that acquires.
    """
    return Claim(primitive, make)


@enable_ki_protection
def change(
    primitive: Primitive[ClaimT], transition: Callable[[], list[CoreRequest[ClaimT]]]
) -> None:
    """Change the state of the core other than by acquiring and releasing, and wake the waiters that this grants.

    Args:
      transition: changes the core and returns what its ``settle()`` does.

    Raises:
      RuntimeError: if a guard, a predicate or an observer runs this.
      TypeError: if the transition does not return what ``settle()`` does; what it has changed is settled all
          the same, but a task that its own ``settle()`` has granted something sleeps until it is cancelled.
      Exception: what the transition raises.
    """
    lost: list[object] = []

    def settled() -> list[CoreRequest[ClaimT]]:
        ended: object = transition()
        if isinstance(ended, list):
            return ended
        lost.append(ended)
        return primitive._core.settle()

    releasing.change(primitive, settled)
    if lost:
        raise TypeError(
            f"a transition of {primitive!r} must return what settle() does, so that the tasks that it "
            f"lets in are woken, not {lost[0]!r}; end {transition!r} with `return self.settle()`"
        )


class Block(ReleasesAtExit[ClaimT]):
    """An async context manager: takes a claim on entry, releases it on exit."""

    __slots__ = ()

    def __aenter__(self) -> CoroutineType[Any, Any, Any]:
        return acquire(self._primitive, self._claim, priority=self._priority)


class OwnedPrimitive(Primitive[ClaimT]):
    """Base of a primitive of your own whose claims belong to tasks.

    If the task of a claim exits without releasing it, the primitive is broken for good, like a
    :class:`structsync.Lock`; or the claim is released for it. Its pending requests are withdrawn. If
    ``holds`` or ``discharge`` of the core raises then, that is logged, and the primitive is broken:
    its errors have it as their ``__cause__``.

    Args:
      core: the decisions; only this primitive may use it.
      owner_exit: ``"breaks"`` or ``"releases"``: what happens if a task exits while it holds a claim.
          Choose ``"breaks"`` if it may leave its work half done.
      checkpoint, name: as in :class:`structsync.Primitive`.

    Raises:
      TypeError: if ``core`` is not an :class:`OwnedArbiter`; or as :class:`structsync.Primitive`.
      ValueError: if ``owner_exit`` or ``checkpoint`` is another word.
    """

    __slots__ = ("_owner_exit",)
    _owned: ClassVar[bool] = True
    _core: OwnedArbiter[ClaimT]

    def __init__(
        self,
        core: OwnedArbiter[ClaimT],
        *,
        owner_exit: OwnerExit = "breaks",
        checkpoint: CheckpointMode = "always",
        name: str | None = None,
    ) -> None:
        if owner_exit not in ("breaks", "releases"):
            raise ValueError(f"owner_exit must be 'breaks' or 'releases', not {owner_exit!r}")
        if not isinstance(core, OwnedArbiter):
            raise TypeError(f"core must be an object of a subclass of OwnedArbiter, not {core!r}")
        super().__init__(core, checkpoint=checkpoint, name=name)
        self._owner_exit = owner_exit

    def _owner_exited(self, task: Task, claim: ClaimT) -> None:
        breaks = self._owner_exit == "breaks"
        cause = OwnerExited(type(self).__name__, self._name, task) if breaks else None
        ownership.owner_exited(self, task, claim, cause)

    def _leave(self, claim: ClaimT, owner: Task | None = None) -> None:
        # Where it broke under the block, the body got the error already.
        if self._core.cause is None or self._core.holds(claim):
            releasing.release(self, claim, owner)
