"""snapshot() and show(): what is held and waited for, as data, as a table and as a graph."""

from __future__ import annotations

import gc
import io
import os
import re
import stat
import subprocess
import weakref
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

import structsync
from structsync import WaitEdge, WaitGraph, show, snapshot, trace_waits
from structsync.observing import holds, trace
from structsync.observing.per_primitive import PerPrimitive
from structsync.observing.places import state_for_people
from structsync.observing.show import MOST_IDLE, MOST_WAITERS, text_of

from .crossing import make_item

SVG = "{http://www.w3.org/2000/svg}"


def only(found: structsync.Snapshot) -> structsync.PrimitiveSnapshot:
    (one,) = found.primitives
    return one


async def test_who_holds_and_who_waits_is_told_in_the_order_of_the_queue() -> None:
    lock = structsync.Lock()
    async with trio.open_nursery() as nursery:
        async with lock:
            for name in ("first", "second"):
                nursery.start_soon(_use, lock, name=name)
                await wait_all_tasks_blocked()
            found = only(snapshot([lock]))
    assert found.primitive is lock
    assert [one.task for one in found.holders] == [trio.lowlevel.current_task()]
    assert [one.name for one in found.waiters] == ["first", "second"]
    assert all(one.parked and one.claim == "" for one in found.waiters)
    assert all(str(one.line).startswith("test_snapshot.py:") for one in found.waiters)
    assert all(str(one.line).endswith(" in _use") for one in found.waiters)
    assert found.waiters[0].since is None
    assert found.holders[0].since is None
    assert found.holders[0].line is None


async def _use(lock: Any) -> None:
    async with lock:
        pass


async def test_tasks_of_one_name_are_told_apart() -> None:
    lock = structsync.Lock()
    async with trio.open_nursery() as nursery:
        async with lock:
            for _ in range(2):
                nursery.start_soon(_use, lock)
            await wait_all_tasks_blocked()
            found = snapshot([lock])
    assert [one.name.rpartition(".")[2] for one in only(found).waiters] == ["_use #1", "_use #2"]
    assert len({edge.waiter for edge in found.graph().edges}) == 2


async def test_who_holds_a_request_and_goes_on_waits_for_no_task() -> None:
    one, other = structsync.Lock(), structsync.Lock()

    async def goes_on() -> None:
        async with one:
            with other.request():
                await trio.sleep_forever()

    async def waits() -> None:
        async with other, one:
            pass

    async with trio.open_nursery() as nursery:
        nursery.start_soon(waits, name="waits")
        nursery.start_soon(goes_on, name="goes on")
        await wait_all_tasks_blocked()
        edges = snapshot([one, other]).graph().edges
        nursery.cancel_scope.cancel()
    assert [(edge.waiter, edge.holder) for edge in edges] == [("waits", "goes on")]


async def test_who_has_submitted_a_job_waits_for_a_worker_only_while_it_waits_for_the_job() -> None:
    async with structsync.open_pool(1) as pool, trio.open_nursery() as nursery:
        pool.submit_nowait(trio.sleep_forever)
        await wait_all_tasks_blocked()
        job = pool.submit_nowait(trio.lowlevel.checkpoint)
        assert snapshot([pool]).graph().edges == ()
        assert not only(snapshot([pool])).waiters[0].parked
        nursery.start_soon(pool.run, trio.lowlevel.checkpoint, name="caller")
        await wait_all_tasks_blocked()
        (edge,) = snapshot([pool]).graph().edges
        assert edge.waiter == "caller"
        assert only(snapshot([pool])).waiters[1].parked
        pool.cancel_scope.cancel()
    assert job.status == "cancelled"


@pytest.mark.parametrize("mode", ["reading", "writing"])
async def test_readers_and_writers_are_holders(mode: str) -> None:
    rwlock = structsync.RWLock()
    async with getattr(rwlock, mode)():
        assert len(only(snapshot([rwlock])).holders) == 1


async def test_borrowers_are_holders_and_need_not_be_tasks() -> None:
    limiter = structsync.CapacityLimiter(2)
    await limiter.acquire_on_behalf_of("a borrower")
    (holder,) = only(snapshot([limiter])).holders
    assert (holder.name, holder.task) == ("'a borrower'", None)
    limiter.release_on_behalf_of("a borrower")


