"""A pipeline of a thousand tasks, any of which is cancelled at any moment, and its books.

Producers put items into a buffer. Some tasks take them on to a second one, each item past a semaphore and
a lock or under both at once; others have them done by a pool, under a limiter and a read-write lock. A task
that is cancelled goes on with the item that it has in hand. When it is over, every item that was put has come
out once, and every permit is back.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from functools import partial
from itertools import count

import trio
from trio.lowlevel import checkpoint

import structsync
from structsync import acquire_all

PRODUCERS, FIRST, SECOND, WORKERS = 200, 400, 379, 20  # and the one that cancels


class Unaccounted(AssertionError):
    """Something is lost, or there twice."""


class Books:
    """Which items are on their way."""

    def __init__(self) -> None:
        self.numbers = count()
        self.on_the_way: set[int] = set()
        self.done = 0
        self.cancelled = 0

    def new(self) -> int:
        item = next(self.numbers)
        self.on_the_way.add(item)
        return item

    def came_out(self, item: int) -> None:
        if item not in self.on_the_way:
            raise Unaccounted(f"item {item} came out twice")
        self.on_the_way.remove(item)
        self.done += 1


class Pipeline:
    """The primitives, and what its tasks do with them."""

    def __init__(self, seed: int) -> None:
        self.books = Books()
        self.chance = random.Random(seed)
        self.first, self.second = structsync.Buffer[int](50), structsync.Buffer[int](20)
        self.semaphores = [structsync.Semaphore(3, max_value=3) for _ in range(10)]
        self.locks = [structsync.Lock() for _ in range(10)]
        self.limiter = structsync.CapacityLimiter(30)
        self.rwlock = structsync.RWLock()
        self.scopes: dict[object, trio.CancelScope] = {}
        self.goes_on = True

    # ==== what is done with one item; each may be cancelled anywhere, and is then done again ====

    async def move(self, item: int) -> None:
        semaphore, lock = self.chance.choice(self.semaphores), self.chance.choice(self.locks)
        if item % 3:
            # One after the other: who holds one of them must not wait behind a group that wants both.
            async with semaphore:
                await checkpoint()
            async with lock:
                await checkpoint()
        else:
            async with acquire_all(semaphore.claim(), lock.claim()):
                await checkpoint()
        await self.second.put(item)

    async def work(self, pool: structsync.TaskPool, item: int) -> None:
        async with self.limiter:
            async with self.rwlock.writing() if item % 50 == 0 else self.rwlock.reading():
                await checkpoint()
        if await pool.run(self.job, item) != item:
            raise Unaccounted(f"the job of item {item} returned something else")

    async def job(self, item: int) -> int:
        await checkpoint()
        return item

    # ==== the tasks ====

    async def produce(self) -> None:
        while self.goes_on:
            item = self.books.new()
            if not await self.until_done(partial(self.first.put, item)):
                self.books.on_the_way.remove(item)

    async def take_from(
        self, buffer: structsync.Buffer[int], use: Callable[[int], Awaitable[object]], last: bool
    ) -> None:
        found: list[int] = []

        async def get() -> None:
            found.append(await buffer.get())

        while True:
            try:
                await self.until_done(get)
            except trio.EndOfChannel:
                return
            if found:
                await self.until_done(partial(use, found[0]), gives_up=False)
                item = found.pop()
                if last:
                    self.books.came_out(item)

    async def until_done(
        self, call: Callable[[], Awaitable[object]], gives_up: bool = True
    ) -> bool:
        """Call it until it was not cancelled; return whether it was done in the end."""
        me = trio.lowlevel.current_task()
        while True:
            with trio.CancelScope() as self.scopes[me]:
                await call()
                return True
            self.books.cancelled += 1
            if gives_up and not self.goes_on:
                return False

    async def cancel_at_random(self) -> None:
        while self.goes_on:
            for scope in self.chance.sample(list(self.scopes.values()), 5):
                scope.cancel()
            await trio.sleep(self.chance.choice([0, 0, 0.0005]))

    # ==== the whole ====

    async def run(self, seconds: float, at_least: int) -> None:
        """Run it for that long, and until so many items came out and tasks were cancelled; then to its end."""
        async with structsync.open_pool(WORKERS, max_queued=100) as pool:
            async with trio.open_nursery() as last:
                work = partial(self.work, pool)
                for _ in range(SECOND):
                    last.start_soon(self.take_from, self.second, work, True)
                async with trio.open_nursery() as first:
                    for _ in range(FIRST):
                        first.start_soon(self.take_from, self.first, self.move, False)
                    async with trio.open_nursery() as source:
                        for _ in range(PRODUCERS):
                            source.start_soon(self.produce)
                        await checkpoint()
                        source.start_soon(self.cancel_at_random)
                        await trio.sleep(seconds)
                        while min(self.books.done, self.books.cancelled) < at_least:  # noqa: ASYNC110 - no task says so
                            await trio.sleep(0.01)
                        self.goes_on = False
                    self.first.complete()
                self.second.complete()
            self.check(pool)

    def check(self, pool: structsync.TaskPool) -> None:
        """Raise unless everything is accounted for."""
        if self.books.on_the_way:
            raise Unaccounted(f"{len(self.books.on_the_way)} items are lost")
        shared = [self.first, self.second, *self.semaphores, *self.locks, self.limiter, self.rwlock]
        for one in shared:
            if one.statistics().tasks_waiting:
                raise Unaccounted(f"a task waits: {one!r}")
        for semaphore in self.semaphores:
            if semaphore.value != semaphore.max_value:
                raise Unaccounted(f"permits are missing: {semaphore!r}")
        for lock in self.locks:
            if lock.locked():
                raise Unaccounted(f"no task released it: {lock!r}")
        if self.limiter.borrowed_tokens or self.rwlock.statistics().readers:
            raise Unaccounted(f"not released: {self.limiter!r}, {self.rwlock!r}")
        if pool.statistics().running or pool.statistics().tasks_waiting:
            raise Unaccounted(f"jobs are left: {pool!r}")
