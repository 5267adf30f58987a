"""One monitor over functions of several sessions, whatever the engine is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import trio

from structsync.distributed import LeaseLost, RemoteCall, SharedStatistics
from tests.distributed.conftest import Open
from tests.distributed.waiting import until_waiting

pytestmark = pytest.mark.timeout(60)


def steps() -> Iterator[None]:
    yield


async def test_functions_of_two_sessions_run_one_at_a_time(opens: Open) -> None:
    inside, most = 0, 0

    async def body() -> None:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        await trio.lowlevel.checkpoint()
        inside -= 1

    async with opens() as here, opens() as there, trio.open_nursery() as nursery:
        for session in (here, there, here, there):
            nursery.start_soon(session.monitor("m").entry(body))
    assert most == 1


async def test_an_entry_returns_what_its_function_returns_and_raises_what_it_raises(
    opens: Open,
) -> None:
    async with opens() as session:
        monitor = session.monitor("m")

        async def double(n: int) -> int:
            await trio.lowlevel.checkpoint()
            return 2 * n

        assert await monitor.entry(double)(n=3) == 6
        assert await monitor.entry(len)([1, 2]) == 2
        with pytest.raises(ZeroDivisionError):
            await monitor.entry(lambda: 1 // 0)()
        assert await monitor.statistics() == SharedStatistics(0, 0, None)


async def test_calls_that_are_queued_run_in_their_order_over_all_sessions(opens: Open) -> None:
    order: list[int] = []
    async with opens() as here, opens() as there:
        monitors = [here.monitor("m"), there.monitor("m")]
        calls: list[RemoteCall[None]] = []
        async with monitors[0].lock:
            for n in range(3):
                for m in range(2):
                    number = 2 * n + m
                    calls.append(monitors[m].do_when_free(order.append, number))
                    await until_waiting(monitors[0].lock, number + 1)
            calls += [monitors[0].do_when_free(order.append, number) for number in range(6, 20)]
            assert not order
        for call in calls:
            await call.wait()
        assert order == [*range(20)]


async def test_a_task_that_queues_a_call_goes_on_and_may_ask_what_became_of_it(opens: Open) -> None:
    async with opens() as session:
        monitor, returned = session.monitor("m"), list[int]()

        async def count(words: str) -> int:
            await trio.lowlevel.checkpoint()
            return len(words)

        async with monitor.lock:
            call = monitor.do_when_free(count, words="tea")
            call.then(lambda call: returned.append(call.result()))
            failed = monitor.do_when_free(lambda: 1 // 0)
            assert call.status == failed.status == "pending"
            assert repr(call) == "<call of m.count, pending>"
        assert await call.wait() == 3
        assert returned == [3]
        with pytest.raises(ZeroDivisionError):
            await failed.wait()


async def test_an_argument_of_a_function_has_any_name(opens: Open) -> None:
    def run(fn: int, queued: int, self: int) -> int:
        return fn + queued + self

    async with opens() as session:
        monitor = session.monitor("m")
        assert await monitor.entry(run)(fn=1, queued=2, self=3) == 6
        assert await monitor.do_when_free(run, fn=1, queued=2, self=3).wait() == 6


async def test_a_queued_call_that_is_cancelled_does_not_run_and_leaves_the_queue(
    opens: Open,
) -> None:
    async with opens() as session:
        monitor, ran = session.monitor("m"), list[int]()
        async with monitor.lock:
            first = monitor.do_when_free(ran.append, 1)
            second = monitor.do_when_free(ran.append, 2)
            await until_waiting(monitor.lock, 2)
            first.cancel()
            await until_waiting(monitor.lock, 1)
        await second.wait()
        assert (first.status, ran) == ("cancelled", [2])


async def test_what_a_cancelled_call_raises_beside_its_cancellation_is_for_who_waits_for_it(
    opens: Open,
) -> None:
    async def clean_up() -> None:
        try:
            await trio.sleep_forever()
        finally:
            raise ValueError("the disk is full")

    async def body() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(clean_up)
            nursery.start_soon(trio.sleep_forever)
            await trio.lowlevel.checkpoint()
            entered.set()

    async with opens() as session:
        monitor, entered = session.monitor("m"), trio.Event()
        call = monitor.do_when_free(body)
        await entered.wait()
        call.cancel()
        with pytest.raises(ExceptionGroup) as found:
            await call.wait()
        assert found.group_contains(ValueError, match="the disk is full")
        assert not found.group_contains(trio.Cancelled)
        assert call.status == "raised"
        assert await monitor.entry(lambda: "free")() == "free"


async def test_a_queued_call_that_is_cancelled_in_the_same_step_leaves_nothing_behind(
    opens: Open,
) -> None:
    async with opens() as session:
        monitor = session.monitor("m")
        call = monitor.do_when_free(trio.sleep_forever)
        call.cancel()
        with pytest.raises(RuntimeError, match="has no result"):
            await call.wait()
        async with monitor.lock:
            assert await monitor.statistics() == SharedStatistics(0, 1, None)


async def test_a_call_that_was_granted_before_its_task_has_run_runs(opens: Open) -> None:
    async with opens() as session:
        monitor = session.monitor("m")
        call = monitor.do_when_free(lambda: monitor.grant().token)
        assert await call.wait() > 0


async def test_a_task_inside_is_refused_a_second_time(opens: Open) -> None:
    async with opens() as session:
        monitor = session.monitor("m")
        inner = monitor.entry(lambda: None)

        async def outer() -> None:
            with pytest.raises(RuntimeError, match="not reentrant"):
                await inner()

        await monitor.entry(outer)()
        await inner()


async def test_a_call_knows_its_grant_and_others_have_none(opens: Open) -> None:
    async with opens() as session:
        monitor = session.monitor("m")
        token = monitor.entry(lambda: monitor.grant().token)
        assert await token() < await token()
        with pytest.raises(RuntimeError, match="not inside <shared monitor 'm'>"):
            monitor.grant()


async def test_a_call_waits_inside_for_a_call_of_another_session(opens: Open) -> None:
    async with opens() as here, opens() as there:
        full, pieces = list[bool](), list[str]()
        ours, theirs = here.monitor("m"), there.monitor("m")
        our_change = here.condition("m/changed", ours.lock)
        their_change = there.condition("m/changed", theirs.lock)

        async def take() -> str:
            await our_change.wait_for(lambda: bool(pieces))
            return pieces.pop()

        async def put() -> None:
            pieces.append("tea")
            await their_change.notify()

        async with trio.open_nursery() as nursery:

            async def taken() -> None:
                full.append(await ours.entry(take)() == "tea")

            nursery.start_soon(taken)
            while (await our_change.statistics()).tasks_waiting == 0:
                await trio.lowlevel.checkpoint()
            await theirs.entry(put)()
        assert full == [True]


async def test_a_cancelled_call_leaves_the_monitor(opens: Open) -> None:
    async with opens() as here, opens() as there:
        started = trio.Event()

        async def stay() -> None:
            started.set()
            await trio.sleep_forever()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(here.monitor("m").entry(stay))
            await started.wait()
            nursery.cancel_scope.cancel()
        assert await there.monitor("m").entry(lambda: "free")() == "free"


async def test_the_end_of_the_session_ends_the_calls_that_wait(opens: Open) -> None:
    async with opens() as here:
        async with here.monitor("m").lock:
            async with opens() as there:
                call = there.monitor("m").do_when_free(lambda: None)
                await until_waiting(here.lock("m"), 1)
            with pytest.raises(LeaseLost):
                call.result()
        with pytest.raises(trio.ClosedResourceError):
            there.monitor("m").do_when_free(lambda: None)


async def test_what_is_no_body_is_refused_at_once(opens: Open) -> None:
    async with opens() as session:
        monitor = session.monitor("m")

        wrong: Any
        for wrong in (steps, 3):
            with pytest.raises(TypeError, match="must"):
                monitor.entry(wrong)
            with pytest.raises(TypeError, match="must"):
                monitor.do_when_free(wrong)
        assert repr(monitor.entry(len)) == "<entry m.len of <shared monitor 'm'>>"
        async with session.semaphore("s", 1):
            with pytest.raises(ValueError, match="is in use as a semaphore"):
                await session.monitor("s").entry(lambda: None)()
