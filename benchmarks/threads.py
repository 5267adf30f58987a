"""Threads that use the primitives of a run, against those of ``threading``, which block a thread.

That is the comparison of Martins 2020: a synchronous interface on top of the asynchronous one. Each operation
is an exchange of messages with the thread of the run, so it costs a change of threads there and back. For
orientation: the same operation through ``trio.from_thread``, whose cost is that exchange alone.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from functools import partial
from time import perf_counter

import trio

import structsync
from structsync import threads

from ._measure import Case, Effort, ratio

Work = Callable[[int], None]


def semaphore_cases(effort: Effort) -> Iterator[Case]:
    """One thread takes a permit and releases it: no task waits."""
    yield from against(effort, held, held_by_threading, acquired_in_the_host)


def queue_cases(effort: Effort) -> Iterator[Case]:
    """One thread puts an item and gets it again."""
    yield from against(effort, through_a_buffer, through_a_queue, through_a_channel)


def condition_cases(effort: Effort) -> Iterator[Case]:
    """Two threads wake each other in turn."""
    times = effort.of(100, 10)
    reference = partial(timed, in_turn_by_threading, times)
    yield Case(
        "two threads / threading's", partial(ratio, partial(in_run, in_turn, times), reference)
    )


def against(effort: Effort, ours: Work, plain: Work, exchange: Work) -> Iterator[Case]:
    times = effort.of(300, 20)
    subject = partial(in_run, ours, times)
    yield Case("one thread / threading's", partial(ratio, subject, partial(timed, plain, times)))
    reference = partial(in_run, exchange, times)
    yield Case("one thread / through trio.from_thread", partial(ratio, subject, reference))


def timed(work: Work, times: int) -> float:
    """Return the seconds of a piece of work; not of this thread alone, because others take part."""
    began = perf_counter()
    work(times)
    return perf_counter() - began


def in_run(work: Work, times: int) -> float:
    """Return the seconds of that work in a worker thread."""
    return trio.run(trio.to_thread.run_sync, timed, work, times)


def held(times: int) -> None:
    semaphore = structsync.Semaphore(1)
    for _ in range(times):
        with threads.hold(semaphore):
            pass


def held_by_threading(times: int) -> None:
    semaphore = threading.Semaphore(1)
    for _ in range(times):
        with semaphore:
            pass


def acquired_in_the_host(times: int) -> None:
    semaphore = trio.Semaphore(1)
    for _ in range(times):
        trio.from_thread.run(semaphore.acquire)
        trio.from_thread.run_sync(semaphore.release)


def through_a_buffer(times: int) -> None:
    buffer = structsync.Buffer[int](1)
    for _ in range(times):
        threads.call(buffer.put, 0)
        threads.call(buffer.get)


def through_a_queue(times: int) -> None:
    items = queue.Queue[int](1)
    for _ in range(times):
        items.put(0)
        items.get()


def through_a_channel(times: int) -> None:
    sender, receiver = trio.open_memory_channel[int](1)
    for _ in range(times):
        trio.from_thread.run(sender.send, 0)
        trio.from_thread.run(receiver.receive)


def in_turn(times: int) -> None:
    condition, turns = structsync.Condition(), [0]
    token = trio.from_thread.run_sync(trio.lowlevel.current_trio_token)

    async def take_turn(mine: int) -> None:
        await condition.wait_for(lambda: turns[0] % 2 == mine)
        turns[0] += 1
        condition.notify_all()

    def play(mine: int) -> None:
        for _ in range(times):
            with threads.hold(condition, token=token):
                threads.call(take_turn, mine, token=token)

    both(play)


def in_turn_by_threading(times: int) -> None:
    condition, turns = threading.Condition(), [0]

    def play(mine: int) -> None:
        for _ in range(times):
            with condition:
                condition.wait_for(lambda: turns[0] % 2 == mine)
                turns[0] += 1
                condition.notify_all()

    both(play)


def both(play: Callable[[int], None]) -> None:
    other = threading.Thread(target=play, args=(1,))
    other.start()
    play(0)
    other.join()
