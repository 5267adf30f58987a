"""`structsync.observe`: the stream of events, and the numbers that are made from it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import final

from structsync._runtime.events import Observer
from structsync._runtime.events import observe as observe_events

from .metrics import Metrics
from .metrics import metrics as count_and_time


@final
class Observe:
    __doc__ = observe_events.__doc__

    def __call__(self, observer: Observer) -> AbstractContextManager[None]:
        return observe_events(observer)

    def metrics(self, *, most: int = 1_000) -> AbstractContextManager[Metrics]:
        """Count and time what happens to every primitive while the block runs.

        ::

            with structsync.observe.metrics() as metrics:
                ...
                for one in metrics.primitives():
                    print(one.kind, one.name, one.waits.quantile(0.99), one.longest_waiter)

        For each class and name of primitives: the number of requests and how they ended, how long they
        waited and were held, and which task waited longest. Give primitives a ``name=``; those of one class
        without a name are counted together. Times are measured by trio's clock.

        The memory is bounded: durations are counted in at most 323 buckets, and after ``most`` names all
        others are counted together as ``others``. Runs in the thread that entered the block are counted.
        Each request costs some microseconds more inside such a block, and nothing otherwise.

        Args:
          most: the most pairs of class and name that are counted separately.

        Raises:
          TypeError: if ``most`` is not an int.
          ValueError: if it is less than 1.
        """
        return count_and_time(most=most)


#: What users import: one object, so that what it offers is found by its name.
observe: Observe = Observe()
