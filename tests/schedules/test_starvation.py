"""Tasks that come again and again: in every fair schedule each of them gets on eventually."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from functools import partial

import pytest
from trio.lowlevel import checkpoint

from structsync import CapacityLimiter, Lock, RWLock, Semaphore
from structsync.testing import ExploredRun, explore

from .sweeping import Size, swept, together

#: No task ever ends here, and tasks may not be taken for one another: that is what is asked.
ENDLESS = (Size(2, 1), Size(3, 0))


async def once(x: ExploredRun, held: AbstractAsyncContextManager[object]) -> None:
    """Take something and give it back; say when it is wanted, and when not any more."""
    x.request()
    try:
        await held.__aenter__()
    finally:  # who is cancelled does not want it either
        x.progress()
    try:
        await checkpoint()
    finally:
        await held.__aexit__(None, None, None)


@swept(least=20, liveness=True, sizes=ENDLESS)
async def test_every_task_gets_a_permit_eventually(x: ExploredRun, tasks: int) -> None:
    semaphore = Semaphore(1, max_value=1)

    async def worker() -> None:
        while True:
            await once(x, semaphore)

    await together(*[worker] * tasks)


@swept(least=20, liveness=True, sizes=ENDLESS)
async def test_a_large_claim_is_not_starved_by_small_ones(x: ExploredRun, tasks: int) -> None:
    semaphore = Semaphore(2, max_value=2)

    async def worker(claim: int) -> None:
        while True:
            await once(x, semaphore.permits(claim))

    await together(partial(worker, 2), *[partial(worker, 1)] * (tasks - 1))


@swept(least=20, liveness=True, sizes=ENDLESS)
async def test_every_task_owns_the_lock_eventually(x: ExploredRun, tasks: int) -> None:
    lock = Lock()

    async def worker() -> None:
        while True:
            await once(x, lock)

    await together(*[worker] * tasks)


@swept(least=20, liveness=True, sizes=ENDLESS)
async def test_every_task_gets_a_token_eventually(x: ExploredRun, tasks: int) -> None:
    limiter = CapacityLimiter(1)

    async def worker() -> None:
        while True:
            await once(x, limiter)

    await together(*[worker] * tasks)


async def readers_and_a_writer(x: ExploredRun, tasks: int, lock: RWLock) -> None:
    async def reader() -> None:
        while True:
            await once(x, lock.reading())

    async def writer() -> None:
        while True:
            await once(x, lock.writing())

    await together(writer, *[reader] * (tasks - 1))


@swept(least=20, liveness=True, sizes=ENDLESS)
async def test_readers_and_a_writer_enter_some_day(x: ExploredRun, tasks: int) -> None:
    await readers_and_a_writer(x, tasks, RWLock())


@swept(least=20, liveness=True, sizes=ENDLESS)
async def test_readers_and_a_writer_have_their_phases(x: ExploredRun, tasks: int) -> None:
    await readers_and_a_writer(x, tasks, RWLock(policy="phase"))


def test_readers_that_come_first_starve_a_writer() -> None:
    async def program(x: ExploredRun) -> None:
        await readers_and_a_writer(x, 3, RWLock(policy="readers"))

    failure = explore(program, cancels=0, liveness=True, executions=None).failure
    assert failure is not None
    assert failure.kind == "starvation"


@pytest.mark.parametrize("policy", ["eligible", "priority"])
def test_a_policy_that_says_so_starves_a_task(policy: str) -> None:
    """Two small claims can keep a large one out forever, if they may pass it."""

    async def program(x: ExploredRun) -> None:
        options = {"ageing": None} if policy == "priority" else {}
        semaphore = Semaphore(2, max_value=2, policy=policy, **options)  # type: ignore[arg-type]  # a name of a policy

        async def worker(claim: int, priority: int) -> None:
            while True:
                await once(x, semaphore.permits(claim, priority=priority))

        patient = 1 if policy == "priority" else 0
        await together(partial(worker, 2, patient), *[partial(worker, 1, 0)] * 2)

    failure = explore(program, cancels=0, liveness=True, executions=None).failure
    assert failure is not None
    assert failure.kind == "starvation"
