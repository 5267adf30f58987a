"""What one more item costs among many, against few: no transition over n items is quadratic.

Each figure is the cost per item at one size divided by that at an eighth of it: linear gives 1,
n log n about 1.3, quadratic 8. On the clock is the transition alone, or the steps that the row names;
what it takes to get there is not.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from time import thread_time
from typing import TypeAlias

import trio
from trio.testing import wait_all_tasks_blocked

from structsync import (
    Buffer,
    Lock,
    ReceivingEnd,
    Semaphore,
    SendingEnd,
    acquire_all,
    open_channel,
)

from ._measure import Case, Effort, ratio

Program: TypeAlias = Callable[[int], Awaitable[float]]  # the seconds of a transition over n items

ITEMS = 8_000
TIMES_FEWER = 8


def case(name: str, program: Program, effort: Effort, items: int = ITEMS) -> Case:
    """Compare the cost of each of so many items with that of each of an eighth of them."""
    many = effort.of(items, 16)
    few = many // TIMES_FEWER

    def each_of_few() -> float:
        return sum(trio.run(program, few) for _ in range(TIMES_FEWER))

    return Case(name, partial(ratio, partial(trio.run, program, many), each_of_few, pairs=1))


def release_cases(effort: Effort) -> Iterator[Case]:
    """One release under "eligible", which grants n small claims that stand behind n large ones."""
    yield case("release(n) past n large", release_past_large, effort)


def exit_cases(effort: Effort) -> Iterator[Case]:
    """Tasks that end while their ``lock.request()`` is pending."""
    yield case("n tasks, a request each", exits_with_requests, effort)
    yield case("a task, n locks", exit_with_many_requests, effort)


def group_cases(effort: Effort) -> Iterator[Case]:
    """The permits that one group waits for are released one after the other."""
    yield case("first claim first", partial(permits_return, False), effort)
    yield case("last claim first", partial(permits_return, True), effort)


def close_cases(effort: Effort) -> Iterator[Case]:
    """Closing a semaphore that n groups wait for, each of them for another one too."""
    yield case("the same two", partial(closing, True), effort)
    yield case("each another one", partial(closing, False), effort)
    yield case("it lets in n behind", closing_lets_in, effort)


def buffer_cases(effort: Effort) -> Iterator[Case]:
    """What n tasks of a buffer leave one after the other: the ends of its channel, and the items in their hands."""
    yield case("ends beside n waiters", ends_closed, effort)
    yield case("items put back", items_put_back, effort)


async def release_past_large(n: int) -> float:
    semaphore = Semaphore(0, policy="eligible")
    large = [semaphore.request(n + 1) for _ in range(n)]
    small = [semaphore.request() for _ in range(n)]
    began = thread_time()
    semaphore.release(n)
    spent = thread_time() - began
    assert small[-1].status == "granted"
    assert large[0].status == "pending"
    return spent


async def exits_with_requests(n: int) -> float:
    lock, may_end = Lock(), trio.Event()

    async def member() -> None:
        lock.request()
        await may_end.wait()

    async with lock:
        async with trio.open_nursery() as nursery:
            for _ in range(n):
                nursery.start_soon(member)
            await wait_all_tasks_blocked()
            assert lock.statistics().tasks_waiting == n
            began = thread_time()
            may_end.set()
        spent = thread_time() - began
        assert lock.statistics().tasks_waiting == 0
    return spent


async def exit_with_many_requests(n: int) -> float:
    locks = [Lock() for _ in range(n)]
    for lock in locks:
        await lock.acquire()

    began = 0.0

    async def member() -> None:
        nonlocal began
        for lock in locks:
            lock.request()
        began = thread_time()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(member)
    spent = thread_time() - began
    assert locks[-1].statistics().tasks_waiting == 0
    return spent


async def permits_return(last_first: bool, n: int) -> float:
    semaphores = [Semaphore(0) for _ in range(n)]
    entered = trio.Event()

    async def member() -> None:
        async with acquire_all(*[each.claim() for each in semaphores]):
            entered.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(member)
        await wait_all_tasks_blocked()
        began = thread_time()
        for each in reversed(semaphores) if last_first else semaphores:
            each.release()
        spent = thread_time() - began
    assert entered.is_set()
    return spent


async def closing(same: bool, n: int) -> float:
    other = Semaphore(0)
    others = [other] * n if same else [Semaphore(0) for _ in range(n)]
    async with trio.open_nursery() as nursery:
        return await closed_under(others, nursery)


async def closing_lets_in(n: int) -> float:
    """Behind each group, where it waits for another semaphore, stands a task that would fit."""
    others = [Semaphore(1) for _ in range(n)]
    async with trio.open_nursery() as nursery:
        spent = await closed_under(others, nursery, others)
    assert not any(each.value for each in others)
    return spent


async def closed_under(
    others: Sequence[Semaphore], nursery: trio.Nursery, behind: Sequence[Semaphore] = ()
) -> float:
    """Return the seconds of closing a semaphore that a group claims with each of the others."""
    closed = Semaphore(0)
    told = 0

    async def member(beside: Semaphore) -> None:
        nonlocal told
        try:
            async with acquire_all(closed.claim(), beside.claim()):
                pass
        except trio.ClosedResourceError:
            told += 1

    for each in others:
        nursery.start_soon(member, each)
    await wait_all_tasks_blocked()
    for each in behind:
        nursery.start_soon(each.acquire)
    await wait_all_tasks_blocked()
    began = thread_time()
    closed.close()
    spent = thread_time() - began
    await wait_all_tasks_blocked()
    assert told == len(others)
    return spent


async def ends_closed(n: int) -> float:
    ends: tuple[SendingEnd[int], ReceivingEnd[int]] = open_channel(1)
    sender, receiver = ends
    sender.send_nowait(0)
    idle = [sender.clone() for _ in range(n)]
    async with trio.open_nursery() as nursery:
        for number in range(n):
            nursery.start_soon(sender.send, number)
        await wait_all_tasks_blocked()
        began = thread_time()
        for each in idle:
            each.close()
        spent = thread_time() - began
        assert receiver.statistics().tasks_waiting == n
        nursery.cancel_scope.cancel()
    return spent


async def items_put_back(n: int) -> float:
    """The oldest first, so that each has all that were put back before it ahead of itself."""
    buffer = Buffer[int](n)
    blocks = []
    for number in range(n):
        buffer.put_nowait(number)
        blocks.append(buffer.item())
        await blocks[-1].__aenter__()
    error = ValueError()
    began = thread_time()
    for block in blocks:
        await block.__aexit__(ValueError, error, None)
    spent = thread_time() - began
    assert buffer.get_nowait() == 0
    return spent