async def test_the_permits_of_blocks_are_known_under_a_guard() -> None:
    semaphore = structsync.Semaphore(3, max_value=3)
    async with semaphore:
        assert only(snapshot([semaphore])).holders == ()
    with structsync.deadlock_guard():
        async with semaphore, semaphore.permits(2):
            (holder,) = only(snapshot([semaphore])).holders
            assert holder.units == 3
            assert holder.line is not None
            assert "(3)" in text_of(snapshot([semaphore]))
        assert only(snapshot([semaphore])).holders == ()


async def test_a_request_that_no_task_waits_for_is_told_as_such() -> None:
    semaphore = structsync.Semaphore(0, max_value=2)
    with semaphore.request(2):
        (waiter,) = only(snapshot([semaphore])).waiters
        assert (waiter.parked, waiter.claim, waiter.line) == (False, "2", None)
        assert "not waiting for it now" in text_of(snapshot([semaphore]))


async def test_every_live_primitive_is_found() -> None:
    lock, latch = structsync.Lock(), structsync.Latch(1)
    found = [one.primitive for one in snapshot().primitives]
    assert any(one is lock for one in found)
    assert any(one is latch for one in found)


class Unseen:
    """Of the user's: whatever asks it something fails."""

    is_hidden = False

    @property  # type: ignore[misc]  # which no class would have
    def __class__(self) -> type:
        raise LookupError("not configured")

    def __repr__(self) -> str:
        raise LookupError("not configured")

    def __hash__(self) -> int:
        if self.is_hidden:
            raise LookupError("not configured")
        return 1


class HalfMade(structsync.Monitor):
    def __init__(self) -> None:
        raise LookupError("not configured")


async def test_objects_that_have_nothing_to_do_with_it_do_not_disturb_a_snapshot() -> None:
    class Gone:
        pass

    gone = Gone()
    proxy, unseen, half_made = weakref.proxy(gone), Unseen(), HalfMade.__new__(HalfMade)
    del gone
    lock = structsync.Lock()
    async with lock:
        shown = [one.primitive for one in snapshot().primitives]
    assert any(one is lock for one in shown)
    assert not any(one is half_made for one in shown)
    del proxy, unseen


async def test_a_value_that_has_no_repr_is_shown_as_such_with_those_who_wait_for_it() -> None:
    value, buffer = structsync.Value(Unseen(), name="settings"), structsync.Buffer[Unseen](1)
    await buffer.put(Unseen())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(value.wait_for, lambda _: False, name="reader")
        nursery.start_soon(buffer.put, Unseen(), name="writer")
        await wait_all_tasks_blocked()
        shown = only(snapshot([value]))
        (writer,) = only(snapshot([buffer])).waiters
        nursery.cancel_scope.cancel()
    assert (shown.title, shown.state) == (
        "Value 'settings'",
        "cannot be looked at: LookupError",
    )
    assert [one.name for one in shown.waiters] == ["reader"]
    assert "cannot be looked at: LookupError" in writer.claim


async def test_a_borrower_that_has_no_repr_is_called_by_its_class() -> None:
    limiter, borrower = structsync.CapacityLimiter(1), Unseen()
    limiter.acquire_on_behalf_of_nowait(borrower)
    (holder,) = only(snapshot([limiter])).holders
    assert holder.name == "<Unseen: cannot be looked at: LookupError>"
    borrower.is_hidden = True
    shown = only(snapshot([limiter]))
    assert (shown.state, shown.holders) == ("cannot be looked at: LookupError", ())
    borrower.is_hidden = False
    limiter.release_on_behalf_of(borrower)


async def test_since_when_and_from_which_line_is_traced(mock_clock: MockClock) -> None:
    lock = structsync.Lock()
    with trace_waits():
        async with trio.open_nursery() as nursery:
            async with lock:
                mock_clock.jump(3)
                nursery.start_soon(_use, lock)
                await wait_all_tasks_blocked()
                mock_clock.jump(4)
                found = only(snapshot([lock]))
                (holder,), (waiter,) = found.holders, found.waiters
                assert (holder.since, waiter.since) == (0.0, 3.0)
                assert "in test_since_when_and_from_which_line" in str(holder.line)
                assert "in _use" in str(waiter.line)
                text = text_of(snapshot([lock]))
                assert "for 7.0 s" in text
                assert "for 4.0 s" in text
        ended = only(snapshot([lock]))
        assert (ended.holders, ended.waiters) == ((), ())
    rwlock = structsync.RWLock()
    with trace_waits(), trace_waits():
        async with rwlock.writing():
            mock_clock.jump(1)
            rwlock.downgrade()
            (holder,) = only(snapshot([rwlock])).holders
            assert holder.since == 8.0


