"""What has several queues, or workers: groups of claims, maps of locks and pools of tasks."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import asynccontextmanager
from typing import Any

import trio

from structsync import Job, LockMap, Semaphore, TaskPool, acquire_all, acquire_any, open_pool
from structsync.checking import action
from structsync.specs.groups import SIZES, WANTS, GroupsSpec
from structsync.specs.job_queue import (
    LEVELS,
    ROOM,
    WORKERS,
    JobQueueSpec,
    PoolSpec,
    PriorityJobQueueSpec,
)
from structsync.specs.lock_map import LockMapSpec

from .users import Users

# ==== Groups ====


class SeenGroups(GroupsSpec):
    def observed(self) -> Mapping[str, object]:
        return {
            "waiting": tuple(sorted(self.waiting())),
            "holding": self.held,
            "queues": tuple([len(one.queue) for one in self.core.arbiters]),
            "values": tuple([one.value for one in self.core.arbiters]),
        }


class OfGroups(Users):
    """Who wants several enters a block of all or any; who wants one thing one of a semaphore."""

    def __init__(self) -> None:
        super().__init__()
        self.semaphores = [Semaphore(size, max_value=size) for size in SIZES]
        self.held: list[tuple[str, int]] = []

    async def request(self, who: str) -> None:
        every, wanted = WANTS[who]
        claims = [self.semaphores[at].claim(n) for at, n in wanted]
        (at, n), *others = wanted
        block: Any = self.semaphores[at].permits(n)
        if others:
            block = acquire_all(*claims) if every else acquire_any(*claims)
        granted: list[Any] = []

        async def enter() -> None:
            granted.append(await block.__aenter__())

        if await self.passes(who, enter()):
            places = [at for at, _ in wanted]
            if not every:
                places = [places[claims.index(*granted)]]
            self.held += [(who, at) for at in places]
            await self.order(who)
            self.held = [one for one in self.held if one[0] != who]
            await block.__aexit__(None, None, None)

    def withdraw(self, who: str) -> None:
        self.cancel("request", who=who)

    def release(self, who: str) -> None:
        self.tell(who)

    def close(self, at: int) -> None:  # type: ignore[override]  # there are several
        self.semaphores[at].close()

    def state(self) -> Mapping[str, object]:
        return {
            "waiting": self.waits(),
            "holding": tuple(sorted(self.held)),
            "queues": tuple([one.statistics().tasks_waiting for one in self.semaphores]),
            "values": tuple([one.value for one in self.semaphores]),
        }


# ==== Maps of locks ====


class SeenLockMap(LockMapSpec):
    def observed(self) -> Mapping[str, object]:
        there = tuple(one for one in self.holding if one[1] not in self.broken)
        held = tuple(sorted(map(str, self.core.map.held)))
        return {"waiting": tuple(sorted(self.waiting())), "holding": there, "held": held}


class OfLockMap(Users):
    """No task keeps the lock of a key that it neither holds nor waits for."""

    def __init__(self) -> None:
        super().__init__()
        self.primitive = LockMap[str]()
        self.pairs: dict[str, str] = {}

    async def ask(self, who: str, key: str) -> None:
        self.pairs[who] = key
        lock = self.primitive[key]
        granted = await self.passes(who, lock.acquire())
        if granted and await self.holds(who) == "release":
            lock.release()

    def withdraw(self, pair: tuple[str, str]) -> None:
        self.cancel("ask", who=pair[0], key=pair[1])

    def release(self, pair: tuple[str, str]) -> None:
        self.tell(pair[0])

    def end(self, pair: tuple[str, str]) -> None:
        self.tell(pair[0], "disappear")

    def forget(self, key: str) -> None:
        """It is gone when no task has it any more."""

    def state(self) -> Mapping[str, object]:
        def pairs(names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
            return tuple((who, self.pairs[who]) for who in names)

        waiting, holding = pairs(self.waits()), pairs(self.holds_it())
        return {"waiting": waiting, "holding": holding, "held": tuple(sorted(self.primitive))}


# ==== Pools of tasks ====


class SeenJobs(PoolSpec):
    """Cancelling the pool cancels the jobs that run, and these end at once."""

    abstract = True

    # Later than at once, or little else would ever happen.

    @action(when=lambda spec: spec.core.held_back and spec.core.cause is None)
    def close(self) -> None:
        super().close()

    @action(when=lambda spec: len(spec.core.queue) > 1 and spec.core.cause != "cancelled")
    def cancel(self) -> None:
        super().cancel()
        for who in self.running:
            self.core.release(who)
        self.running = ()

    def observed(self) -> Mapping[str, object]:
        held_back = [who for who in self.in_queue() if who not in self.told]
        return {
            "held back": tuple(sorted(held_back)),
            "accepted": self.told,
            "running": self.running,
            "queue": len(self.core.queue),
        }


class SeenJobQueue(SeenJobs, JobQueueSpec):
    pass


class SeenPriorityJobQueue(SeenJobs, PriorityJobQueueSpec):
    pass


class OfJobs(Users):
    """Jobs that run until they are told to end; the first task that needs the pool opens it."""

    primitive: TaskPool | None

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.options = options
        self.primitive = None
        self.running: list[str] = []
        self.jobs: dict[str, Job[None]] = {}
        self.scopes: dict[str, trio.CancelScope] = {}

    async def run(self, who: str) -> None:
        self.jobs.pop(who, None)
        self.running.append(who)
        try:
            await self.order(who)
        finally:
            self.running.remove(who)

    async def submit(self, who: str) -> None:
        async with self.opened() as (pool, nursery):
            nursery.start_soon(self.ask, pool, who)

    async def ask(self, pool: TaskPool, who: str) -> None:
        level = LEVELS[who] if self.options else 0

        async def submit() -> None:
            job = await pool.submit(self.run, who, priority=level)
            if job.status == "queued":
                self.jobs[who] = job

        with trio.CancelScope() as self.scopes[who]:
            await self.passes(who, submit())

    @asynccontextmanager
    async def opened(self) -> Any:
        if self.primitive is None:
            async with open_pool(WORKERS, max_queued=ROOM, **self.options) as self.primitive:
                async with trio.open_nursery() as self.nursery:
                    yield self.primitive, self.nursery
                    await trio.sleep_forever()
        else:
            yield self.primitive, self.nursery

    def withdraw(self, who: str) -> None:
        if who in self.jobs:
            self.jobs.pop(who).cancel()
        else:
            self.scopes[who].cancel()

    def end_job(self, who: str) -> None:
        self.tell(who)

    async def close(self) -> None:  # type: ignore[override]  # it may have to be opened first
        async with self.opened() as (pool, _):
            pool.close()

    def cancel(self) -> None:  # type: ignore[override]  # the step is called so
        assert self.primitive is not None
        self.jobs.clear()
        self.primitive.cancel_scope.cancel()

    def state(self) -> Mapping[str, object]:
        pool = self.primitive
        assert pool is not None
        return {
            "held back": self.waits(),
            "accepted": tuple(sorted(self.jobs)),
            "running": tuple(sorted(self.running)),
            "queue": pool.statistics().tasks_waiting,
        }
