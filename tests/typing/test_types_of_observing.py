"""What is seen from outside, errors, and the functions for own primitives: for mypy, for pyright, and when it runs."""

# pyright: reportUnnecessaryTypeIgnoreComment=error

from __future__ import annotations

import io
import logging
import warnings
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, assert_type

import trio
from trio.lowlevel import Task

from structsync import (
    Arbiter,
    Claim,
    CoreRequest,
    DeadlockError,
    DeadlockWarning,
    EventKind,
    Histogram,
    Holder,
    Inspector,
    JobCancelled,
    JobFailed,
    Lock,
    Metrics,
    Observer,
    OnDeadlock,
    PermitLeakError,
    PrimitiveEvent,
    PrimitiveMetrics,
    PrimitiveSnapshot,
    Recording,
    RequestWithdrawn,
    Semaphore,
    Snapshot,
    Status,
    WaitEdge,
    Waiter,
    WaitGraph,
    deadlock_guard,
    log_events,
    lowlevel,
    observe,
    recording,
    serve_inspector,
    show,
    snapshot,
    trace_waits,
)


async def test_an_observer_gets_events_with_their_fields() -> None:
    kinds: list[EventKind] = []
    tasks: list[Task | None] = []

    def note(event: PrimitiveEvent) -> None:
        kinds.append(assert_type(event.kind, EventKind))
        tasks.append(assert_type(event.task, Task | None))
        assert isinstance(assert_type(event.time, float | None), float)

    observer: Observer = note
    with observe(observer):
        async with Lock():
            pass
    assert kinds == ["requested", "granted", "released"]
    assert len(set(tasks)) == 1


async def test_a_snapshot_names_who_holds_and_who_waits() -> None:
    lock = Lock(name="lock")
    file = io.StringIO()
    with trace_waits():
        async with lock:
            seen = assert_type(snapshot([lock]), Snapshot)
            (one,) = assert_type(seen.primitives, tuple[PrimitiveSnapshot, ...])
            (holder,) = assert_type(one.holders, tuple[Holder, ...])
            assert type(assert_type(holder.units, int)) is int
            assert isinstance(assert_type(holder.line, str | None), str)
            assert assert_type(one.waiters, tuple[Waiter, ...]) == ()
            graph = assert_type(seen.graph(), WaitGraph)
            assert assert_type(graph.edges, tuple[WaitEdge, ...]) == ()
            assert type(assert_type(graph.to_text(), str)) is str
            assert type(assert_type(graph.to_dot(), str)) is str
            assert_type(show(seen, file=file), None)
    assert "lock" in file.getvalue()


async def test_numbers_and_recordings_are_plain_values() -> None:
    logger = logging.getLogger(__name__)
    with observe.metrics() as numbers, recording(most=10) as events, log_events(logger):
        async with Lock(name="lock"):
            pass
    (one,) = assert_type(assert_type(numbers, Metrics).primitives(), tuple[PrimitiveMetrics, ...])
    assert assert_type(one.granted, int) == 1
    assert type(assert_type(assert_type(one.waits, Histogram).quantile(0.5), float)) is float
    assert type(assert_type(numbers.to_prometheus(), str)) is str
    trace = assert_type(assert_type(events, Recording).to_trace_events(), dict[str, Any])
    assert trace["traceEvents"]


async def test_an_inspector_says_where_it_is() -> None:
    async with serve_inspector(port=0, token="more than sixteen characters") as where:
        assert type(assert_type(assert_type(where, Inspector).port, int | None)) is int
        assert assert_type(where.path, Path | None) is None


