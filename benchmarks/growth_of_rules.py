"""As in ``growth.py``: guards that raise for many, triggers over many monitors, and calls of other processes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from time import thread_time

import trio
from trio.testing import wait_all_tasks_blocked

from structsync import Entry, Invocation, Monitor, Synchronizer
from structsync._core.monitors.entry import EntryCore, Guard
from structsync._core.monitors.stages import Stage
from structsync._core.monitors.stand_in import Readiness, StandInCore
from structsync._core.monitors.synchronizer import Rules, SynchronizerCore

from ._measure import Case, Effort
from .growth import TIMES_FEWER, case

Calls = Sequence[Entry[[], None]]

# Fewer than elsewhere: where each trigger notes each monitor anew, it is memory that ends first.
MONITORS = 1_000


class GuardError(Exception):
    """What the guards raise."""


class Gate:
    """A guard that is false until it raises."""

    def __init__(self) -> None:
        self.raises = False

    def by_state(self) -> bool:
        if self.raises:
            raise GuardError
        return False

    def by_request(self, request: Invocation) -> bool:
        """Raise for every second call."""
        if self.raises and request.ticket % 2:
            raise GuardError
        return False


def guard_cases(effort: Effort) -> Iterator[Case]:
    """One re-evaluation, in which the guards of n callers raise."""
    yield case("n callers of one entry", callers_of_one_entry, effort)
    yield case("n entries, a caller each", callers_of_many_entries, effort)
    yield case("every second one of n", every_second_caller, effort)


def trigger_cases(effort: Effort) -> Iterator[Case]:
    """One call with triggers, in a synchronizer over n monitors."""
    yield case("n triggers of one call", many_triggers, effort)
    name = f"it lets in n, {MONITORS:,} / {MONITORS // TIMES_FEWER:,}"
    yield case(name, many_let_in, effort, MONITORS)


def start_cases(effort: Effort) -> Iterator[Case]:
    """All calls that wait for an object in another process start, one after the other."""
    yield case("n calls, each asked for", partial(calls_start, False), effort)
    yield case("n calls, all set aside", partial(calls_start, True), effort)


def body() -> None:
    """Do nothing, as an entry."""


async def callers_of_one_entry(n: int) -> float:
    monitor, gate = Monitor(), Gate()
    return await evaluated(monitor, gate, [monitor.entry(body, when=gate.by_state)] * n, n)


async def callers_of_many_entries(n: int) -> float:
    monitor, gate = Monitor(), Gate()
    entries = [monitor.entry(body, when=gate.by_state) for _ in range(n)]
    return await evaluated(monitor, gate, entries, n)


async def every_second_caller(n: int) -> float:
    monitor, gate = Monitor(), Gate()
    return await evaluated(monitor, gate, [monitor.entry(body, when=gate.by_request)] * n, n // 2)


async def evaluated(monitor: Monitor, gate: Gate, calls: Calls, raising: int) -> float:
    """Return the seconds of one evaluation of the guards, which raise for so many of the calls."""
    raised = 0

    async def caller(call: Entry[[], None]) -> None:
        nonlocal raised
        try:
            await call()
        except GuardError:
            raised += 1

    async with trio.open_nursery() as nursery:
        for call in calls:
            nursery.start_soon(caller, call)
        await wait_all_tasks_blocked()
        gate.raises = True
        began = thread_time()
        monitor.changed()
        spent = thread_time() - began
        await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert raised == raising
    return spent


async def many_triggers(n: int) -> float:
    """Time a call that has a trigger for each of n monitors."""
    ran: list[None] = []
    called = Monitor().entry(body)
    async with Synchronizer() as synchronizer:
        for other in [Monitor().entry(body) for _ in range(n)]:
            synchronizer.trigger(called, lambda: ran.append(None))
            synchronizer.disable(other, when=lambda: False)
        began = thread_time()
        await called()
        spent = thread_time() - began
    assert len(ran) == n
    return spent


async def many_let_in(n: int) -> float:
    """Time a call whose trigger lets in a call at each of n monitors, which have triggers too."""
    ran: list[None] = []
    is_open = False

    def open_all() -> None:
        nonlocal is_open
        is_open = True

    called = Monitor().entry(body)
    held_up = [Monitor().entry(body) for _ in range(n)]
    async with Synchronizer() as synchronizer:
        synchronizer.trigger(called, open_all)
        for other in held_up:
            synchronizer.disable(other, when=lambda: not is_open)
            synchronizer.trigger(other, lambda: ran.append(None))
        async with trio.open_nursery() as nursery:
            for other in held_up:
                nursery.start_soon(other)
            await wait_all_tasks_blocked()
            assert not ran
            began = thread_time()
            await called()
        spent = thread_time() - began
    assert len(ran) == n
    return spent


async def calls_start(are_aside: bool, n: int) -> float:
    """Time the decisions about n calls in a stand-in, whose hosts could not reserve the object at first, or could."""
    readiness = Readiness()
    core, entry = StandInCore(readiness), EntryCore("call")
    SynchronizerCore().disable(Rules(entry, core, None), Guard(lambda: False))
    for task in range(n):
        readiness.note(task, Stage.PROPOSED)
        core.arrive(Invocation(entry, task), task)
    while are_aside and (asked := readiness.review().asked):
        readiness.set_aside(asked[0])
    began = thread_time()
    for task in range(n):
        readiness.review()
        assert readiness.reserved(task)
        (started,) = core.settle()
        core.release(started.claim)
    spent = thread_time() - began
    assert not core.queue
    return spent
