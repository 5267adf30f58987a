"""Semaphore: every schedule of a few tasks, and any of them cancelled anywhere."""

from __future__ import annotations

from functools import partial

import trio
from trio.lowlevel import Task, checkpoint, current_task

from structsync import PrimitiveEvent, Request, RequestWithdrawn, Semaphore, observe
from structsync.testing import ExploredRun

from .closing import closed_meanwhile
from .sweeping import TIMED, swept, together


@swept(least=60, twice=True)
async def test_no_more_than_two_hold_a_permit_of_two(x: ExploredRun, tasks: int) -> None:
    semaphore = Semaphore(2, max_value=2)

    async def worker() -> None:
        async with semaphore:
            with x.exclusive("permits", limit=2):
                await checkpoint()

    await together(*[worker] * tasks)


@swept(least=130)
async def test_who_takes_several_permits_takes_all_or_none(x: ExploredRun, tasks: int) -> None:
    semaphore = Semaphore(3, max_value=3)
    held = 0
    x.always(lambda: held + semaphore.value <= 3, "no permit is there twice")

    async def worker(claim: int) -> None:
        nonlocal held
        async with semaphore.permits(claim):
            held += claim
            try:
                await checkpoint()
            finally:
                held -= claim

    await together(*[partial(worker, 1 if place % 3 else 3) for place in range(tasks)])


@swept(least=150)
async def test_resizing_changes_how_many_permits_there_are(x: ExploredRun, tasks: int) -> None:
    semaphore = Semaphore(1, max_value=1)
    held = 0
    x.always(lambda: held + semaphore.value <= (semaphore.max_value or 0), "no permit too many")

    async def worker() -> None:
        nonlocal held
        async with semaphore:
            held += 1
            try:
                await checkpoint()
            finally:
                held -= 1

    async def resizer() -> None:
        try:
            semaphore.resize(2)
            await checkpoint()
            semaphore.resize(0)
            await checkpoint()
        finally:
            semaphore.resize(1)

    await together(resizer, *[worker] * (tasks - 1))


@swept(least=19)
async def test_closing_sends_every_waiting_task_away(x: ExploredRun, tasks: int) -> None:
    semaphore = Semaphore(1, max_value=1)

    async def use() -> None:
        async with semaphore:
            await checkpoint()

    await closed_meanwhile(x, semaphore, *[use] * (tasks - 1))


@swept(least=120)
async def test_a_request_is_a_place_in_queue_and_then_a_permit(x: ExploredRun, tasks: int) -> None:
    semaphore = Semaphore(1, max_value=1)

    async def worker() -> None:
        with semaphore.request() as request:
            await checkpoint()
            await request.wait()
            with x.exclusive("the permit"):
                await checkpoint()

    await together(*[worker] * tasks)


@swept(least=80)
async def test_a_request_can_be_withdrawn_by_another_task(x: ExploredRun, tasks: int) -> None:
    semaphore = Semaphore(1, max_value=1)
    requests: list[Request[int]] = []

    async def worker() -> None:
        with semaphore.request() as request:
            requests.append(request)
            try:
                await request.wait()
            except RequestWithdrawn:
                return
            with x.exclusive("the permit"):
                await checkpoint()

    async def withdrawer() -> None:
        await checkpoint()
        for request in reversed(requests):
            was, withdrawn = request.status, request.withdraw()
            if withdrawn is not (was == "pending"):
                x.fail(f"a request that was {was}: withdraw() says {withdrawn}")

    await together(withdrawer, *[worker] * (tasks - 1))


# Here a cancellation does not end the task: it is the wait that is cancelled, and begun again.
@swept(least=100, cancel="scopes", long=True)
async def test_a_cancelled_wait_for_a_request_keeps_its_place(x: ExploredRun, tasks: int) -> None:
    semaphore = Semaphore(1, max_value=1)

    async def worker() -> None:
        with semaphore.request() as request:
            with trio.CancelScope() as scope:
                await request.wait()
            if scope.cancelled_caught:
                await request.wait()
            with x.exclusive("the permit"):
                await checkpoint()

    await together(*[worker] * tasks)


