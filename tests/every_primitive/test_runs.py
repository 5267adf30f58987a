"""C6 for every primitive: one run at a time while it is in use, any run while it is at rest."""

import asyncio
import queue
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import outcome
import pytest
import trio
import trio.testing

from structsync import Condition, Lock, MonitorCondition, Primitive, Semaphore, observe

from ..threads import in_thread  # noqa: TID252 - both folders use it
from .attempt import Attempt, waiting
from .conftest import kinds
from .kinds import KINDS, Kind

TASKLESS = [pytest.param(k, id=k.name.replace(" ", "-")) for k in KINDS if k.taskless]


@pytest.mark.parametrize("kind", TASKLESS)
def test_taking_without_waiting_and_giving_back_need_no_run(kind: Kind) -> None:
    primitive = kind.make()
    before = kind.state(primitive)
    kind.occupy(primitive)
    if kind.lends:
        kind.free(primitive)
    assert kind.state(primitive) == before


def test_an_idle_object_may_be_used_by_one_run_after_another(kind: Kind) -> None:
    primitive = kind.make()

    async def use() -> str:
        kind.occupy(primitive)
        async with trio.open_nursery() as nursery:
            attempt = await waiting(kind, primitive, nursery)
            kind.free(primitive)
        return attempt.outcome

    assert [trio.run(use) for _ in range(3)] == ["granted"] * 3


def test_an_idle_object_may_be_used_by_a_run_in_another_thread(movable: Kind) -> None:
    primitive = movable.make()

    async def use() -> str:
        movable.occupy(primitive)
        async with trio.open_nursery() as nursery:
            attempt = await waiting(movable, primitive, nursery)
            movable.free(primitive)
        return attempt.outcome

    trio.run(use)
    assert in_thread(lambda: trio.run(use)).unwrap() == "granted"
    assert trio.run(use) == "granted"


def test_what_a_cancelled_run_used_is_idle_after_it(kind: Kind) -> None:
    primitive = kind.make()

    async def use() -> None:
        async with trio.open_nursery() as nursery:
            kind.occupy(primitive)
            await waiting(kind, primitive, nursery)
            nursery.cancel_scope.cancel()
        if kind.lends:
            kind.free(primitive)

    trio.run(use)
    trio.run(use)


def test_a_thread_that_has_the_ident_of_an_ended_one_has_one_transition_at_a_time() -> None:
    used, other = Semaphore(1, max_value=1), Semaphore(100)
    outcomes: list[outcome.Outcome[object]] = []

    def use() -> int:
        used.acquire_nowait()
        used.release()
        return threading.get_ident()

    def use_inside_a_step() -> int:
        with observe(lambda event: outcomes.append(outcome.capture(used.acquire_nowait))):
            other.acquire_nowait()
        return threading.get_ident()

    ended = in_thread(use).unwrap()
    assert any(in_thread(use_inside_a_step).unwrap() == ended for _ in range(50))
    for each in outcomes:
        with pytest.raises(RuntimeError, match="observer must not change"):
            each.unwrap()


async def refused_elsewhere(kind: Kind, action: Callable[[Any], object]) -> None:
    """Check that the action is refused in another thread while a task waits, and changes nothing."""
    primitive = kind.make()
    kind.occupy(primitive)
    async with trio.open_nursery() as nursery:
        attempt = await waiting(kind, primitive, nursery)
        before = kind.state(primitive)
        ended = in_thread(lambda: action(primitive))
        assert kind.state(primitive) == before
        kind.free(primitive)
    assert attempt.outcome == "granted"
    with pytest.raises(RuntimeError, match=r"in use by another trio run.*trio\.from_thread"):
        ended.unwrap()


# The lock of a condition is free while a task waits; the next tests are about it.
@pytest.mark.parametrize("kind", kinds(lambda kind: kind.cls not in (Condition, MonitorCondition)))
async def test_a_second_run_is_refused_while_a_task_waits(kind: Kind) -> None:
    await refused_elsewhere(kind, lambda primitive: trio.run(kind.take, primitive))


@pytest.mark.parametrize("kind", TASKLESS)
async def test_giving_back_in_a_foreign_thread_is_refused_while_a_task_waits(kind: Kind) -> None:
    await refused_elsewhere(kind, kind.free)


async def test_closing_in_a_foreign_thread_is_refused_while_a_task_waits(kind: Kind) -> None:
    await refused_elsewhere(kind, Primitive.close)


async def test_a_second_run_cannot_use_a_lock_on_whose_condition_a_task_waits() -> None:
    condition = Condition()

    async def intrude() -> None:
        async with condition:
            pass

    async def wait() -> None:
        async with condition:
            await condition.wait()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        await trio.testing.wait_all_tasks_blocked()
        ended = in_thread(lambda: trio.run(intrude))
        async with condition:
            condition.notify()
    with pytest.raises(RuntimeError, match="in use by another trio run"):
        ended.unwrap()


