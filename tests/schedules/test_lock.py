"""Lock: every schedule of a few tasks, and any of them cancelled anywhere."""

from __future__ import annotations

from functools import partial

import trio
from trio.lowlevel import Task, checkpoint, current_task

from structsync import Lock, PrimitiveEvent, Request, RequestWithdrawn, observe
from structsync.testing import ExploredRun

from .closing import closed_meanwhile
from .sweeping import SIZES, TIMED, forgive, swept, together


@swept(least=40, twice=True)
async def test_one_task_owns_the_lock(x: ExploredRun, tasks: int) -> None:
    lock = Lock()

    async def worker() -> None:
        async with lock:
            with x.exclusive("the lock"):
                await checkpoint()

    await together(*[worker] * tasks)


@swept(least=20)
async def test_the_owner_is_the_task_that_got_it_last(x: ExploredRun, tasks: int) -> None:
    lock = Lock()

    async def worker() -> None:
        others = lock.statistics().tasks_waiting
        try:
            lock.acquire_nowait()
        except trio.WouldBlock:
            await lock.acquire()
        else:
            if others:
                x.fail("a task that waited was passed")
        try:
            await checkpoint()
        finally:
            if lock.statistics().owner is not current_task():
                x.fail("the lock went to another task meanwhile")
            lock.release()

    await together(*[worker] * tasks)


@swept(least=120)
async def test_a_request_is_a_place_in_queue_and_then_the_lock(x: ExploredRun, tasks: int) -> None:
    lock = Lock()

    async def worker() -> None:
        with lock.request() as request:
            await checkpoint()
            await request.wait()
            with x.exclusive("the lock"):
                await checkpoint()

    await together(*[worker] * tasks)


@swept(least=80)
async def test_a_request_can_be_withdrawn_by_another_task(x: ExploredRun, tasks: int) -> None:
    lock = Lock()
    requests: list[Request[Task]] = []

    async def worker() -> None:
        with lock.request() as request:
            requests.append(request)
            try:
                await request.wait()
            except RequestWithdrawn:
                return
            with x.exclusive("the lock"):
                await checkpoint()

    async def withdrawer() -> None:
        await checkpoint()
        for request in reversed(requests):
            request.withdraw()

    await together(withdrawer, *[worker] * (tasks - 1))


@swept(least=120)
async def test_a_request_left_behind_ends_with_its_task(x: ExploredRun, tasks: int) -> None:
    """Its maker ends: while it waits in the queue it is withdrawn, once it is granted the lock breaks."""
    lock = Lock()
    broken = False

    async def forgetful() -> None:
        nonlocal broken
        request = lock.request()
        try:
            await checkpoint()
        finally:
            broken = request.status == "granted"

    async def worker() -> None:
        try:
            async with lock:
                with x.exclusive("the lock"):
                    await checkpoint()
        except trio.BrokenResourceError:
            if not broken:
                x.fail("told that the lock is broken, but it is not")

    await together(forgetful, *[worker] * (tasks - 1))
    forgive(lock)


@swept(least=130)
async def test_an_owner_that_ends_breaks_the_lock_for_every_task(
    x: ExploredRun, tasks: int
) -> None:
    lock = Lock()
    gone = False
    x.always(lambda: not (gone and lock.statistics().tasks_waiting), "no task waits for the dead")

    async def quitter() -> None:
        nonlocal gone
        await lock.acquire()
        try:
            await checkpoint()
        finally:
            gone = True

    async def worker() -> None:
        was_gone = gone
        try:
            async with lock:
                if was_gone:
                    x.fail("the lock was taken after its owner had ended with it")
                with x.exclusive("the lock"):
                    await checkpoint()
        except trio.BrokenResourceError:
            pass

    await together(quitter, *[worker] * (tasks - 1))
    forgive(lock)


# The semaphore's twin goes on to four tasks: the policies and the budget are the same code.
@swept(least=210, sizes=SIZES[:1])
async def test_the_first_priority_is_served_first(x: ExploredRun, tasks: int) -> None:
    lock = Lock(policy="priority", ageing=None)
    priorities: dict[Task | None, int] = {}
    waiting: dict[Task | None, int] = {}

    def note(event: PrimitiveEvent) -> None:
        if event.kind == "requested":
            waiting[event.task] = priorities[event.task]
        elif event.kind in ("granted", "withdrawn"):
            priority = waiting.pop(event.task)
            if event.kind == "granted" and priority > min(waiting.values(), default=priority):
                x.fail(f"priority {priority} was served before {min(waiting.values())}")

    async def worker(priority: int) -> None:
        priorities[current_task()] = priority
        await lock.acquire(priority=priority)
        try:
            await checkpoint()
        finally:
            lock.release()

    with observe(note):
        await together(*[partial(worker, place % 2) for place in range(tasks)])


@swept(least=19)
async def test_closing_sends_every_waiting_task_away(x: ExploredRun, tasks: int) -> None:
    lock = Lock()

    async def use() -> None:
        async with lock:
            await checkpoint()

    await closed_meanwhile(x, lock, *[use] * (tasks - 1))


# The semaphore's twin goes on to four tasks: the policies and the budget are the same code.
@swept(least=160, sizes=SIZES[:1])
async def test_a_budget_lets_no_task_in_twice(x: ExploredRun, tasks: int) -> None:
    lock = Lock(checkpoint="budget")

    async def worker() -> None:
        for _ in range(2):
            async with lock:
                with x.exclusive("the lock"):
                    await checkpoint()

    await together(*[worker] * tasks)


# Time is explored here: each deadline may fire before its time, which is a cancellation, too.
@swept(least=120, cancel="scopes", clock="explore", sizes=TIMED, long=True)
async def test_who_is_out_of_time_does_not_own_the_lock(x: ExploredRun, tasks: int) -> None:
    lock = Lock()

    async def worker(seconds: int) -> None:
        with trio.move_on_after(seconds):
            async with lock:
                with x.exclusive("the lock"):
                    await checkpoint()

    await together(*[partial(worker, place + 1) for place in range(tasks)])


# What today's scheduler can do is a part of what any scheduler could; a few programs make sure that
# the part is explored as well.
@swept(least=20, order="trio")
async def test_the_lock_is_safe_in_the_order_of_trio(x: ExploredRun, tasks: int) -> None:
    lock = Lock()

    async def worker() -> None:
        for _ in range(2):
            async with lock:
                with x.exclusive("the lock"):
                    await checkpoint()

    await together(*[worker] * tasks)
