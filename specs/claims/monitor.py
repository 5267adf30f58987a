"""A monitor lets in the oldest call whose guard holds, and a signal passes it on in the same step.

The tasks are numbered in the order of their arrival; so is what their guards look at.
"""

from __future__ import annotations

from itertools import count

from structsync import Status
from structsync._core.monitors.entry import EntryCore, Guard, Invocation
from structsync._core.monitors.hoare import HoareConditionCore
from structsync._core.monitors.monitor import MonitorCore
from structsync._core.queue.request import Request

from ._queue import BOUND, all_are, waiters_of

OWNER = "owner"


def occupied(entry: EntryCore, waiting: int) -> tuple[MonitorCore, list[Request[Invocation]]]:
    """A monitor with a task inside and so many calls of an entry in the queue."""
    core = MonitorCore()
    core.admit(Invocation(EntryCore("other"), OWNER))
    return core, [core.enqueue(Invocation(entry, n), waiter=n) for n in range(waiting)]


def leave(core: MonitorCore, who: object) -> list[int]:
    """Let the one inside leave; return which tasks were let in or told."""
    return waiters_of(core.release(Invocation(EntryCore("other"), who)))


def raises_if(broken: bool) -> bool:
    """The answer, no, of a guard that may be broken."""
    if broken:
        raise LookupError
    return False


def index_is_exact(core: MonitorCore) -> bool:
    """Each entry has a lane as long as calls of it wait, and they stand there and nowhere else."""
    lanes = core.queue.by_entry
    return sum(map(len, lanes.values())) == len(core.queue) and all(
        lane and all(one.claim.entry is entry and one.queue is core.queue for one in lane)
        for entry, lane in lanes.items()
    )


def only_the_task_inside_leaves(owner: int, who: int) -> None:
    assert 0 <= owner <= BOUND
    assert 0 <= who <= BOUND  # the message has digits, which would be a path each
    core = MonitorCore()
    core.admit(Invocation(EntryCore("x"), owner))
    try:
        core.discharge(Invocation(EntryCore("x"), who))
    except RuntimeError:
        assert who != owner
        assert core.owner == owner
    else:
        assert who == owner
        assert core.owner is None


def of_those_permitted_the_oldest_is_next(waiting: int, first: int) -> None:
    assert 0 <= waiting <= BOUND
    assert 0 <= first <= BOUND  # the oldest that is permitted, if it is there
    guard = Guard(lambda call: call.task >= first, reads_request=True)
    core, _ = occupied(EntryCore("x", guard), waiting)
    assert leave(core, OWNER) == ([first] if first < waiting else [])
    assert core.owner == (first if first < waiting else None)
    assert index_is_exact(core)


def a_guard_on_the_state_answers_for_all(waiting: int, is_open: bool) -> None:
    assert 0 <= waiting <= BOUND
    asked = count()
    guard = Guard(lambda: next(asked) >= 0 and is_open)
    core, requests = occupied(EntryCore("x", guard), waiting)
    assert leave(core, OWNER) == ([0] if is_open and waiting else [])
    assert next(asked) == min(waiting, 1)
    assert core.waiting() == (requests[1:] if is_open else requests)


def an_error_of_a_guard_ends_its_own_call_only(waiting: int, who: int) -> None:
    assert 0 <= who < waiting <= BOUND
    guard = Guard(lambda call: call.task > who or raises_if(call.task == who), reads_request=True)
    core, requests = occupied(EntryCore("x", guard), waiting)
    assert leave(core, OWNER) == [who, who + 1][: waiting - who]
    assert requests[who].status is Status.BROKEN
    assert all_are(Status.PENDING, requests[:who] + requests[who + 2 :])
    assert index_is_exact(core)


def taking_an_entry_out_ends_its_calls_and_no_others(waiting: int, others: int) -> None:
    assert 0 <= waiting <= BOUND
    assert 0 <= others <= 1
    entry = EntryCore("x")
    core, requests = occupied(entry, waiting)
    for _ in range(others):
        core.enqueue(Invocation(EntryCore("y"), "z"), waiter="z")
    assert core.remove(entry, "out") == requests
    assert all_are(Status.BROKEN, requests)
    assert len(core.queue) == others
    assert index_is_exact(core)


def a_signal_passes_the_monitor_on_and_its_sender_is_next(waiting: int) -> None:
    assert 0 <= waiting <= BOUND  # in the queue, and behind both
    core, _ = occupied(EntryCore("x"), 0)
    condition = HoareConditionCore(core)
    condition.wait(Invocation(core.reentry, OWNER), "waiter")
    core.admit(Invocation(EntryCore("y"), "signaller"))
    for n in range(waiting):
        core.enqueue(Invocation(EntryCore("x"), n), waiter=n)
    _, ended = condition.signal(Invocation(core.reentry, "signaller"), "signaller")
    assert [one.waiter for one in ended] == ["waiter"]
    assert core.owner == OWNER
    assert [one.waiter for one in core.release(Invocation(core.reentry, OWNER))] == ["signaller"]
    assert core.owner == "signaller"
    assert len(core.waiting()) == waiting


def a_signal_that_finds_no_waiter_changes_nothing(waiting: int) -> None:
    assert 0 <= waiting <= BOUND
    core, requests = occupied(EntryCore("x"), waiting)
    condition = HoareConditionCore(core)
    assert condition.signal(Invocation(core.reentry, OWNER), OWNER) == (None, [])
    assert core.owner == OWNER
    assert core.waiting() == requests


def closing_reaches_signallers_and_waiters(waiting: int) -> None:
    assert 0 <= waiting <= BOUND  # on the condition
    core, _ = occupied(EntryCore("x"), 0)
    condition = HoareConditionCore(core)
    for n in range(waiting):
        core.owner = n
        condition.wait(Invocation(core.reentry, n), n)
    core.owner = OWNER
    condition.signal(Invocation(core.reentry, OWNER), OWNER)
    ended = core.end("closed")
    # The first was signalled and is inside; in its stead the signaller waits, ahead of the others.
    assert [one.waiter for one in ended] == ([OWNER] if waiting else []) + [*range(1, waiting)]
    assert all_are(Status.BROKEN, ended)
    assert not core.urgent
    assert not core.conditions


def a_guard_on_the_state_that_raises_ends_all_that_it_was_evaluated_for(
    waiting: int, others: int
) -> None:
    assert 0 <= waiting <= BOUND
    assert 0 <= others <= 1
    core, requests = occupied(EntryCore("x", Guard(lambda: raises_if(broken=True))), waiting)
    last = [core.enqueue(Invocation(EntryCore("y"), "z"), waiter="z") for _ in range(others)]
    assert leave(core, OWNER) == [*range(waiting), *["z"] * others]
    assert all_are(Status.BROKEN, requests)
    assert all_are(Status.GRANTED, last)
    assert index_is_exact(core)


def once_one_is_let_in_no_guard_is_evaluated(others: int, signalled: int) -> None:
    assert 0 <= others <= BOUND
    assert 0 <= signalled <= 1
    evaluated = count()
    core, _ = occupied(EntryCore("x"), 1)
    for number in range(others):
        guard = Guard(lambda: next(evaluated) >= 0)
        core.enqueue(Invocation(EntryCore("y", guard), "z"), waiter=number)
    for _ in range(signalled):
        core.urgent.append(Request(Invocation(core.reentry, "signalled"), -1, "signalled"))
    assert leave(core, OWNER) == (["signalled"] if signalled else [0])
    assert next(evaluated) == 0
    assert len(core.queue) == others + signalled