async def test_a_deadlock_tells_its_tasks_and_its_graph() -> None:
    guard: AbstractContextManager[None] = deadlock_guard()
    found: list[DeadlockError] = []
    first, second = Lock(), Lock()

    async def other() -> None:
        async with second, first:
            pass

    try:
        with guard:
            async with trio.open_nursery() as nursery:
                async with first:
                    nursery.start_soon(other)
                    await trio.testing.wait_all_tasks_blocked()
                    await second.acquire()
    except* DeadlockError as group:
        found += [one for one in group.exceptions if isinstance(one, DeadlockError)]
    (error,) = found
    assert len(assert_type(error.tasks, tuple[Task, ...])) == 2
    assert assert_type(error.graph, WaitGraph).edges
    ways: list[OnDeadlock] = ["warn", lambda error: error.graph.to_text()]
    with deadlock_guard(ways[0]), deadlock_guard(ways[1]), warnings.catch_warnings():
        warnings.simplefilter("error", DeadlockWarning)


def test_what_a_caller_would_catch_is_an_exception() -> None:
    kinds: list[type[Exception]] = [
        DeadlockError,
        JobCancelled,
        JobFailed,
        PermitLeakError,
        RequestWithdrawn,
    ]
    assert all(issubclass(kind, Exception) for kind in kinds)
    assert issubclass(DeadlockWarning, RuntimeWarning)


class TicketCore(Arbiter[str]):
    free: bool

    def __init__(self) -> None:
        super().__init__()
        self.free = True

    def admits(self, claim: str) -> bool:
        return self.free

    def admit(self, claim: str) -> None:
        self.free = False

    def discharge(self, claim: str) -> None:
        self.free = True


class OwnedCore(lowlevel.OwnedArbiter[Task]):
    owner: Task | None

    def __init__(self) -> None:
        super().__init__()
        self.owner = None

    def admits(self, claim: Task) -> bool:
        return self.owner is None

    def admit(self, claim: Task) -> None:
        self.owner = claim

    def discharge(self, claim: Task) -> None:
        self.owner = None

    def holds(self, claim: Task) -> bool:
        return self.owner is claim


async def test_a_core_and_what_its_primitive_calls_have_the_type_of_the_claim() -> None:
    core = TicketCore()
    request = core.submit("a")
    assert isinstance(assert_type(request, CoreRequest[str]), CoreRequest)
    assert assert_type(request.status, Status) == "granted"
    assert type(assert_type(request.claim, str)) is str
    owner_exit: lowlevel.OwnerExit = "releases"
    owned_core = OwnedCore()
    owned = lowlevel.OwnedPrimitive(owned_core, owner_exit=owner_exit)
    task = trio.lowlevel.current_task()
    lowlevel.acquire_nowait(owned, task)
    assert_type(lowlevel.change(owned, owned_core.settle), None)
    assert_type(lowlevel.release(owned, task), None)
    block: lowlevel.Block[trio.lowlevel.Task] = lowlevel.held(owned, task)
    async with block:
        event = PrimitiveEvent("changed", owned, task, task, None, None)
        seen: lowlevel.Live[Any] = event.primitive
        assert seen is owned
    claim = lowlevel.claim(owned, lambda one: one)
    assert type(assert_type(claim, Claim[lowlevel.OwnedPrimitive[trio.lowlevel.Task]])) is Claim


# Each line must be refused by both: an ignore that is not needed is an error, too.
def refused(event: PrimitiveEvent, core: TicketCore, owned: lowlevel.OwnedPrimitive[Task]) -> None:
    observe(lambda: None)  # type: ignore[arg-type, misc]  # of an event
    event.kind = "closed"  # type: ignore[misc]  # frozen
    kind: EventKind = "lost"  # type: ignore[assignment]  # no such
    deadlock_guard("log")  # type: ignore[arg-type]  # no such way
    deadlock_guard(lambda: None)  # type: ignore[arg-type, misc]  # of an error
    serve_inspector("shop.sock", 8080)  # type: ignore[call-arg]  # by keyword
    snapshot(Semaphore(1))  # type: ignore[arg-type]  # of several
    show(file="out.txt")  # type: ignore[arg-type]  # an open one
    core.submit(1)  # type: ignore[arg-type]  # no str
    lowlevel.release(owned, "a")  # type: ignore[misc]  # no task
    lowlevel.OwnedPrimitive(TicketCore())  # type: ignore[arg-type]  # has no owners
    del kind
