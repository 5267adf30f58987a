"""The host of a call is asked for its object where the call would start, and told once it would not any more."""

from __future__ import annotations

from structsync import Status
from structsync._core.monitors.entry import EntryCore, Guard, Invocation
from structsync._core.monitors.stand_in import Readiness, Stage, StandInCore


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


def who_was_set_aside_is_not_supposed_to_be_ready(is_supposed: bool, stage: int) -> None:
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
