"""Whose host is asked to reserve its object, where the specification's rules do not go."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from structsync import Status
from structsync._core.monitors.entry import EntryCore, Guard, Invocation
from structsync._core.monitors.monitor import MonitorCore
from structsync._core.monitors.stages import Stage
from structsync._core.monitors.stand_in import Readiness, Review, StandInCore
from structsync._core.monitors.synchronizer import Rules, SynchronizerCore
from structsync._core.queue.request import Request


def proposed(ready: Readiness, core: StandInCore, entry: EntryCore, task: str) -> Invocation:
    ready.note(task, Stage.PROPOSED)
    call = Invocation(entry, task)
    core.arrive(call, task)
    return call


def test_the_oldest_call_of_an_object_is_asked_for_and_starts_when_its_host_is_ready() -> None:
    ready = Readiness()
    core, entry = StandInCore(ready), EntryCore("on")
    proposed(ready, core, entry, "a")
    proposed(ready, core, entry, "b")
    assert ready.review() == Review(["a"], [])
    assert ready.review() == Review([], [])
    assert not ready.reserved("b")
    assert ready.reserved("a")
    (request,) = core.settle()
    assert (request.waiter, request.status, core.owner) == ("a", Status.GRANTED, "a")
    assert ready.review() == Review([], [])  # while one is inside, nothing can be said
    core.release(request.claim)
    assert ready.review() == Review(["b"], [])


def test_a_rule_that_raises_ends_a_call_whose_host_is_not_asked() -> None:
    ready = Readiness()
    core, entry = StandInCore(ready), EntryCore("on")
    is_broken = True

    def disabled() -> bool:
        if is_broken:
            raise ZeroDivisionError
        return False

    SynchronizerCore().disable(Rules(entry, core, None), Guard(disabled))
    is_broken = False
    proposed(ready, core, entry, "a")
    is_broken = True
    assert ready.review() == Review([], [])
    (request,) = core.settle()
    assert (request.waiter, request.status) == ("a", Status.BROKEN)
    assert isinstance(request.cause, ZeroDivisionError)


def test_whatever_may_change_who_is_asked_is_announced() -> None:
    changes: list[None] = []
    ready = Readiness(lambda: changes.append(None))
    core, entry = StandInCore(ready), EntryCore("on")
    ready.stages["a"] = Stage.PROPOSED
    call = Invocation(entry, "a")
    request = core.enqueue(call, waiter="a")
    assert len(changes) == 1
    core.withdraw(request)
    assert len(changes) == 2
    core.admit(call)
    core.release(call)
    assert len(changes) == 3


def test_a_call_of_another_monitor_that_waits_for_a_host_has_it_asked() -> None:
    """It is none of the stand-ins, so that nothing there changes when it comes."""
    changes: list[None] = []
    ready = Readiness(lambda: changes.append(None))
    there, here = StandInCore(ready), MonitorCore()
    remote, local = EntryCore("join"), EntryCore("join")
    SynchronizerCore().atomic([Rules(remote, there, None), Rules(local, here, None)])
    proposed(ready, there, remote, "a")
    assert ready.review() == Review([], [])
    changes.clear()
    here.arrive(Invocation(local, "b"), "b")
    assert changes
    assert ready.review() == Review(["a"], [])
    changes.clear()
    assert ready.review() == Review([], [])  # which looks at it, too, and would go on forever
    assert not changes


def test_a_call_that_no_host_proposes_is_refused() -> None:
    core, entry = StandInCore(Readiness()), EntryCore("on")
    with pytest.raises(RuntimeError, match="on stands in for an entry in another process"):
        core.arrive(Invocation(entry, "a"), "a")


def test_of_those_who_start_together_all_are_asked_or_none() -> None:
    ready = Readiness()
    cores = [StandInCore(ready), StandInCore(ready)]
    entries = [EntryCore("join") for _ in cores]
    synchronizer = SynchronizerCore()
    synchronizer.atomic(
        [Rules(entry, core, None) for entry, core in zip(entries, cores, strict=True)]
    )
    for task, core, entry in zip("ab", cores, entries, strict=True):
        assert ready.review() == Review([], [])
        proposed(ready, core, entry, task)
    assert ready.review() == Review(["a", "b"], [])
    assert ready.reserved("a")
    ready.set_aside("a")  # which says nothing once it is reserved
    assert cores[0].settle() == []
    ready.set_aside("b")
    assert ready.review() == Review([], ["a"])
    assert ready.reserved("b")
    assert cores[1].settle() == []
    assert ready.review() == Review(["a"], [])
    assert ready.reserved("a")
    assert [one.waiter for one in cores[0].settle()] == ["a"]
    assert [core.owner for core in cores] == ["a", "b"]


def test_an_entry_that_is_closed_ends_its_calls_however_their_hosts_stand() -> None:
    ready = Readiness()
    core, entry, other = StandInCore(ready), EntryCore("on"), EntryCore("off")
    for task in "abc":
        proposed(ready, core, entry, task)
    proposed(ready, core, other, "d")
    ready.review()
    ready.set_aside("a")
    ready.review()
    assert [ready.stages[task] for task in "abc"] == [Stage.ASIDE, Stage.ASKED, Stage.PROPOSED]
    assert [one.waiter for one in core.remove(entry, "closed")] == ["a", "b", "c"]
    assert [one.waiter for one in core.waiting()] == ["d"]
    assert [*ready.calls] == ["d"]


def test_once_all_is_forgotten_no_call_starts_whose_host_was_ready() -> None:
    ready = Readiness()
    core, entry = StandInCore(ready), EntryCore("on")
    for task in "ab":
        proposed(ready, core, entry, task)
    ready.review()
    assert ready.reserved("a")
    ready.clear()
    assert core.settle() == []
    proposed(ready, core, entry, "c")
    assert ready.review() == Review(["c"], [])
    assert ready.reserved("c")
    assert [one.waiter for one in core.settle()] == ["c"]


def test_another_call_can_take_a_position_over() -> None:
    ready = Readiness()
    core, entry = StandInCore(ready), EntryCore("on")
    for task in "abc":
        proposed(ready, core, entry, task)
    ready.note("d", Stage.PROPOSED)
    successor = core.request_type(Invocation(entry, "d"), -1, "d")
    core.replace(ready.calls["b"], successor)
    assert [one.waiter for one in core.waiting()] == ["a", "d", "c"]
    core.withdraw(ready.calls["a"])
    assert ready.review() == Review(["d"], [])


# ==== The lanes change nothing ====


class EachIsEvaluated(StandInCore):
    """Looks at all that wait."""

    def candidates(self) -> Iterator[Request[Invocation]]:
        for request in self.queue:
            if self.owner is not None:
                return
            yield request


class Walk:
    """Two stand-ins with calls that are disabled, and calls that start together, driven at random."""

    def __init__(self, kind: type[StandInCore], seed: int) -> None:
        self.chance = Random(seed)
        self.ready = Readiness()
        self.cores = [kind(self.ready), kind(self.ready)]
        self.entries = [[EntryCore("on"), EntryCore("join")] for _ in self.cores]
        self.is_shut = False
        self.log: list[Any] = []
        rules = SynchronizerCore()
        all_rules = [
            [Rules(entry, core, None) for entry in entries]
            for core, entries in zip(self.cores, self.entries, strict=True)
        ]
        for on, _ in all_rules:
            rules.disable(on, Guard(lambda: self.is_shut))
        rules.atomic([join for _, join in all_rules])

    def run(self, steps: int) -> list[Any]:
        for n in range(steps):
            self.step(n)
            self.log.append(self.ready.review())
        return self.log

    def step(self, n: int) -> None:
        waiting = [one for core in self.cores for one in core.waiting()]
        step = self.chance.choice("pppprrrrasw")
        if step == "p" or not waiting:
            at = self.chance.randrange(2)
            self.ready.note(n, Stage.PROPOSED)
            _, ended = self.cores[at].arrive(Invocation(self.chance.choice(self.entries[at]), n), n)
            assert not ended
        elif step == "s":
            self.is_shut = not self.is_shut
            self.settle()
        elif step == "w":
            one = self.chance.choice(waiting)
            self.cores[one.claim.entry in self.entries[1]].withdraw(one)
        else:
            may_answer = [
                one for one in waiting if self.ready.stages[one.waiter] is not Stage.PROPOSED
            ]
            task = self.chance.choice(may_answer or waiting).waiter
            if step == "a":
                self.ready.set_aside(task)
            elif self.ready.reserved(task):
                self.settle()

    def settle(self) -> None:
        """Let in who may start, with its partners, and let them leave."""
        started = [one for core in self.cores for one in core.settle()]
        self.log.append([one.waiter for one in started])
        for core in self.cores:
            if core.owner is not None:
                assert core.release(Invocation(self.entries[0][0], core.owner)) == []


@pytest.mark.parametrize("seed", range(50))
def test_to_look_at_all_that_wait_starts_the_same_calls(seed: int) -> None:
    found = Walk(StandInCore, seed).run(100)
    assert found == Walk(EachIsEvaluated, seed).run(100)
    assert any(isinstance(one, list) and one for one in found)
