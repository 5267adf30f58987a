"""The host of a call is asked for its object where the call would start, and told once it would not any more."""

from __future__ import annotations

from itertools import count

from structsync import Status
from structsync._core.monitors.entry import EntryCore, Guard, Invocation
from structsync._core.monitors.stages import Stage
from structsync._core.monitors.stand_in import Readiness, StandInCore

from ._queue import BOUND


def answer(fails: bool, is_open: bool) -> bool:
    """Answer for the guard of a user, which may be broken."""
    if fails:
        raise LookupError
    return is_open


def a_host_is_asked_for_its_object_where_the_call_would_start(
    is_inside: bool, is_open: bool, fails: bool
) -> None:
    assert is_inside in (False, True)
    readiness = Readiness()
    core = StandInCore(readiness)
    guard = Guard(lambda _: answer(fails, is_open), reads_request=True)
    readiness.stages["task"] = Stage.PROPOSED
    request = core.enqueue(Invocation(EntryCore("call", guard), "task"))
    core.owner = "another" if is_inside else None
    starts = is_open and not is_inside and not fails
    assert not readiness.allows("task")
    assert readiness.review() == (["task"] if starts else [], [])
    assert readiness.review() == ([], [])
    assert readiness.reserved("task") == readiness.allows("task") == starts
    is_broken = fails and not is_inside
    assert core.settle() == ([request] if starts or is_broken else [])
    assert (request.status is Status.BROKEN) == is_broken
    assert core.owner == ("task" if starts else "another" if is_inside else None)


def what_would_not_start_any_more_is_let_go(is_reserved: bool, is_open: bool) -> None:
    assert is_reserved in (False, True)
    told: list[str] = []
    readiness = Readiness(lambda: told.append("changed"))
    core = StandInCore(readiness)
    guards = [Guard(lambda: True)]
    entry = EntryCore("call", Guard(lambda call: guards[0].holds(call), reads_request=True))
    readiness.stages["task"] = Stage.PROPOSED
    core.enqueue(Invocation(entry, "task"))
    assert told == ["changed"]
    assert readiness.review() == (["task"], [])
    if is_reserved:
        assert readiness.reserved("task")
    guards[0] = Guard(lambda: is_open)
    assert readiness.review() == ([], [] if is_open else ["task"])
    left = Stage.READY if is_reserved else Stage.ASKED
    assert readiness.stages["task"] is (left if is_open else Stage.PROPOSED)
    assert told == ["changed"]
    core.settle()
    # Where the host alone is in its way, it may be what another monitor waits for, too.
    assert told == ["changed"] * (3 if is_open and not is_reserved else 2)


def a_call_set_aside_is_not_supposed_to_be_ready(is_supposed: bool, stage: int) -> None:
    assert 0 <= stage <= 4
    readiness = Readiness()
    readiness.supposing = is_supposed
    if stage < 4:
        readiness.stages["task"] = [*Stage][stage]
    is_ready = stage == 3
    assert readiness.allows("task") == (is_ready or (is_supposed and stage < 2))
    readiness.stages.setdefault("task", Stage.ASKED)
    readiness.set_aside("task")
    assert readiness.allows("task") == is_ready
    assert readiness.reserved("task") != is_ready
    assert readiness.allows("task")
    assert not readiness.reserved("task")


def alike(guard: Guard, waiting: int) -> tuple[Readiness, StandInCore]:
    """Return a stand-in in which so many calls of one entry wait; the task of each is its number."""
    readiness = Readiness()
    core, entry = StandInCore(readiness), EntryCore("call", guard)
    for n in range(waiting):
        readiness.note(n, Stage.PROPOSED)
        core.enqueue(Invocation(entry, n), waiter=n)
    return readiness, core


def lanes_are_exact(core: StandInCore) -> bool:
    """Each call stands where its host does, in the order of arrival, and no lane is kept empty."""
    lanes, stages = core.queue.by_entry, core.readiness.stages
    return sum(map(len, lanes.values())) == len(core.queue) and all(
        lane
        and [*lane] == sorted(lane, key=lambda one: one.ticket)
        and all(stages[one.claim.task] is stage and one.queue is core.queue for one in lane)
        for (_, stage), lane in lanes.items()
    )


def one_answers_for_those_whose_hosts_stand_alike(waiting: int, aside: int, ready: int) -> None:
    assert 0 <= ready < aside <= waiting <= BOUND
    evaluated = count()
    readiness, core = alike(Guard(lambda: next(evaluated) >= 0), waiting)
    for n in range(aside):
        assert readiness.review() == ([n], [])
        readiness.set_aside(n)
    readiness.review()
    assert readiness.reserved(ready)
    assert lanes_are_exact(core)
    before = next(evaluated)
    assert [one.waiter for one in core.settle()] == [ready]
    # The oldest of those that are still set aside, if it came earlier, and the one that starts.
    assert next(evaluated) - before - 1 == (2 if ready else 1)
    assert lanes_are_exact(core)


def a_call_keeps_its_position_however_its_host_stands(waiting: int, ready: int) -> None:
    assert 0 <= ready < waiting <= BOUND
    state = [True]
    readiness, core = alike(Guard(lambda: state[0]), waiting)
    for n in range(waiting):
        assert readiness.review() == ([n], [])
        readiness.set_aside(n)
    assert readiness.reserved(ready)
    state[0] = False
    assert readiness.review() == ([], [ready])
    state[0] = True
    assert readiness.review() == ([ready], [])
    readiness.set_aside(ready)
    assert lanes_are_exact(core)
