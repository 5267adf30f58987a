"""A finalizer may run between any two instructions of a transition, and loses nothing, and spoils nothing.

A block that holds a permit, or a position in the queue, is abandoned in a cycle of references. The
collector finds it at the k-th instruction inside structsync, for k = 1, 2, ...; whatever k is, the
program ends as it does where the block is left in peace.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest
import trio
import trio.testing

import structsync
from structsync import (
    Buffer,
    CapacityLimiter,
    Condition,
    Lock,
    LockMap,
    Monitor,
    Request,
    RWLock,
    Semaphore,
)
from structsync._core.primitives.rwlock import WRITE, Access
from structsync._runtime.claim import Claim

from ..plants import queue  # noqa: TID252 - the one home of the faults
from .collecting import Abandoned, struck
from .kinds import Bridge, Kind
from .striking import Striker, every_call, every_instruction

pytestmark = pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")


@asynccontextmanager
async def putting(buffer: Buffer[str]) -> AsyncGenerator[None, None]:
    """Hold the room for an item, as others hold a permit."""
    await buffer.put("item")
    yield
    buffer.get_nowait()


@asynccontextmanager
async def getting(buffer: Buffer[str]) -> AsyncGenerator[None, None]:
    """Hold an item, as others hold a permit."""
    item = await buffer.get()
    yield
    buffer.put_nowait(item)


def with_one_item() -> Buffer[str]:
    buffer = Buffer[str](2)
    buffer.put_nowait("item")
    return buffer


def with_a_permit_that_never_comes(claim: Claim[Any]) -> Any:
    """A request that blocks those behind it, and holds nothing."""
    return structsync.acquire_all(Semaphore(0).claim(), claim).request()


async def served(
    make: Callable[[], Any],
    ask: Callable[[Any, int], Request[Any]],
    block: Callable[[Any], Any],
    striker: Striker,
    abandoned: Abandoned,
) -> tuple[list[str], object]:
    """Two tasks want what an abandoned block holds, and another such block queues between them."""
    primitive, granted, over = make(), list[str](), trio.Event()

    def observer(event: structsync.PrimitiveEvent) -> None:
        if event.kind == "granted" and event.primitive is primitive and event.task in wanting:
            # a task that holds an item, or room for one, is granted its return too
            granted.extend({wanting[event.task]}.difference(granted[-1:]))

    async def own() -> None:
        abandoned.add(ask(primitive, 0))
        await over.wait()  # for a lock breaks if its owner ends

    async def want(name: str) -> None:
        wanting[trio.lowlevel.current_task()] = name
        async with block(primitive):
            await trio.lowlevel.checkpoint()

    wanting: dict[trio.lowlevel.Task | None, str] = {}
    with trio.fail_after(1), structsync.observe(observer):
        async with trio.open_nursery() as nursery:
            for task in (own, partial(want, "a")):
                nursery.start_soon(task)
                await trio.testing.wait_all_tasks_blocked()
            abandoned.add(ask(primitive, 1))
            with every_instruction(striker):
                nursery.start_soon(want, "b")
                await trio.testing.wait_all_tasks_blocked()
                for _ in range(9):
                    await trio.lowlevel.checkpoint()
                with trio.CancelScope() as scope:
                    scope.cancel()
                    async with block(primitive):
                        pass
            abandoned.collect()
            over.set()
    return granted, primitive.statistics()


Ask = Callable[[Any, int], Any]


def claims(*claims: Any) -> Ask:
    """Ask for the first of two claims, and later for the other."""
    return lambda p, number: p._request(claims[number])


def tasks(claim: Callable[[Any], Any] = lambda claimant: claimant) -> Ask:
    """Ask for the task, and later for no task that there is."""
    return lambda p, number: p._request(
        claim("no task" if number else trio.lowlevel.current_task())
    )


def to_write(claimant: Any) -> Access:
    return Access(WRITE, claimant)


SUBJECTS: dict[str, tuple[Callable[[], Any], Ask, Callable[[Any], Any]]]
SUBJECTS = {
    "semaphore": (lambda: Semaphore(1, max_value=1), claims(1, 1), lambda p: p),
    "priority semaphore": (
        lambda: Semaphore(1, max_value=1, policy="priority"),
        claims(1, 1),
        lambda p: p,
    ),
    "eligible semaphore": (
        lambda: Semaphore(1, max_value=1, policy="eligible"),
        claims(1, 1),
        lambda p: p,
    ),
    "three permits": (lambda: Semaphore(3, max_value=3), claims(3, 1), lambda p: p.permits(2)),
    "lock": (Lock, tasks(), lambda p: p),
    "lock of a map": (lambda: LockMap[str]()["key"], tasks(), lambda p: p),
    "read-write lock": (RWLock, tasks(to_write), lambda p: p.writing()),
    "phase-fair lock": (lambda: RWLock(policy="phase"), tasks(to_write), lambda p: p.reading()),
    "limiter": (lambda: CapacityLimiter(1), claims("one", "other"), lambda p: p),
    "user-written bridge": (Bridge, claims("west", "west"), lambda p: p._held("east")),
    "all of a group": (
        lambda: Semaphore(1, max_value=1),
        claims(1, 1),
        lambda p: structsync.acquire_all(Semaphore(1).claim(), p.claim()),
    ),
    "any of a group": (
        lambda: Semaphore(1, max_value=1),
        claims(1, 1),
        lambda p: structsync.acquire_any(Semaphore(0).claim(), p.claim()),
    ),
    "putting": (
        lambda: Buffer[str](1),
        lambda p, _: with_a_permit_that_never_comes(p.put_claim("never")),
        putting,
    ),
    "getting": (
        with_one_item,
        lambda p, _: with_a_permit_that_never_comes(p.get_claim()),
        getting,
    ),
}


def sweep(program: Callable[[Striker, Abandoned], Any], step: int) -> int:
    """Return how many instructions the program has; wherever it is struck, it ends as it does in peace."""
    undisturbed = struck(program, 0)[1]
    assert undisturbed[0] == ["a", "b"]
    k, goes_on = 1, True
    while goes_on:
        goes_on, ended = struck(program, k)
        assert ended == undisturbed, f"struck at instruction {k}"
        k += step
    return k


@pytest.mark.unmeasured
@pytest.mark.parametrize("name", SUBJECTS)
def test_a_block_that_is_collected_in_a_transition_loses_nothing(name: str) -> None:
    # a sweep that strikes nowhere would be green by emptiness
    assert sweep(partial(served, *SUBJECTS[name]), 13) > 300


@pytest.mark.nightly
@pytest.mark.parametrize("name", SUBJECTS)
def test_a_block_that_is_collected_at_any_instruction_loses_nothing(name: str) -> None:
    assert sweep(partial(served, *SUBJECTS[name]), 1) > 300


async def left(
    make: Callable[[], Any],
    ask: Callable[[Any, int], Request[Any]],
    block: Callable[[Any], Any],
    striker: Striker,
    abandoned: Abandoned,
) -> object:
    """A task leaves a request that pends, while an abandoned block has what it wants."""
    primitive = make()
    abandoned.add(ask(primitive, 0))
    request = ask(primitive, 1)
    with every_call(striker):
        request.close()
    abandoned.collect()
    with trio.fail_after(1):
        async with block(primitive):
            pass
    return primitive.statistics()


@pytest.mark.parametrize("name", SUBJECTS)
def test_a_request_that_is_granted_while_it_is_left_is_released(name: str) -> None:
    program = partial(left, *SUBJECTS[name])
    undisturbed = struck(program, 0)[1]
    k, goes_on = 1, True
    while goes_on:
        goes_on, ended = struck(program, k)
        assert ended == undisturbed, f"struck at function {k}"
        k += 1
    assert k > 5


async def used(kind: Kind, striker: Striker, abandoned: Abandoned) -> tuple[list[str], object]:
    """One task waits, another gives up; meanwhile a block on something else is collected."""
    primitive, ended, other = kind.make(), list[str](), Semaphore(1, max_value=1)
    abandoned.add(other.request())

    async def want_the_other() -> None:
        async with other:
            pass

    async def want() -> None:
        await kind.take(primitive)
        kind.give(primitive)
        ended.append("a")

    with trio.fail_after(1):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(want_the_other)
            await trio.testing.wait_all_tasks_blocked()
            with every_instruction(striker):
                kind.occupy(primitive)
                nursery.start_soon(want)
                await trio.testing.wait_all_tasks_blocked()
                if kind.crowd:
                    async with trio.open_nursery() as giving_up:
                        giving_up.start_soon(kind.take, primitive)
                        await trio.testing.wait_all_tasks_blocked()
                        giving_up.cancel_scope.cancel()
                kind.free(primitive)
                await trio.testing.wait_all_tasks_blocked()
            abandoned.collect()
    ended.append("b" if other.value else "a permit is lost")
    return ended, primitive.statistics()


@pytest.mark.slow  # the same on each Python as the sweep above, of which each primitive has its share here
def test_no_transition_of_any_primitive_loses_what_is_collected_meanwhile(kind: Kind) -> None:
    assert sweep(partial(used, kind), 13) > 60


@pytest.mark.slow
@pytest.mark.parametrize("name", SUBJECTS)
def test_a_block_that_is_left_in_the_middle_of_a_step_is_seen(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue.what_comes_in_the_middle_of_a_step_is_done_at_once(monkeypatch)
    with pytest.raises((AssertionError, trio.TooSlowError, ExceptionGroup)):
        # nearer than the sweeps above: a semaphore is half way at few instructions
        sweep(partial(served, *SUBJECTS[name]), 7)


@pytest.mark.slow
def test_a_block_that_is_forgotten_is_seen(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    queue.what_comes_in_the_middle_of_a_step_is_dropped(monkeypatch)
    with pytest.raises((AssertionError, trio.TooSlowError)):
        sweep(partial(used, kind), 13)


# ==== while code of the user runs ====


def collected(request: Request[Any]) -> None:
    """Abandon a block, and have the collector find it."""
    abandoned = Abandoned()
    abandoned.add(request)
    del request
    abandoned.collect()


async def test_what_is_collected_inside_a_guard_is_released_right_after_the_step() -> None:
    semaphore, monitor = Semaphore(1, max_value=1), Monitor()
    requests = [semaphore.request()]

    def guard() -> bool:
        if requests:
            collected(requests.pop())
        return True

    await monitor.entry(lambda: None, guard)()
    assert semaphore.value == 1


async def test_what_is_collected_inside_a_predicate_is_released_right_after_it() -> None:
    semaphore, condition = Semaphore(1, max_value=1), Condition()
    requests = [semaphore.request()]

    def predicate() -> bool:
        collected(requests.pop())
        return True

    async with condition:
        await condition.wait_for(predicate)
        assert semaphore.value == 1


async def test_what_is_collected_inside_an_observer_is_released_right_after_the_step() -> None:
    semaphore, other, values = Semaphore(1, max_value=1), Semaphore(1), list[int]()
    requests = [semaphore.request()]

    def observer(event: structsync.PrimitiveEvent) -> None:
        if requests and event.primitive is other:
            collected(requests.pop())
            values.append(semaphore.value)

    with structsync.observe(observer):
        other.acquire_nowait()
    assert (values, semaphore.value) == ([0], 1)


async def test_what_a_collected_synchronizer_disabled_is_let_in_right_after_the_step() -> None:
    synchronizer, monitor, other = structsync.Synchronizer(), Monitor(), Semaphore(1)
    ran: list[str] = []
    work = monitor.entry(lambda: ran.append("work"))
    await synchronizer.__aenter__()
    synchronizer.disable(work, when=lambda: True)

    def block() -> Iterator[None]:
        try:
            yield
        finally:
            _ = synchronizer.__aexit__(None, None, None)

    blocks = [block()]
    next(blocks[0])
    async with trio.open_nursery() as nursery:
        nursery.start_soon(work)
        await trio.testing.wait_all_tasks_blocked()
        with structsync.observe(lambda event: blocks.clear()):
            other.acquire_nowait()
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert ran == ["work"]
