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

        For each class and name of primitives: how many requests there were and how they ended, how
        long they waited and were held, and who waited longest. Give primitives a ``name=`` to tell
        them apart; those of one class without a name are counted together. Time is that of trio's
        clock.

        The memory is bounded: durations are counted in at most 322 buckets, at most ``most`` names
        are told apart, and all that come later are the row ``others``. The runs of the thread are
        counted in which the block is entered. Each request costs some microseconds more; without
        such a block nothing does.

        Args:
          most: how many classes and names are told apart.

        Raises:
          TypeError: if ``most`` is not an int.
          ValueError: if it is less than 1.
        """
        return count_and_time(most=most)


#: What users import: one object, so that what it offers is found by its name.
observe: Observe = Observe()
