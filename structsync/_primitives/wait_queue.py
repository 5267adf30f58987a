"""Waiting to be woken, without a lock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar, final

from trio.lowlevel import Task, enable_ki_protection

from structsync._core.primitives.wait_queue import WaitQueueCore
from structsync._runtime import parking, releasing
from structsync._runtime.arguments import check_count, check_sync
from structsync._runtime.live import PrimitiveStatistics
from structsync._runtime.predicate import wait_for_outside
from structsync._runtime.primitive import Primitive

T = TypeVar("T")


@final
@dataclass(frozen=True, slots=True)
class WaitQueueStatistics(PrimitiveStatistics):
    """The state of a :class:`WaitQueue`, for debugging.

    Attributes:
      waiters: the tasks that wait, in the order in which they are woken.
    """

    waiters: tuple[Task, ...]


@final
class WaitQueue(Primitive[None]):
    """A bare condition: tasks wait until another one wakes them.

    In trio no other task runs between two checkpoints, so state that is changed between them needs no lock,
    and a condition needs none either. A wake that finds no waiting task is not kept; :class:`Parker` keeps
    them.

    Fairness: the oldest waiter is woken first. Cancellation: a wait that was cancelled first uses up no
    wake; a wait that was woken first returns.

    Args:
      name: its name in ``repr``, errors, leaks and reports.

    Source: Moura 2004, conditions without a lock (wait, signal, signal_all).
    """

    __slots__ = ()
    _core: WaitQueueCore

    def __init__(self, *, name: str | None = None) -> None:
        super().__init__(WaitQueueCore(), name=name)

    @enable_ki_protection
    async def wait(self) -> None:
        """Wait to be woken.

        Raises:
          trio.ClosedResourceError: if the queue is closed, before or meanwhile.
        """
        await parking.acquire(self, None)

    @enable_ki_protection
    async def wait_for(self, predicate: Callable[[], T]) -> T:
        """Wait until ``predicate()`` is true, evaluating it now and whenever this task is woken.

        Between the last evaluation and the return no other task runs. A task that is woken and finds it
        false waits again, at the end of the queue, and that wake is used up. So if tasks wait for different
        things, use :meth:`wake_all`.

        Returns:
          The value of the predicate that was true.

        Raises:
          TypeError: if the predicate is not a sync function.
          Exception: what the predicate raises.
          RuntimeError: in a predicate that changes a primitive.
          trio.ClosedResourceError: as :meth:`wait`, where the predicate is not true.
        """
        check_sync(predicate, "predicate")
        return await wait_for_outside(self.wait, predicate)

    @enable_ki_protection
    def wake(self, n: int = 1) -> None:
        """Wake the ``n`` oldest waiters, or all if there are fewer.

        Raises:
          TypeError, ValueError: if ``n`` is not an int >= 0.
        """
        check_count(n, "n", least=0)
        self._wake(n)

    @enable_ki_protection
    def wake_all(self) -> None:
        """Wake all tasks that wait now; a task that waits again afterwards is not woken by this call."""
        self._wake(None)

    def _wake(self, n: int | None) -> None:
        change = partial(self._core.wake, n)
        releasing.change(self, change, events=(("changed", ("wake", n)),))

    def statistics(self) -> WaitQueueStatistics:
        """Return the state of this queue, for debugging."""
        waiters = tuple(request.waiter for request in self._core.queue)
        return WaitQueueStatistics(len(waiters), waiters)

    def _describe(self) -> str:
        return ""

    def _balance(self) -> int:
        return 0  # a wake or an unblock is spent, not lent
