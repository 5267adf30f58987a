"""A grant and an interrupt at the same moment, with real threads: the race of Martins 2020, many times over.

Whichever comes first wins, and the loser leaves no trace: a thread that holds is the only one, a thread that
was interrupted holds nothing, and no permit is lost or made.
"""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable
from functools import partial

import outcome
import pytest
import trio
import trio.testing

import structsync
from structsync import threads
from structsync._runtime.errand import Interrupted
from structsync._runtime.thread_blocks import Block, Enter, Leave
from tests.thread_runs import Foreign

ROUNDS = [200, pytest.param(10_000, marks=pytest.mark.nightly)]


def limit_of(rounds: int) -> float:
    """Return after how many seconds the threads wait forever; on a busy machine a round takes 2 ms."""
    return 20 + rounds / 50


class Guarded:
    """A semaphore of one permit, and what became of those who wanted it."""

    def __init__(self) -> None:
        self.semaphore = structsync.Semaphore(1, max_value=1)
        self.outcomes: Counter[str] = Counter()
        self.inside = threading.Lock()

    def hold(self, timeout: float | None, token: trio.lowlevel.TrioToken | None) -> None:
        try:
            with threads.hold(self.semaphore, timeout=timeout, token=token):
                assert self.inside.acquire(blocking=False), "two threads hold one permit"
                self.inside.release()
            self.outcomes["held"] += 1
        except TimeoutError:
            self.outcomes["interrupted"] += 1
        except trio.Cancelled:
            self.outcomes["interrupted"] += 1
            raise

    def check(self, rounds: int) -> None:
        assert self.semaphore.value == 1
        assert self.semaphore.statistics().tasks_waiting == 0
        assert self.outcomes.total() == rounds
        assert min(self.outcomes["held"], self.outcomes["interrupted"]) > 0


@pytest.mark.parametrize("rounds", ROUNDS)
async def test_a_grant_against_a_timeout(rounds: int, mock_clock: trio.testing.MockClock) -> None:
    """Its time is up in the step of the release, before it or after it, without waiting for that."""
    guarded, chance = Guarded(), random.Random(0)
    token = trio.lowlevel.current_trio_token()
    done = threading.Event()

    def waits() -> None:
        for _ in range(rounds):
            guarded.hold(1, token)
        done.set()

    async with trio.open_nursery() as nursery:
        await guarded.semaphore.acquire()
        nursery.start_soon(Foreign(waits).wait, limit_of(rounds))
        while not done.is_set():
            if guarded.semaphore.statistics().tasks_waiting:
                both: list[Callable[[], object]] = [
                    guarded.semaphore.release,
                    partial(mock_clock.jump, 1),
                ]
                chance.shuffle(both)
                for one in both:
                    one()
                    for _ in range(chance.choice((0, 0, 1, 2))):
                        await trio.lowlevel.checkpoint()
                await guarded.semaphore.acquire()
            await trio.lowlevel.checkpoint()
        guarded.semaphore.release()
    guarded.check(rounds)


@pytest.mark.parametrize("rounds", ROUNDS)
async def test_a_grant_against_a_cancellation_in_the_same_step(rounds: int) -> None:
    guarded, chance = Guarded(), random.Random(0)

    async def waits(scope: trio.CancelScope) -> None:
        with scope:
            await trio.to_thread.run_sync(guarded.hold, None, None)

    for _ in range(rounds):
        scope = trio.CancelScope()
        both: list[Callable[[], object]] = [guarded.semaphore.release, scope.cancel]
        async with trio.open_nursery() as nursery:
            guarded.semaphore.acquire_nowait()
            nursery.start_soon(waits, scope)
            while not guarded.semaphore.statistics().tasks_waiting:
                await trio.lowlevel.checkpoint()
            chance.shuffle(both)
            for one in both:
                one()
    guarded.check(rounds)


@pytest.mark.parametrize("rounds", ROUNDS)
async def test_a_grant_against_an_interrupt_each_from_a_thread_of_its_own(rounds: int) -> None:
    guarded = Guarded()
    token = trio.lowlevel.current_trio_token()
    semaphore = guarded.semaphore
    gate, errands = threading.Barrier(3), list[Enter]()

    def release() -> None:
        for _ in range(rounds):
            gate.wait()
            token.run_sync_soon(semaphore.release)

    def interrupt() -> None:  # as Ctrl-C does in a main thread that waits
        for _ in range(rounds):
            gate.wait()
            token.run_sync_soon(errands[-1]._interrupt_from_thread)

    def hold() -> None:
        for _ in range(rounds):
            threads.call(semaphore.acquire, token=token)
            block = Block(semaphore, token)
            errands.append(Enter(block, None))
            token.run_sync_soon(errands[-1].accept)
            gate.wait()
            answer = errands[-1]._reply.get()
            if isinstance(answer, outcome.Value):
                guarded.outcomes["held"] += 1
                Leave(block, None).ask(token)
            else:
                with pytest.raises(Interrupted):
                    answer.unwrap()
                guarded.outcomes["interrupted"] += 1
                threads.call(trio.testing.wait_all_tasks_blocked, token=token)

    async with trio.open_nursery() as nursery:
        for thread in [Foreign(fn) for fn in (release, interrupt, hold)]:
            nursery.start_soon(thread.wait, limit_of(rounds))
    guarded.check(rounds)
