"""acquire_all and acquire_any: every schedule of a few tasks, any of them cancelled anywhere."""

from __future__ import annotations

from functools import partial

import pytest
import trio
from trio.lowlevel import checkpoint, current_task

from structsync import CapacityLimiter, Lock, Semaphore, acquire_all, acquire_any
from structsync.testing import ExploredRun, explore

from .sweeping import forgive, swept, together
from .test_starvation import ENDLESS, once


@swept(least=60, long=True)
async def test_philosophers_in_any_order_of_forks_all_eat(x: ExploredRun, tasks: int) -> None:
    """Every second one writes the right fork first; no task deadlocks, and neighbours never meet."""
    forks = [Lock() for _ in range(tasks)]

    async def dine(seat: int) -> None:
        left, right = forks[seat], forks[(seat + 1) % tasks]
        first, second = (left, right) if seat % 2 else (right, left)
        async with acquire_all(first.claim(), second.claim()):
            with (
                x.exclusive(f"fork {seat}"),
                x.exclusive(f"fork {(seat + 1) % tasks}"),
            ):
                await checkpoint()

    await together(*[partial(dine, seat) for seat in range(tasks)])


@swept(least=60)
async def test_groups_and_single_claims_share_the_queues(x: ExploredRun, tasks: int) -> None:
    lock, semaphore = Lock(), Semaphore(2, max_value=2)
    x.always(lambda: semaphore.value >= 0, "no more permits than there are")

    async def both() -> None:  # gives back the lock first, and then the permit
        async with acquire_all(semaphore.claim(), lock.claim()):
            with x.exclusive("the lock"):
                await checkpoint()

    async def one() -> None:
        async with semaphore.permits(2):
            await checkpoint()

    await together(one, *[both] * (tasks - 1))


@swept(least=60, twice=True)
async def test_a_choice_is_one_of_the_two(x: ExploredRun, tasks: int) -> None:
    lock, limiter = Lock(), CapacityLimiter(1)

    async def either() -> None:
        async with acquire_any(lock.claim(), limiter.claim()) as claim:
            name = "the lock" if claim.primitive is lock else "the token"
            me = current_task()
            if lock.statistics().owner is me and me in limiter.statistics().borrowers:
                x.fail("a task was granted both")
            with x.exclusive(name):
                await checkpoint()

    await together(*[either] * tasks)


@swept(least=60)
async def test_a_choice_leaves_the_other_queues_to_groups_behind_it(
    x: ExploredRun, tasks: int
) -> None:
    a, b = Lock(), Lock()

    async def either(first: Lock, second: Lock) -> None:
        async with acquire_any(first.claim(), second.claim()) as claim:
            with x.exclusive("a" if claim.primitive is a else "b"):
                await checkpoint()

    async def both() -> None:
        async with acquire_all(b.claim(), a.claim()):
            with x.exclusive("a"), x.exclusive("b"):
                await checkpoint()

    kinds = partial(either, a, b), both, partial(either, b, a), both
    await together(*kinds[:tasks])


@swept(least=60)
async def test_closing_one_takes_a_group_out_of_the_other_queue(x: ExploredRun, tasks: int) -> None:
    a, b = Lock(), Lock()
    closed = False
    x.always(lambda: not (closed and b.statistics().tasks_waiting), "no task waits then")

    async def both() -> None:
        try:
            async with acquire_all(a.claim(), b.claim()):
                await checkpoint()
        except trio.ClosedResourceError:
            if not closed:
                x.fail("told that it is closed before it was")

    async def one() -> None:
        async with a:
            await checkpoint()

    async def closer() -> None:
        nonlocal closed
        await checkpoint()
        b.close()
        closed = True

    await together(closer, *[(both, one)[place % 2] for place in range(tasks - 1)])


@swept(least=60)
async def test_an_owner_that_ends_breaks_the_groups_that_wait(x: ExploredRun, tasks: int) -> None:
    a, b = Lock(), Semaphore(1, max_value=1)

    async def quitter() -> None:
        await acquire_all(a.claim()).__aenter__()

    async def both() -> None:
        try:
            async with acquire_all(b.claim(), a.claim()):
                with x.exclusive("a"):
                    await checkpoint()
        except trio.BrokenResourceError:
            pass

    await together(quitter, *[both] * (tasks - 1))
    forgive(a)


@swept(least=20, liveness=True, sizes=ENDLESS)
async def test_every_philosopher_eats_again_and_again(x: ExploredRun, tasks: int) -> None:
    forks = [Lock() for _ in range(max(tasks, 2))]

    async def dine(seat: int) -> None:
        pair = forks[seat], forks[(seat + 1) % len(forks)]
        while True:
            await once(x, acquire_all(*[fork.claim() for fork in pair]))

    await together(*[partial(dine, seat) for seat in range(tasks)])


@swept(least=10, order="trio")
async def test_groups_are_safe_in_the_order_of_trio(x: ExploredRun, tasks: int) -> None:
    a, b = Lock(), Lock()

    async def both() -> None:
        for _ in range(2):
            async with acquire_all(a.claim(), b.claim()):
                with x.exclusive("both"):
                    await checkpoint()

    await together(*[both] * tasks)


def test_philosophers_who_take_one_fork_after_the_other_deadlock() -> None:
    async def program(x: ExploredRun) -> None:
        forks = [Lock() for _ in range(3)]

        async def dine(seat: int) -> None:
            async with forks[seat], forks[(seat + 1) % 3]:
                await checkpoint()

        await together(*[partial(dine, seat) for seat in range(3)])

    failure = explore(program, cancels=0, executions=None).failure
    assert failure is not None
    assert failure.kind == "deadlock"


@pytest.mark.parametrize(
    "seats", [3, *(pytest.param(seats, marks=pytest.mark.nightly) for seats in (4, 5))]
)
def test_all_philosophers_eat_in_every_schedule(seats: int) -> None:
    async def program(x: ExploredRun) -> None:
        forks = [Lock() for _ in range(seats)]

        async def dine(seat: int) -> None:
            async with acquire_all(forks[seat].claim(), forks[(seat + 1) % seats].claim()):
                await checkpoint()

        await together(*[partial(dine, seat) for seat in range(seats)])

    explore(program, cancels=0, executions=None, exhaustive=True).check()
