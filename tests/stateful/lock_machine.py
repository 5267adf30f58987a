"""The machine of a lock and its conditions."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from structsync._core.primitives.condition import ConditionCore
from structsync._core.primitives.lock import LockCore
from structsync._core.queue.request import Request
from structsync.checking import invariants

from .core_machine import AGEINGS, PRIORITIES, CoreMachine, one_of
from .lock_model import LockModel

TASKS = ["a", "b", "c", "d", "e"]
CONDITIONS = ("full", "empty")


class LockMachine(CoreMachine):
    """Five tasks, one lock, two conditions on it; a task that sleeps does nothing."""

    core: LockCore
    model: LockModel
    condition_type: type[ConditionCore] = ConditionCore

    @initialize(policy=st.sampled_from(["fifo", "priority"]), ageing=AGEINGS)
    def create(self, policy: str, ageing: int | None) -> None:
        self.options = (policy, ageing)
        self.core = LockCore(policy=policy, ageing=ageing)
        self.model = LockModel(CONDITIONS, policy, ageing)
        self.add_conditions()

    def add_conditions(self) -> None:
        self.conditions = {name: self.condition_type(self.core) for name in CONDITIONS}
        self.waits: dict[str, tuple[str, Request[Any]]] = {}

    def claim(self, who: str) -> Any:
        """What the core is given for a task."""
        return who

    def situation(self) -> Hashable:
        queues = [condition.snapshot() for condition in self.conditions.values()]
        return (self.core.snapshot(), len(self.core.conditions), *queues)

    def awake(self) -> list[str]:
        return [who for who in TASKS if not self.model.sleeps(who)]

    def asleep(self) -> list[str]:
        return [who for who in TASKS if who in self.waits]

    def withdrawable(self) -> list[str]:
        return [who for who in self.requests if not self.model.sleeps(who)]

    # ==== the lock ====

    @precondition(lambda self: self.awake())
    @rule(who=one_of(lambda self: self.awake()), priority=PRIORITIES)
    def acquire(self, who: str, priority: int) -> None:
        self.submit(self.claim(who), priority, who=who, refusal=RuntimeError)

    @precondition(lambda self: self.awake())
    @rule(who=one_of(lambda self: self.awake()))
    def release_what_may_not_be_owned(self, who: str) -> None:
        claim = self.claim(who)
        self.agree(lambda: self.core.release(claim), lambda: self.model.release(who), RuntimeError)

    @precondition(lambda self: self.model.owner)
    @rule()
    def release(self) -> None:
        self.release_what_may_not_be_owned(str(self.model.owner))

    @precondition(lambda self: self.leavers())
    @rule(who=one_of(lambda self: self.leavers()))
    def exit(self, who: str) -> None:
        waits = self.statuses.get(who) == "pending" and who in self.requests
        predicted = [(who, "withdrawn")] if waits and who != self.model.owner else []
        predicted += self.model.exits(who)
        ended = self.core.owner_exited(who, "exited")
        if self.model.closed:
            self.check_broken(sorted(predicted), ended)
        else:
            self.note(ended, predicted)

    def leavers(self) -> list[str]:
        """Those who may exit; an owner, which breaks the lock, only late."""
        return [who for who in self.awake() if who != self.model.owner or self.late()]

    def late(self) -> bool:
        """Whether it is time for what ends most of the fun."""
        return self.model.arrivals > 15

    @precondition(lambda self: self.late())
    @rule()
    def close(self) -> None:
        self.check_broken(sorted(self.model.close()), self.core.end("closed"))

    def check_broken(self, broken: list[tuple[str, str]], ended: list[Request[Any]]) -> None:
        assert sorted((one.waiter, one.status.value) for one in ended) == broken
        for who, status in broken:
            if self.statuses.get(who) == "pending":
                self.end(who, status)

    # ==== its conditions ====

    @precondition(lambda self: self.model.owner and not self.model.closed)
    @rule(condition=st.sampled_from(CONDITIONS))
    def wait(self, condition: str) -> None:
        who = str(self.model.owner)
        if condition in self.model.closed_conditions:
            return
        claim = self.claim(who)
        predicted = self.model.wait(who, condition)
        self.requests.pop(who, None)
        request, ended = self.conditions[condition].wait(claim, who)
        self.waits[who] = (condition, request)
        self.note(ended, predicted)

    @precondition(lambda self: not self.model.owner and not self.model.closed)
    @rule(condition=st.sampled_from(CONDITIONS), count=st.integers(2, 4))
    def several_wait(self, condition: str, count: int) -> None:
        """What takes many steps by chance: several tasks wait for the same."""
        if condition in self.model.closed_conditions:
            return
        for who in self.idle()[:count]:
            self.acquire(who, 0)
            self.wait(condition)

    @precondition(lambda self: self.model.owner)
    @rule(condition=st.sampled_from(CONDITIONS), count=st.just(1) | st.none() | st.integers(0, 3))
    def notify(self, condition: str, count: int | None) -> None:
        self.conditions[condition].refuse_unless_owner(self.model.owner, "notify")
        predicted = self.model.notify(str(self.model.owner), condition, count)
        assert self.conditions[condition].notify(count) == []
        assert predicted == []

    @precondition(lambda self: self.asleep())
    @rule(who=one_of(lambda self: self.asleep()))
    def cancel(self, who: str) -> None:
        """Cancel any wait, one that is over too."""
        name, request = self.waits[who]
        before = self.situation()
        pending = self.model.waits[who] == "pending"
        ended = self.conditions[name].cancel(request)
        if pending:
            assert ended is not None
            self.note(ended, self.model.cancel(who))
        else:
            assert ended is None
            assert self.situation() == before

    @precondition(lambda self: self.notified())
    @rule(who=one_of(lambda self: self.notified()))
    def cancel_a_notified_waiter(self, who: str) -> None:
        self.cancel(who)

    @precondition(lambda self: self.notified() and self.idle() and not self.model.closed)
    @rule()
    def queue_up_behind_the_notified(self) -> None:
        """So that it matters who takes over the place of a notified waiter."""
        self.acquire(self.idle()[0], 0)

    def idle(self) -> list[str]:
        """Those who neither sleep, nor own the lock, nor stand in the queue for it."""
        busy = [self.model.owner, *(entry.who for entry in self.model.entries)]
        return [who for who in self.awake() if who not in busy]

    def notified(self) -> list[str]:
        return [entry.who for entry in self.model.entries if entry.condition]

    @precondition(lambda self: self.late())
    @rule(condition=st.sampled_from(CONDITIONS))
    def close_condition(self, condition: str) -> None:
        ended = self.conditions[condition].end("closed")
        self.note(ended, self.model.close_condition(condition))

    # ==== what holds ====

    @rule()
    def go_on_from_a_snapshot(self) -> None:
        queues = {name: condition.snapshot() for name, condition in self.conditions.items()}
        super().go_on_from_a_snapshot()
        for name, queue in queues.items():
            self.conditions[name] = self.condition_type(self.core)
            self.conditions[name].restore(queue)
            for request in self.conditions[name].waiting():
                self.waits[request.waiter] = (name, request)

    def another_core(self) -> LockCore:
        policy, ageing = self.options
        return LockCore(policy=policy, ageing=ageing)

    def adopt(self) -> None:
        for request in self.core.waiting():
            who = request.waiter
            if self.model.waits.get(who) == "pending":
                self.waits[who] = (self.waits[who][0], request)
            elif not self.model.sleeps(who):
                self.requests[who] = request

    @invariant()
    def owner_and_waits_stand_as_the_model_says(self) -> None:
        if hasattr(self, "core"):
            assert self.core.owner == self.model.owner
            for who, (_, request) in self.waits.items():
                assert request.status.value == self.model.waits[who]

    @invariant()
    def the_queues_of_the_conditions_are_those_of_the_model(self) -> None:
        if hasattr(self, "core"):
            for name, condition in self.conditions.items():
                waiting = [request.waiter for request in condition.waiting()]
                assert waiting == self.model.unnotified[name]
                assert invariants.nothing_waits_when_closed_or_broken(condition)
                assert (condition in self.core.conditions) == bool(waiting)