async def test_each_of_several_requests_of_a_task_has_its_own_time_and_line(
    mock_clock: MockClock,
) -> None:
    semaphore = structsync.Semaphore(0)
    with trace_waits():
        first = semaphore.request()
        mock_clock.jump(3)
        second = semaphore.request()
        waiters = only(snapshot([semaphore])).waiters
        assert [one.since for one in waiters] == [0, 3]
        assert len({one.line for one in waiters}) == 2
        semaphore.release()
        (waiter,) = only(snapshot([semaphore])).waiters
        assert waiter.since == 3
        first.close()
        second.close()
        assert only(snapshot([semaphore])).waiters == ()


async def test_a_notified_waiter_that_queues_for_the_lock_has_waited_since_it_began_to(
    mock_clock: MockClock,
) -> None:
    condition = structsync.Condition()

    async def wait() -> None:
        async with condition:
            await condition.wait()

    lock: Any = condition._lock
    with trace_waits():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(wait)
            await wait_all_tasks_blocked()
            mock_clock.jump(3)
            async with condition:
                assert [one.since for one in only(snapshot([condition])).waiters] == [0]
                condition.notify()
                (waiter,) = only(snapshot([lock])).waiters
                assert waiter.since == 0
                assert str(waiter.line).endswith(" in wait")
            await wait_all_tasks_blocked()
        assert not any(trace.traces[-1]._waits.of(one) for one in (lock, condition))


async def test_of_permits_that_no_task_gives_back_the_latest_are_remembered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(holds, "MOST_HOLDERS", 2)
    semaphore = structsync.Semaphore(3)
    with trace_waits():
        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(semaphore.acquire)
        assert len(trace.traces[-1]._held.of(semaphore)) == 2


def test_what_is_held_outside_of_a_run_is_traced_without_a_time() -> None:
    semaphore = structsync.Semaphore(1, max_value=1)
    with trace_waits():
        semaphore.acquire_nowait()
    assert "no task holds or waits for anything" in text_of(snapshot([semaphore]))


async def test_the_run_may_be_over_when_the_table_is_printed() -> None:
    lock = structsync.Lock()
    with trace_waits():
        async with lock:
            found = snapshot([lock])
    text = await trio.to_thread.run_sync(text_of, found)
    assert only(found).holders[0].since is not None
    assert " s]" not in text


async def test_a_long_queue_and_many_held_ones_are_cut() -> None:
    lock = structsync.Lock()
    others = [structsync.Lock() for _ in range(MOST_IDLE + 2)]
    for one in others:
        one.acquire_nowait()
    async with trio.open_nursery() as nursery:
        async with lock:
            for _ in range(MOST_WAITERS + 3):
                nursery.start_soon(_use, lock)
            await wait_all_tasks_blocked()
            text = text_of(snapshot([lock, *others]))
    assert "... and 3 more" in text
    assert "and 2 more that are held but that no task waits for" in text
    for one in others:
        one.release()


async def test_it_is_printed_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    lock = structsync.Lock()
    async with lock:
        show()
        show(file=(own := io.StringIO()))
    assert f"Lock at {id(lock):#x}" in capsys.readouterr().err
    assert f"Lock at {id(lock):#x}" in own.getvalue()