@swept(least=210)
async def test_the_first_priority_is_served_first(x: ExploredRun, tasks: int) -> None:
    semaphore = Semaphore(1, max_value=1, policy="priority", ageing=None)
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
        async with semaphore.permits(priority=priority):
            await checkpoint()

    with observe(note):
        await together(*[partial(worker, place % 2) for place in range(tasks)])


@swept(least=130)
async def test_the_eligible_pass_a_claim_that_does_not_fit(x: ExploredRun, tasks: int) -> None:
    semaphore = Semaphore(2, max_value=2, policy="eligible")
    waiting: list[int] = []
    x.always(lambda: all(one > semaphore.value for one in waiting), "no task waits who fits")

    def note(event: PrimitiveEvent) -> None:
        if event.kind == "requested":
            waiting.append(event.claim)
        elif event.kind in ("granted", "withdrawn"):
            waiting.remove(event.claim)

    async def worker(claim: int) -> None:
        async with semaphore.permits(claim):
            await checkpoint()

    async def holder() -> None:
        semaphore.release()

    semaphore.acquire_nowait()
    with observe(note):
        await together(holder, partial(worker, 2), *[partial(worker, 1)] * (tasks - 1))


@swept(least=160)
async def test_a_budget_lets_no_task_in_twice(x: ExploredRun, tasks: int) -> None:
    semaphore = Semaphore(1, max_value=1, checkpoint="budget")

    async def worker() -> None:
        for _ in range(2):
            async with semaphore:
                with x.exclusive("the permit"):
                    await checkpoint()

    await together(*[worker] * tasks)


@swept(least=20)
async def test_no_task_slips_in_without_waiting_where_others_wait(
    x: ExploredRun, tasks: int
) -> None:
    semaphore = Semaphore(1, max_value=1)

    async def worker() -> None:
        others = semaphore.statistics().tasks_waiting
        try:
            semaphore.acquire_nowait()
        except trio.WouldBlock:
            await semaphore.acquire()
        else:
            if others:
                x.fail("a task that waited was passed")
        with x.exclusive("the permit"):
            try:
                await checkpoint()
            finally:
                semaphore.release()

    await together(*[worker] * tasks)


@swept(least=30)
async def test_each_signal_is_received_once(x: ExploredRun, tasks: int) -> None:
    signals = Semaphore(0)
    received = 0
    x.finally_(lambda: received + signals.value == tasks - 1, "each signal arrives or is kept")

    async def sender() -> None:
        try:
            await checkpoint()
        finally:
            signals.release()

    async def receiver() -> None:
        nonlocal received
        for _ in range(tasks - 1):
            await signals.acquire()
            received += 1

    await together(receiver, *[sender] * (tasks - 1))


# Time is explored here: each deadline may fire before its time, which is a cancellation, too.
@swept(least=120, cancel="scopes", clock="explore", sizes=TIMED, long=True)
async def test_who_is_out_of_time_has_taken_nothing(x: ExploredRun, tasks: int) -> None:
    semaphore = Semaphore(1, max_value=1)

    async def worker(seconds: int) -> None:
        with trio.move_on_after(seconds):
            async with semaphore:
                with x.exclusive("the permit"):
                    await checkpoint()

    await together(*[partial(worker, place + 1) for place in range(tasks)])


# What today's scheduler can do is a part of what any scheduler could; a few programs make sure that
# the part is explored as well.
@swept(least=40, order="trio")
async def test_the_permits_are_safe_in_the_order_of_trio(x: ExploredRun, tasks: int) -> None:
    semaphore = Semaphore(2, max_value=2)

    async def worker() -> None:
        for _ in range(2):
            async with semaphore:
                with x.exclusive("permits", limit=2):
                    await checkpoint()

    await together(*[worker] * tasks)