@pytest.mark.parametrize("nowait", [False, True])
@pytest.mark.parametrize("policy", ["eligible", "priority"])
async def test_a_second_run_cannot_pass_a_queue_that_the_policy_lets_it_pass(
    policy: Any, nowait: bool
) -> None:
    semaphore = Semaphore(1, policy=policy)

    async def intrude() -> None:
        if nowait:
            semaphore.acquire_nowait()
        else:
            await semaphore.acquire(priority=-5 if policy == "priority" else 0)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(semaphore.acquire, 2)
        await trio.testing.wait_all_tasks_blocked()
        ended = in_thread(lambda: trio.run(intrude))
        assert semaphore.value == 1
        nursery.cancel_scope.cancel()
    if policy == "priority" and nowait:  # without a priority of its own it has to wait
        assert isinstance(ended, outcome.Error)
        return
    with pytest.raises(RuntimeError, match="in use by another trio run"):
        ended.unwrap()


async def test_a_second_run_cannot_acquire_a_lock_that_a_task_holds() -> None:
    lock = Lock()
    async with lock:
        ended = in_thread(lambda: trio.run(lock.acquire))
    with pytest.raises(RuntimeError, match="in use by another trio run"):
        ended.unwrap()


@pytest.mark.parametrize("verb", ["acquire", "acquire_nowait", "release", "request", "resize"])
def test_a_request_that_an_ended_run_left_in_queue_bars_the_next_run(verb: str) -> None:
    semaphore = Semaphore(1, max_value=1)

    async def leave_a_request() -> None:
        semaphore.acquire_nowait()
        semaphore.request()

    async def use() -> None:
        if verb == "acquire":
            await semaphore.acquire()
        else:
            getattr(semaphore, verb)(*[2] if verb == "resize" else [])

    trio.run(leave_a_request)
    with pytest.raises(RuntimeError, match=r"in use by another trio run.*withdraw\(\) a request"):
        trio.run(use)


def test_withdrawing_what_an_ended_run_left_lets_the_next_run_in() -> None:
    semaphore = Semaphore(1, max_value=1)

    async def leave_a_request() -> Any:
        semaphore.acquire_nowait()
        return semaphore.request()

    request = trio.run(leave_a_request)
    assert request.withdraw()
    semaphore.release()
    trio.run(semaphore.acquire)


def test_waiting_in_a_second_run_for_a_request_of_an_ended_run_is_refused() -> None:
    semaphore = Semaphore(0)

    async def leave_a_request() -> Any:
        return semaphore.request()

    request = trio.run(leave_a_request)
    with pytest.raises(RuntimeError, match="in use by another trio run"):
        trio.run(request.wait)


def run_as_guest_of_a_queue(main: Callable[[], Awaitable[str]]) -> str:
    todo: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()
    ended: list[outcome.Outcome[str]] = []
    trio.lowlevel.start_guest_run(
        main, run_sync_soon_threadsafe=todo.put, done_callback=ended.append
    )
    while not ended:
        todo.get()()
    return ended[0].unwrap()


def run_as_guest_of_asyncio(main: Callable[[], Awaitable[str]]) -> str:
    async def host() -> str:
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[outcome.Outcome[str]] = loop.create_future()
        trio.lowlevel.start_guest_run(
            main,
            run_sync_soon_threadsafe=loop.call_soon_threadsafe,
            done_callback=ended.set_result,
        )
        return (await ended).unwrap()

    return asyncio.run(host())


@pytest.mark.parametrize("run", [run_as_guest_of_a_queue, run_as_guest_of_asyncio])
def test_it_works_in_guest_mode(
    kind: Kind, run: Callable[[Callable[[], Awaitable[str]]], str]
) -> None:
    primitive = kind.make()

    async def main() -> str:
        kind.occupy(primitive)
        async with trio.open_nursery() as nursery:
            cancelled = await waiting(kind, primitive, nursery)
            cancelled.scope.cancel()
            await trio.testing.wait_all_tasks_blocked()
            granted = await waiting(kind, primitive, nursery)
            kind.free(primitive)
        return f"{cancelled.outcome}, {granted.outcome}"

    assert run(main) == "cancelled, granted"


async def test_a_worker_thread_can_go_through_trio_from_thread(lending: Kind) -> None:
    primitive = lending.make()
    lending.occupy(primitive)
    async with trio.open_nursery() as nursery:
        attempt = Attempt(lending, primitive)
        nursery.start_soon(attempt.run)
        await trio.testing.wait_all_tasks_blocked()
        if lending.taskless:
            await trio.to_thread.run_sync(trio.from_thread.run_sync, lending.free, primitive)
        else:
            lending.free(primitive)
    assert attempt.outcome == "granted"
