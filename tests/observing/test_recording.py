"""recording(): a run as trace events that are valid, complete, and of bounded size."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

import structsync
from structsync import Recording, recording
from structsync.observing import spans

#: What the Trace Event Format demands of each phase that we write; "s" is text, "n" a number, "d" an object.
COMMON = {"ph": "s", "pid": "n", "name": "s"}
DEMANDED = {
    "X": {**COMMON, "tid": "n", "ts": "n", "dur": "n", "cat": "s", "args": "d"},
    "C": {**COMMON, "tid": "n", "ts": "n", "args": "d"},
    "M": {**COMMON, "args": "d"},
}
METADATA = {"process_name": "name", "thread_name": "name", "thread_sort_index": "sort_index"}
KINDS: dict[str, Any] = {"s": str, "n": (int, float), "d": dict}


def faults(trace: Any) -> Iterator[str]:
    """What is wrong with a JSON object by the description of the format, and within each row."""
    slices: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for event in trace["traceEvents"]:
        demanded = DEMANDED.get(event.get("ph"))
        if demanded is None:
            yield f"an unknown phase: {event}"
            continue
        for name, kind in demanded.items():
            if not isinstance(event.get(name), KINDS[kind]):
                yield f"{name} is missing or wrong: {event}"
        if event["ph"] == "M" and METADATA.get(event["name"]) not in event["args"]:
            yield f"unknown metadata: {event}"
        if event["ph"] == "C" and not all(
            isinstance(one, int | float) for one in event["args"].values()
        ):
            yield f"a counter counts numbers: {event}"
        if event.get("ts", 0) < 0 or event.get("dur", 0) < 0:
            yield f"a time before the start: {event}"
        if event["ph"] == "X" and "dur" in event:
            row = slices.setdefault((event["pid"], event["tid"]), [])
            row.append((event["ts"], event["ts"] + event["dur"]))
    for row in slices.values():
        for (_, end), (start, _) in pairwise(sorted(row)):
            if start < end - 1e-6:
                yield f"slices of one row overlap: {end} {start}"


def valid(found: Recording) -> list[dict[str, Any]]:
    trace = json.loads(json.dumps(found.to_trace_events()))
    assert list(faults(trace)) == []
    events: list[dict[str, Any]] = trace["traceEvents"]
    return events


def slices(found: Recording) -> list[tuple[str, str, float, float]]:
    """Each slice: the name of its row, its own name, its beginning and its end in seconds."""
    events = valid(found)
    names = {one["tid"]: one["args"]["name"] for one in events if one["name"] == "thread_name"}
    return [
        (names[one["tid"]], one["name"], one["ts"] / 1e6, (one["ts"] + one["dur"]) / 1e6)
        for one in events
        if one["ph"] == "X"
    ]


async def hold(lock: Any, seconds: float) -> None:
    async with lock:
        await trio.sleep(seconds)


async def test_waits_and_holds_are_slices_in_the_rows_of_their_tasks(
    autojump_clock: MockClock,
) -> None:
    lock = structsync.Lock(name="ledger")
    with recording() as found:
        async with trio.open_nursery() as nursery:
            for name in ("first", "second"):
                nursery.start_soon(hold, lock, 2, name=name)
                await wait_all_tasks_blocked()
    assert slices(found) == [
        ("first", "holds Lock 'ledger'", 0, 2),
        ("second", "waits for Lock 'ledger'", 0, 2),
        ("second", "holds Lock 'ledger'", 2, 4),
    ]
    lengths = [(one["ts"], one["args"]) for one in valid(found) if one["ph"] == "C"]
    assert lengths == [(0, {"waiting": 1}), (2e6, {"waiting": 0})]


async def test_what_overlaps_in_one_task_has_rows_of_its_own(autojump_clock: MockClock) -> None:
    first, second = structsync.Lock(name="1"), structsync.Lock(name="2")
    with recording() as found:
        await first.acquire()
        await trio.sleep(1)
        await second.acquire()
        await trio.sleep(1)
        first.release()
        await trio.sleep(1)
        second.release()
        async with first:
            await trio.sleep(1)
    rows = [(row.rpartition(">")[2], name) for row, name, _, _ in slices(found)]
    assert rows == [("", "holds Lock '1'"), (" (2)", "holds Lock '2'"), ("", "holds Lock '1'")]


async def test_the_rows_of_one_task_stand_below_each_other(autojump_clock: MockClock) -> None:
    async def holds_two(name: str) -> None:
        async with structsync.Lock():
            await trio.sleep(1)
            async with structsync.Lock():
                await trio.sleep(1)

    with recording() as found:
        async with trio.open_nursery() as nursery:
            for name in ("a", "b"):
                nursery.start_soon(holds_two, name, name=name)
                await wait_all_tasks_blocked()
    names = [
        (one["tid"], one["args"]["name"]) for one in valid(found) if one["name"] == "thread_name"
    ]
    rows = [name for _, name in sorted(names)]
    first, second = rows[0], rows[2]
    assert {first, second} == {"a", "b"}, "they begin at the same time"
    assert rows == [first, f"{first} (2)", second, f"{second} (2)"]


async def test_what_has_not_ended_ends_where_the_recording_is_read(
    autojump_clock: MockClock,
) -> None:
    lock = structsync.Lock(name="ledger")
    async with trio.open_nursery() as nursery:
        with recording() as found:
            nursery.start_soon(hold, lock, 9, name="first")
            await wait_all_tasks_blocked()
            nursery.start_soon(hold, lock, 9, name="second")
            await trio.sleep(3)
            reading = slices(found)
        assert sorted(reading) == [
            ("first", "holds Lock 'ledger'", 0, 3),
            ("second", "waits for Lock 'ledger'", 0, 3),
        ]
        nursery.cancel_scope.cancel()
    assert {end for *_, end in slices(found)} == {0}, "after the block it is the last step"


async def test_primitives_of_one_name_are_counted_together(autojump_clock: MockClock) -> None:
    one, other = structsync.Lock(name="row"), structsync.Lock(name="row")
    with structsync.recording() as found:
        async with trio.open_nursery() as nursery, one:
            for _ in range(2):
                nursery.start_soon(hold, one, 1)
            await wait_all_tasks_blocked()
            async with other:
                await trio.sleep(1)
    lengths = [
        e["args"]["waiting"] for e in found.to_trace_events()["traceEvents"] if e["ph"] == "C"
    ]
    assert lengths == [1, 2, 1, 0]


async def test_what_no_task_asked_for_has_a_row(autojump_clock: MockClock) -> None:
    limiter = structsync.CapacityLimiter(1)
    with recording() as found:
        await limiter.acquire_on_behalf_of("a borrower")
        await trio.sleep(1)
        limiter.release_on_behalf_of("a borrower")
    assert len(slices(found)) == 1


async def test_what_another_task_releases_ends_the_slice_of_who_requested_it(
    autojump_clock: MockClock,
) -> None:
    semaphore = structsync.Semaphore(2, max_value=2, name="doors")

    async def close(request: Any) -> None:
        await trio.sleep(3)
        request.close()

    with recording() as found:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(close, semaphore.request(2), name="another")
        await trio.sleep(3)
    (one,) = [one for one in valid(found) if one["ph"] == "X"]
    assert (one["dur"], one["args"]) == (3e6, {"outcome": "released"})


async def test_what_is_asked_for_outside_of_a_task_has_a_row(autojump_clock: MockClock) -> None:
    semaphore = structsync.Semaphore(0)
    trio.lowlevel.current_trio_token().run_sync_soon(semaphore.release)
    with recording() as found:
        await semaphore.acquire()
    assert valid(found)


def test_what_happens_outside_of_a_run_has_no_time() -> None:
    with recording() as found:
        structsync.Semaphore(1).acquire_nowait()
    assert slices(found) == []


def test_a_run_is_written_into_a_file(tmp_path: Path) -> None:
    async def main() -> None:
        await hold(structsync.Lock(), 1)

    with recording() as found:
        trio.run(main, clock=MockClock(autojump_threshold=0))
    found.write(tmp_path / "run.json")
    assert json.loads((tmp_path / "run.json").read_text()) == found.to_trace_events()


def test_runs_of_other_threads_are_not_recorded() -> None:
    def run_another() -> None:
        trio.run(hold, structsync.Lock(name="another"), 0)

    async def main() -> None:
        await hold(structsync.Lock(name="mine"), 0)
        await trio.to_thread.run_sync(run_another)

    with recording(most=1) as found:
        trio.run(main)
    assert [name for _, name, _, _ in slices(found)] == ["holds Lock 'mine'"]
    assert found.left_out == 0


def test_one_run_follows_the_other_on_the_time_line_though_each_has_a_clock_of_its_own() -> None:
    semaphore = structsync.Semaphore(9, name="left")

    async def main(number: int, clock: MockClock) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(hold, structsync.Lock(name=f"{number}"), 2, name="holder")
            await wait_all_tasks_blocked()
            await semaphore.acquire()  # which no task releases
            clock.jump(2)

    with recording() as found:
        for number, ahead in enumerate((1000, 5, 70)):
            clock = MockClock()
            clock.jump(ahead)
            trio.run(main, number, clock, clock=clock)
    assert [one[1:] for one in slices(found) if one[1] != "holds Semaphore 'left'"] == [
        ("holds Lock '0'", 0, 2),
        ("holds Lock '1'", 2, 4),
        ("holds Lock '2'", 4, 6),
    ]
    assert [one[2:] for one in slices(found) if one[1] == "holds Semaphore 'left'"] == [
        (0, 2),
        (2, 4),
        (4, 6),
    ]


def test_a_recording_is_read_in_another_run_than_its_own() -> None:
    semaphore = structsync.Semaphore(1, name="left")

    async def read(found: Recording) -> None:
        assert [one[1:] for one in slices(found)] == [("holds Semaphore 'left'", 0, 0)]

    with recording() as found:
        trio.run(semaphore.acquire, clock=MockClock())
        later = MockClock()
        later.jump(99)
        trio.run(read, found, clock=later)


async def test_a_recording_is_bounded_and_says_what_is_left_out() -> None:
    lock = structsync.Lock()
    with recording(most=10) as found:
        for _ in range(100):
            async with lock:
                pass
    assert len([one for one in valid(found) if one["ph"] != "M"]) <= 12
    assert found.left_out == 300 - 3 * 10, "a slice is of three steps"
    assert found.to_trace_events()["otherData"] == {"steps left out": "270"}


async def test_events_of_another_thread_are_left_out() -> None:
    found: list[Any] = []
    seen = spans.Spans(found.append)
    lock = structsync.Lock()

    def elsewhere() -> None:
        for event in events:
            seen.note(event)

    events: list[structsync.PrimitiveEvent] = []
    with structsync.observe(events.append):
        async with lock:
            pass
    assert events
    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert found == []


async def test_so_many_requests_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spans, "MOST_WAITING", 2)
    semaphore = structsync.Semaphore(0)
    with recording() as found:
        for _ in range(5):
            semaphore.request()
        waits = [one for one in slices(found) if one[1].startswith("waits")]
        assert len(waits) == 2
        semaphore.release(5)
        semaphore.close()


@pytest.mark.parametrize(("most", "error"), [(0, ValueError), ("9", TypeError)])
def test_its_size_must_be_a_positive_int(most: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"^most must be"):
        recording(most=most)


@pytest.mark.parametrize(
    "event",
    [
        {"ph": "Q", "pid": 1, "name": "x"},
        {"ph": "X", "pid": 1, "tid": 1, "ts": 0, "name": "x", "cat": "c", "args": {}},
        {"ph": "M", "pid": 1, "name": "colour", "args": {}},
        {"ph": "C", "pid": 1, "tid": 1, "ts": 0, "name": "x", "args": {"n": "1"}},
        {"ph": "C", "pid": 1, "tid": 1, "ts": -1, "name": "x", "args": {"n": 1}},
    ],
)
def test_an_invalid_event_is_found(event: Any) -> None:
    assert list(faults({"traceEvents": [event]}))


def test_slices_that_overlap_are_found() -> None:
    one = {"ph": "X", "pid": 1, "tid": 1, "name": "x", "cat": "c", "args": {}, "dur": 2}
    assert list(faults({"traceEvents": [{**one, "ts": 0}, {**one, "ts": 1}]}))


async def test_what_changes_or_closes_is_no_slice() -> None:
    semaphore = structsync.Semaphore(0, max_value=2)
    with recording() as found:
        semaphore.resize(3)
        semaphore.close()
    assert slices(found) == []


async def test_a_wait_that_was_cancelled_is_a_slice_that_says_so(autojump_clock: MockClock) -> None:
    with recording() as found:
        with trio.move_on_after(2):
            await structsync.Semaphore(0).acquire()
    (one,) = [one for one in valid(found) if one["ph"] == "X"]
    assert (one["dur"], one["args"]) == (2e6, {"outcome": "withdrawn"})
