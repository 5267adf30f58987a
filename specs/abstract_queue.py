"""The queue that every primitive that serves first come, first served, is an implementation of.

The state is which tasks wait, in which order, and which of them the last step granted: always those at the head. A
task joins at the end, or withdraws; the head is granted, one task or several; those at the end are ended, since the
primitive is closed or broken. In one step the head may be granted and others may join, withdraw or be ended. Nothing
is said about *when* a task is granted: that is what primitives differ in.

`FifoSpec` (in `common.py`) maps the core that ships to this queue, and each of its steps must be one of these, or none
(`it_is_a_queue`); a buffer is two such queues (`two_sides.py`). A core takes each step in one go. Therefore its
operations are *linearizable*: they have the results that they would have if each of them happened at one moment
between its call and its return, in the order of those moments, at this queue.

An operation of a program is more than a step of a core: it parks, is woken, and may be cancelled. That these are
linearizable, blocking ones and `nowait` ones, with the moment at the call itself, is checked in all schedules of a few
tasks (`tests/schedules/test_linearizable.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

from structsync.checking import Spec, action, invariant, start

# ==== Bounds ====

# Many primitives are mapped to it, so it has names for the longest of their queues. By itself it is checked with
# four names (`ShortQueue`): a head, a tail, and two between them.
NAMES = ("a", "b", "c", "d", "e", "f")


class AbstractQueue(Spec):
    """The tasks that wait, and those that the last step granted."""

    abstract = True
    forgets = ("granted",)

    names: Sequence[str] = NAMES
    waiting: tuple[str, ...] = start(tuple)  # the oldest first
    granted: tuple[str, ...] = start(tuple)  # by the last step, in this order; then forgotten

    def not_waiting(self) -> list[str]:
        return [who for who in self.names if who not in self.waiting]

    def some(self) -> range:
        """Return how many tasks may be granted, or stay, in one step: up to all, and one that joins in it."""
        return range(len(self.waiting) + 2)

    # ==== Actions ====

    @action(who=not_waiting, granted=some)
    def join(self, who: str, granted: int) -> None:
        """A task joins at the end, and the head of the queue is granted: none, some or all of the tasks."""
        self.waiting += (who,)
        self.grant(granted)

    @action(who=lambda spec: spec.waiting, granted=some)
    def withdraw(self, who: str, granted: int) -> None:
        self.waiting = tuple([one for one in self.waiting if one != who])
        self.grant(granted)

    @action(granted=some)
    def grant(self, granted: int) -> None:
        self.granted, self.waiting = self.waiting[:granted], self.waiting[granted:]

    @action(granted=some, stay=some)
    def end(self, granted: int, stay: int) -> None:
        """The head is granted; then only the first `stay` tasks stay, and those behind them are ended."""
        self.grant(granted)
        self.waiting = self.waiting[:stay]

    # ==== What is true of it ====

    @invariant
    def no_task_waits_twice(self) -> bool:
        """Each task that waits has one position in the queue."""
        return len(self.waiting) == len({*self.waiting})


class ShortQueue(AbstractQueue):
    """The same queue, with four names."""

    names = NAMES[:4]
