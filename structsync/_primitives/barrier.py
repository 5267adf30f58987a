"""A place where a number of tasks wait for each other, again and again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias, final

from trio.lowlevel import enable_ki_protection

from structsync._core.primitives.barrier import BarrierCore
from structsync._runtime import parking_together, releasing
from structsync._runtime.arguments import check_count, check_sync
from structsync._runtime.causes import RoundBroken
from structsync._runtime.live import PrimitiveStatistics
from structsync._runtime.primitive import Primitive
from structsync._runtime.round_action import RoundAction

if TYPE_CHECKING:
    from structsync._core.queue.request import Request

WhenCancelled: TypeAlias = Literal["leaves", "breaks"]


@final
@dataclass(frozen=True, slots=True)
class BarrierStatistics(PrimitiveStatistics):
    """The state of a :class:`Barrier`, for debugging.

    Attributes:
      parties: the number of tasks in a round.
      broken: whether the round is broken, and not reset yet.
    """

    parties: int
    broken: bool


@final
class Barrier(Primitive[int | None]):
    """A number of tasks wait here until all have arrived; then all continue.

    Reusable: the next arrivals begin the next round. Each party of a round has its own number, so one
    of them can be chosen to do something once::

        barrier = structsync.Barrier(3)
        if await barrier.wait() == 0:
            ...                         # one of the three

    A party that no longer takes part calls :meth:`leave`, and the others no longer wait for it.

    Fairness: the first tasks to arrive make a round. Cancellation: a task that is cancelled before the round is
    full is not counted, and the round waits for one more; or, with ``cancelled="breaks"``, the round is
    broken in the same step: its other parties, late arrivals included, get
    :exc:`trio.BrokenResourceError` until a task calls :meth:`reset`, or :exc:`trio.Cancelled` if
    they are cancelled themselves. A task that is cancelled after the last party has arrived was in the
    round, and continues.

    Args:
      parties: the number of tasks in a round, an int >= 1.
      cancelled: ``"leaves"`` or ``"breaks"``: what a party that is cancelled does to its round.
      action: a sync function that is called once per round, when the last party has arrived and before any
          continues. It must not change a primitive. If it raises, the round is broken: the last task to
          arrive gets the error, the others :exc:`trio.BrokenResourceError`.
      name: its name in ``repr``, errors, leaks and reports.

    Raises:
      TypeError, ValueError: if ``parties`` is not an int >= 1.
      TypeError: if ``action`` is not a sync function.
      ValueError: if ``cancelled`` is neither.

    Source: :class:`asyncio.Barrier`, without its numbers that occur twice (python/cpython#155233).
    """

    __slots__ = ("_action", "_breaks")
    _core: BarrierCore

    def __init__(
        self,
        parties: int,
        *,
        cancelled: WhenCancelled = "leaves",
        action: Callable[[], object] | None = None,
        name: str | None = None,
    ) -> None:
        check_count(parties, "parties")
        if cancelled not in ("leaves", "breaks"):
            raise ValueError(f"cancelled must be 'leaves' or 'breaks', not {cancelled!r}")
        if action is not None:
            check_sync(action, "action")
        super().__init__(BarrierCore(parties), name=name)
        self._breaks = cancelled == "breaks"
        self._action = action

    @property
    def parties(self) -> int:
        """The number of parties in a round; less once some have left."""
        return self._core.parties

    @property
    def broken(self) -> bool:
        """Whether the round is broken, and not reset yet."""
        return self._core.broken

    @enable_ki_protection
    async def wait(self) -> int:
        """Wait until all parties of the round have arrived.

        Returns:
          The number of this task in the round, from 0 to ``parties - 1`` in the order in which they
          came. No two of a round have the same.

        Raises:
          trio.BrokenResourceError: if the round is broken, before or meanwhile.
          trio.ClosedResourceError: if the barrier is closed, before or meanwhile.
          RuntimeError: if all parties have left.
          Exception: what the action raises, in the task that makes the round full.
        """
        return await parking_together.meet(self, self._stop, self._run_of_action())

    @enable_ki_protection
    def leave(self) -> None:
        """Reduce the number of parties by one, for good, starting with this round.

        If the round was waiting only for this party, it ends at once. A task must not leave while it waits
        here; another one may leave in its place. This works while the barrier is broken or closed, too, so
        that a party can leave in a ``finally``.

        Raises:
          RuntimeError: if all parties have left already.
          Exception: what the action raises, if this ends the round.
        """
        action = self._run_of_action()
        releasing.change(self, lambda: self._core.remove_party(action))
        if action is not None:
            action.check()

    @enable_ki_protection
    def abort(self) -> None:
        """Break the round, for the tasks that wait and for those that arrive before :meth:`reset`."""
        cause = RoundBroken("abort() was called; reset() begins a new one")
        change = partial(self._core.break_round, cause)
        releasing.change(self, change, events=(("changed", ("abort", None)),))

    @enable_ki_protection
    def reset(self) -> None:
        """Begin a new round; tasks that wait now get :exc:`trio.BrokenResourceError`."""
        cause = RoundBroken("reset() began a new one")
        change = partial(self._core.reset, cause)
        releasing.change(self, change, events=(("changed", ("reset", None)),))

    def statistics(self) -> BarrierStatistics:
        """Return the state of this barrier, for debugging."""
        core = self._core
        return BarrierStatistics(len(core.queue), core.parties, core.broken)

    def _stop(self, request: Request[int | None]) -> list[Request[int | None]] | None:
        if not self._breaks:
            return self._core.withdraw(request)
        reason = f"{request.waiter!r} was cancelled; reset() begins a new one"
        return self._core.leave_and_break(request, RoundBroken(reason))

    def _run_of_action(self) -> RoundAction | None:
        return None if self._action is None else RoundAction(self._action)

    def _describe(self) -> str:
        return f"parties={self._core.parties}"

    def _balance(self) -> int:
        return 0  # nothing is lent
