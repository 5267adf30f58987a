"""Wait until a number of things have happened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from trio.lowlevel import enable_ki_protection

from structsync._core.primitives.latch import LatchCore
from structsync._runtime import parking, releasing
from structsync._runtime.arguments import check_count
from structsync._runtime.live import PrimitiveStatistics
from structsync._runtime.primitive import Primitive


@final
@dataclass(frozen=True, slots=True)
class LatchStatistics(PrimitiveStatistics):
    """The state of a :class:`Latch`, for debugging.

    Attributes:
      count: what is left to count down.
    """

    count: int


@final
class Latch(Primitive[int]):
    """A count that falls to zero once; tasks wait for that.

    Like a :class:`trio.Event` that is set by the last of ``count`` calls. It cannot be reused: make a new
    one each time, or use a :class:`Barrier` for rounds.

    Fairness: all waiters are granted together. Cancellation: a cancelled wait changes nothing.

    Args:
      count: how many times it must be counted down, an int >= 0. 0: it is open from the start.
      name: its name in ``repr``, errors, leaks and reports.

    Raises:
      TypeError, ValueError: if ``count`` is not an int >= 0.

    Source: ``java.util.concurrent.CountDownLatch``; C++20's ``std::latch``.
    """

    __slots__ = ()
    _core: LatchCore

    def __init__(self, count: int, *, name: str | None = None) -> None:
        check_count(count, "count", least=0)
        super().__init__(LatchCore(count), name=name)

    @property
    def count(self) -> int:
        """What is left to count down; 0 once it is open, for good."""
        return self._core.count

    @enable_ki_protection
    def count_down(self, n: int = 1) -> None:
        """Count down by ``n``, and let all waiters continue if that leaves zero.

        Raises:
          TypeError: if ``n`` is not an int.
          ValueError: if ``n`` is less than 1, or more than is left; nothing is counted then.
        """
        check_count(n, "n")
        releasing.release(self, n)

    @enable_ki_protection
    async def wait(self) -> None:
        """Wait until the count is zero.

        Raises:
          trio.ClosedResourceError: if the latch is closed, before or meanwhile.
        """
        await parking.acquire(self, 0)

    def statistics(self) -> LatchStatistics:
        """Return the state of this latch, for debugging."""
        return LatchStatistics(len(self._core.queue), self._core.count)

    def _balance(self) -> int:
        return 0  # nothing is lent