async def test_on_a_terminal_it_is_as_wide_as_that(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("COLUMNS", "60")
    async with structsync.Lock():
        show(file=(shown := Terminal()))
    assert len(shown.getvalue().splitlines()[1]) == 60


# ==== the graph ====

GRAPH = WaitGraph((WaitEdge('a "b"', "Lock", "c"), WaitEdge('a "b"', "Semaphore", "d")))


def test_the_graph_as_text_has_who_waits_once() -> None:
    assert GRAPH.to_text().splitlines() == [
        'a "b" waits for',
        "  c, because of Lock",
        "  d, because of Semaphore",
    ]
    assert WaitGraph(()).to_text() == "no task waits for another that is known"


def test_the_graph_for_graphviz_quotes_names() -> None:
    text = GRAPH.to_dot()
    assert text.startswith("digraph waits_for {")
    assert r'label="a \"b\""' in text
    assert text.count(" -> ") == 2


def test_the_picture_is_what_dot_draws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dot = tmp_path / "dot"
    dot.write_text('#!/bin/sh\ntest "$1" = -Tsvg && cat\n')
    dot.chmod(dot.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert GRAPH.to_svg() == GRAPH.to_dot()
    dot.write_text("#!/bin/sh\nexit 1\n")
    with pytest.raises(subprocess.CalledProcessError):
        GRAPH.to_svg()


def test_without_graphviz_the_picture_is_drawn_as_in_the_reports_of_the_explorer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    edges = [("a <b>", "Lock", "c"), ("a <b>", "Semaphore", "d"), ("c", "RWLock", "a <b>")]
    picture = WaitGraph(tuple(WaitEdge(*edge) for edge in edges)).to_svg()
    root = ElementTree.fromstring(picture)
    texts = [text.strip() for text in root.itertext() if text.strip()]
    assert texts.count("waits for") == 2
    assert texts.count("goes on") == 1
    for text in ("a <b> waits for c and d", "c waits for a <b>", "RWLock", "d"):
        assert text in texts
    assert any(text.startswith("Lock an") and text.endswith("…") for text in texts)
    numbers = [
        float(one)
        for path in root.iter(f"{SVG}path")
        for one in re.findall(r"[\d.]+", path.attrib["d"])
    ]
    assert max(numbers) <= max(float(root.attrib["width"]), float(root.attrib["height"]))
    assert WaitGraph(()).to_svg().startswith("<svg")


def test_a_name_with_control_characters_makes_no_picture_that_cannot_be_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "")
    graph = WaitGraph((WaitEdge("a\x1b[1m", "Lock 'b\x00'", "c\nd\ud800"),))
    texts = [*ElementTree.fromstring(graph.to_svg().encode()).itertext()]
    assert r"a\x1b[1m waits for c\nd\ud800" in texts
    assert "\x1b" not in graph.to_dot()
    assert r'label="a\\x1b[1m"' in graph.to_dot()


def test_what_is_kept_for_a_primitive_is_forgotten_with_it() -> None:
    kept: PerPrimitive[int] = PerPrimitive()
    lock = structsync.Lock()
    kept.to_write(lock)["a borrower"] = 1
    assert kept.of(lock) == {"a borrower": 1}
    del lock
    gc.collect()
    assert not kept._kept


async def test_who_has_an_item_of_a_pool_is_its_holder_with_or_without_a_trace() -> None:
    pool = structsync.ResourcePool(make_item, 2)
    async with pool.item():
        (holder,) = only(snapshot([pool])).holders
        assert (holder.task, holder.units, holder.line) == (trio.lowlevel.current_task(), 1, None)
        with trace_waits():
            async with pool.item():
                (holder,) = only(snapshot([pool])).holders
                assert holder.units == 2
                assert "test_snapshot.py" in str(holder.line)
    assert only(snapshot([pool])).holders == ()


def test_the_picture_in_the_documentation_is_what_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    edges = ("forth", "till", "back"), ("back", "safe", "round"), ("round", "book", "forth")
    graph = WaitGraph(tuple(WaitEdge(one, f"Lock '{lock}'", other) for one, lock, other in edges))
    shown = Path(__file__).parents[2] / "docs" / "static" / "waits-for.svg"
    assert shown.read_text() == graph.to_svg()


def test_a_state_calls_tasks_by_their_names() -> None:
    assert state_for_people("locked by <Task 'a.<locals>.clerk' at 0x7f>") == "locked by clerk"
    assert state_for_people("""by <Task "<test 'hangs'>" at 0x7f>!""") == "by <test 'hangs'>!"
    assert state_for_people("2/3") == "2/3"


async def test_since_when_a_job_and_a_borrower_wait_is_told_where_it_is_traced() -> None:
    limiter = structsync.CapacityLimiter(1)
    limiter.acquire_on_behalf_of_nowait("a thread")
    with trace_waits():
        async with structsync.open_pool(1) as pool, trio.open_nursery() as nursery:
            pool.submit_nowait(trio.sleep_forever)
            pool.submit_nowait(trio.lowlevel.checkpoint)
            nursery.start_soon(limiter.acquire_on_behalf_of, "another")
            await wait_all_tasks_blocked()
            for one in (pool, limiter):
                (waiter,) = only(snapshot([one])).waiters
                assert waiter.since is not None
            nursery.cancel_scope.cancel()
            pool.cancel_scope.cancel()


def test_what_is_no_primitive_is_not_shown() -> None:
    with pytest.raises(TypeError, match="of primitives of structsync, not of 3"):
        snapshot([structsync.Lock(), 3])  # type: ignore[list-item]  # the mistake
    with pytest.raises(TypeError, match="what snapshot\\(\\) returned, or None, not 3"):
        show(3)  # type: ignore[arg-type]  # the mistake
