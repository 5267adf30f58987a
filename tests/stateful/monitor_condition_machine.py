"""The machines of a monitor and its conditions, in the disciplines of Mesa and of Hoare, and their model.

What a condition does with a lock it does with a monitor, so the machine of the lock goes on here.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from structsync._core.monitors.entry import EntryCore, Guard, Invocation
from structsync._core.monitors.hoare import HoareConditionCore
from structsync._core.monitors.monitor import MonitorCore
from structsync._core.primitives.condition import ConditionCore

from .core_machine import one_of
from .lock_machine import CONDITIONS, LockMachine
from .lock_model import LockModel
from .models import Ended, Entry, Refused


class StageModel(LockModel):
    """A lock, one entry of which asks for an item; a signaller stands before the queue."""

    def __init__(self) -> None:
        super().__init__(CONDITIONS, "eligible", None)
        self.item = False
        self.takers: set[str] = set()  # those who came by the entry that asks
        self.taking = True  # whether that entry is open

    def fits(self, claim: str) -> bool:
        return super().fits(claim) and (self.item or claim not in self.takers)

    def refuse(self, claim: str) -> None:
        if claim == self.owner or (claim in self.takers and not self.taking):
            raise Refused

    def comes(self, call: Invocation) -> str:
        """Return who calls; from here on it is known by which entry."""
        if call.entry.name == "take":
            self.takers.add(call.task)
        else:
            self.takers.discard(call.task)
        return str(call.task)

    def arrive(self, who: str, claim: Invocation, priority: int = 0) -> Ended:
        return super().arrive(who, self.comes(claim), priority)

    def would_be_served(self, claim: Invocation, priority: int = 0) -> bool:
        return super().would_be_served(self.comes(claim), priority)

    def wait(self, who: str, condition: str) -> Ended:
        self.takers.discard(who)  # it is not asked again
        return super().wait(who, condition)

    def signal(self, who: str, condition: str) -> Ended:
        """The oldest waiter goes on in place of the signaller."""
        if self.owner != who:
            raise Refused
        if not self.unnotified[condition]:
            return []
        signallers = sum(entry.arrival < 0 for entry in self.entries)
        self.entries.insert(signallers, Entry(who, who, arrival=-1))
        self.returning.add(who)
        self.takers.discard(who)
        waiter = self.unnotified[condition].pop(0)
        self.take(waiter)
        return [(waiter, "granted")]

    def stop_taking(self) -> Ended:
        self.taking = False
        told = [entry for entry in self.entries if entry.who in self.takers]
        self.entries = [entry for entry in self.entries if entry not in told]
        return [(entry.who, "broken") for entry in told]


class MesaMachine(LockMachine):
    """The notifier goes on; the notified stand in the queue with those who come."""

    core: MonitorCore  # type: ignore[assignment]  # it has all of a lock that conditions use
    model: StageModel

    @initialize()
    def create(self) -> None:
        self.core, self.model = MonitorCore(), StageModel()
        self.entry = EntryCore("look")
        self.picky = EntryCore("take", Guard(lambda: self.model.item))
        self.add_conditions()

    def claim(self, who: str) -> Invocation:
        """An entry without a guard for those who come, and the way back for the one inside."""
        if self.model.owner == who:
            return Invocation(self.core.reentry, who)
        return Invocation(self.entry, who)

    def another_core(self) -> MonitorCore:  # type: ignore[override]
        another = MonitorCore()
        another.reentry = self.core.reentry  # the snapshot tells of those who wait for it
        return another

    def awake(self) -> list[str]:
        """A task that stands in the queue does nothing else: the core of a monitor relies on it."""
        standing = [entry.who for entry in self.model.entries]
        return [who for who in super().awake() if who not in standing]

    def leavers(self) -> list[str]:
        return []  # a monitor need not be told who ends: no task stays inside without its function

    @precondition(lambda self: self.model.owner and self.crowded() and self.idle())
    @rule(condition=one_of(lambda self: self.crowded()))
    def notify_the_first_of_several(self, condition: str) -> None:
        """So that it matters who takes over its position in the queue, before the next one comes."""
        self.notify(condition, 1)
        self.acquire(self.idle()[0], 0)

    def crowded(self) -> list[str]:
        return [name for name, queue in self.model.unnotified.items() if len(queue) > 1]

    def late(self) -> bool:
        return self.model.arrivals > 10  # fewer come, because some wait for an item

    # ==== an entry with a guard ====

    @precondition(lambda self: self.awake())
    @rule(who=one_of(lambda self: self.awake()))
    def enter_to_take(self, who: str) -> None:
        self.submit(Invocation(self.picky, who), who=who, refusal=RuntimeError)

    @rule(item=st.booleans())
    def change(self, item: bool) -> None:
        self.model.item = item
        self.agree(self.core.settle, self.model.serve)

    @precondition(lambda self: self.late())
    @rule()
    def close_the_entry_to_take(self) -> None:
        self.agree(lambda: self.core.remove(self.picky, "closed"), self.model.stop_taking)

    # ==== what holds ====

    @invariant()
    def every_task_stands_where_the_model_says(self) -> None:
        if hasattr(self, "core"):
            standing = [entry.who for entry in self.model.standing()]
            assert [one.waiter for one in self.core.waiting()] == standing
            assert [one.claim.task for one in self.core.waiting()] == standing

    @invariant()
    def each_lane_is_the_same_from_its_end(self) -> None:
        """Otherwise it is not before the one behind leaves, too, that it matters."""
        for lane in self.core.queue.by_entry.values() if hasattr(self, "core") else ():
            backwards, request = [], lane.tail
            while request is not None:
                backwards.append(request)
                request = request.ahead
            assert backwards[::-1] == [*lane]


class HoareMachine(MesaMachine):
    """The signalled task goes on; the signaller is the first to get in again."""

    condition_type: type[ConditionCore] = HoareConditionCore

    @precondition(lambda self: self.model.owner)
    @rule(condition=st.sampled_from(CONDITIONS), count=st.just(1) | st.integers(1, 3))
    def notify(self, condition: str, count: int | None) -> None:
        """Signal; and the task that is inside then signals in turn."""
        for _ in range(count or 1):
            self.signal(condition)

    def signal(self, condition: str) -> None:
        who = str(self.model.owner)
        core: Any = self.conditions[condition]
        claim = self.claim(who)
        predicted = self.model.signal(who, condition)
        request, ended = core.signal(claim, who)
        assert (request is not None) == bool(predicted)
        if request is not None:
            self.requests.pop(who, None)
        self.note(ended, predicted)

    @precondition(lambda self: self.signallers() and self.idle() and not self.model.closed)
    @rule()
    def queue_up_behind_the_signallers(self) -> None:
        """So that it matters who gets in first."""
        self.acquire(self.idle()[0], 0)
        self.release()

    @precondition(lambda self: self.signallers() and self.late())
    @rule()
    def close_on_the_signallers(self) -> None:
        self.close()

    def signallers(self) -> list[str]:
        return [entry.who for entry in self.model.entries if entry.arrival < 0]
