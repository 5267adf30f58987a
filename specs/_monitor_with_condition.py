"""What the two disciplines of a monitor's condition share: a monitor with a condition, and the stage of each task.

The state is the monitor and the condition, with their queues, and beside them the stage of each task, where it is in
its program, with which the queues are compared; and whether there is an item, for which tasks wait. A task enters
the monitor, and inside it may wait, take the item, or leave. What a notification or a signal does, and to which task,
each discipline says for itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from structsync import Status
from structsync._core.monitors.entry import EntryCore, Invocation
from structsync._core.monitors.monitor import MonitorCore
from structsync._core.primitives.condition import ConditionCore
from structsync._core.queue.request import Request
from structsync.checking import Spec, action, invariant, invariants, start

# ==== Bounds ====

# One that notifies or signals, two that wait, and one more that comes meanwhile.
TASKS = ("a", "b", "c", "d")

# The stages: where a task can be in its program.
IDLE, ENTERS, INSIDE, WAITS, RAISES = "idle", "enters", "inside", "waits", "raises"
# Under Mesa: in the queue; inside, and has not looked for the item yet.
NOTIFIED, BACK = "notified", "back"
SIGNALLED, URGENT = "signalled", "urgent"  # Hoare: let in by the same step; waits to get in again


class MonitorWithCondition:
    """A monitor and a condition in it, as one part of the state."""

    def __init__(
        self,
        condition: type[ConditionCore] = ConditionCore,
        monitor: type[MonitorCore] = MonitorCore,
    ) -> None:
        self.monitor = monitor()
        lock: Any = self.monitor
        self.condition: Any = condition(lock)
        entry = EntryCore("entry")
        self.calls = {who: Invocation(entry, who) for who in TASKS}
        self.again = {who: Invocation(self.monitor.reentry, who) for who in TASKS}

    def snapshot(self) -> Any:
        return (self.monitor.snapshot(), self.condition.snapshot())

    def restore(self, snapshot: Any) -> None:
        self.monitor.restore(snapshot[0])
        self.condition.restore(snapshot[1])


def at(*stages: str) -> Any:
    """Return the function that tells which tasks are at one of these stages, in the order of `TASKS`."""

    def who(spec: MonitorWithConditionSpec) -> list[str]:
        return [who for who, where in zip(TASKS, spec.stages, strict=True) if where in stages]

    return who


class MonitorWithConditionSpec(Spec):
    """A monitor with a condition, the stage of each task, and whether there is the item that they wait for."""

    abstract = True

    forgets: ClassVar[tuple[str, ...]] = ("ended",)
    core: MonitorWithCondition = start(MonitorWithCondition)
    stages: tuple[str, ...] = start(lambda: (IDLE,) * len(TASKS))  # in the order of `TASKS`
    item: bool = start(bool)
    ended: tuple[Request[Any], ...] = start(tuple)  # what the last action ended; then forgotten

    # ==== Words that actions use ====

    def move(self, who: str, stage: str) -> None:
        self.stages = tuple(
            [stage if one == who else where for one, where in zip(TASKS, self.stages, strict=True)]
        )

    def stage(self, who: str) -> str:
        return self.stages[TASKS.index(who)]

    def queue(self) -> list[str]:
        """Return the tasks in the queue of the monitor, the oldest first."""
        return [request.waiter for request in self.core.monitor.queue]

    def urgent(self) -> list[str]:
        """Return the tasks that signalled and wait to get in again, the oldest first."""
        return [request.waiter for request in self.core.monitor.urgent]

    def waiters(self) -> list[str]:
        """Return the tasks that wait on the condition, the oldest first."""
        return [request.waiter for request in self.core.condition.queue]

    def granted(self) -> list[str]:
        """Return the tasks that the last action let into the monitor."""
        return [one.waiter for one in self.ended if one.status is Status.GRANTED]

    def note(self, ended: Iterable[Request[Any]]) -> None:
        self.ended = tuple(ended)
        for who in self.granted():
            self.move(who, BACK if self.stage(who) == NOTIFIED else INSIDE)

    # ==== Actions ====

    @action(who=at(IDLE))
    def enter(self, who: str) -> None:
        self.move(who, ENTERS)
        request = self.core.monitor.submit(self.core.calls[who], waiter=who)
        self.note([request] if request.status is not Status.PENDING else [])

    @action(who=at(INSIDE), fair=True)
    def leave(self, who: str) -> None:
        self.move(who, IDLE)
        self.note(self.core.monitor.release(self.core.calls[who]))

    @action(who=at(INSIDE))
    def wait(self, who: str) -> None:
        self.move(who, WAITS)
        self.note(self.core.condition.wait(self.core.again[who], who)[1])

    @action(who=at(INSIDE), when=lambda spec, who: spec.item)
    def consume(self, who: str) -> None:
        self.item = False
        self.note([])

    # ==== Invariants ====

    @invariant
    def one_inside_at_a_time(self) -> bool:
        """At most one task was let in and has not left, and the monitor knows which."""
        inside = at(INSIDE, BACK)(self)
        return len(inside) <= 1 and self.core.monitor.owner == (inside[0] if inside else None)

    @invariant
    def nothing_grantable_waits(self) -> bool:
        """No lost wakeup: while no task is inside, none is in the queue and none has signalled (I3)."""
        return invariants.nothing_grantable_waits(self.core.monitor)

    @invariant
    def each_task_is_in_the_right_queue(self) -> bool:
        """Each task is in the queue for what it waits for: to be notified, to get in, or to get in again."""
        return bool(
            sorted(self.urgent()) == at(URGENT)(self)
            and sorted(self.queue()) == at(ENTERS, NOTIFIED, RAISES)(self)
            and sorted(self.waiters()) == at(WAITS)(self)
        )
