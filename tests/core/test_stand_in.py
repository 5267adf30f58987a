"""Whose host is asked to reserve its object, where the specification's rules do not go."""

from __future__ import annotations

import pytest

from structsync import Status
from structsync._core.monitors.entry import EntryCore, Guard, Invocation
from structsync._core.monitors.monitor import MonitorCore
from structsync._core.monitors.stand_in import ANY_CALL, Readiness, Review, Stage, StandInCore
from structsync._core.monitors.synchronizer import Rules, SynchronizerCore


def proposed(ready: Readiness, core: StandInCore, entry: EntryCore, task: str) -> Invocation:
    ready.stages[task] = Stage.PROPOSED
    call = Invocation(entry, task)
    core.arrive(call, task)
    return call


def test_the_oldest_call_of_an_object_is_asked_for_and_starts_when_its_host_is_ready() -> None:
    ready = Readiness()
    core, entry = StandInCore(ready), EntryCore("on", ANY_CALL)
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
    core, entry = StandInCore(ready), EntryCore("on", ANY_CALL)
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
    core, entry = StandInCore(ready), EntryCore("on", ANY_CALL)
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
    remote, local = EntryCore("join", ANY_CALL), EntryCore("join")
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
    core, entry = StandInCore(Readiness()), EntryCore("on", ANY_CALL)
    with pytest.raises(RuntimeError, match="on stands in for an entry in another process"):
        core.arrive(Invocation(entry, "a"), "a")


def test_of_those_who_start_together_all_are_asked_or_none() -> None:
    ready = Readiness()
    cores = [StandInCore(ready), StandInCore(ready)]
    entries = [EntryCore("join", ANY_CALL) for _ in cores]
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
