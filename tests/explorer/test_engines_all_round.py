"""The two engines agree about what lies outside of tasks that wait for each other.

Services, tasks in the system, calls from outside, async generators, context variables, errors.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Generator
from contextvars import ContextVar
from typing import Any

import outcome
import pytest
import trio
from trio.lowlevel import checkpoint

from .conftest import Program, abba, check_the_engines_agree, label


async def services() -> list[object]:
    log: list[object] = []

    async def service(n: int, task_status: trio.TaskStatus[int]) -> None:
        await checkpoint()
        task_status.started(n)
        await checkpoint()
        log.append(("over", n))

    async with trio.open_nursery() as nursery:
        log.append(await nursery.start(service, 1))
        log.append(await nursery.start(service, 2))
    return log


async def a_service_that_never_starts() -> list[object]:
    log: list[object] = []

    async def service(task_status: trio.TaskStatus[None]) -> None:
        await checkpoint()

    async with trio.open_nursery() as nursery:
        with contextlib.suppress(RuntimeError):
            await nursery.start(service)
        log.append(len(nursery.child_tasks))
    return log


async def a_system_task() -> list[str]:
    log, event = list[str](), trio.Event()

    async def background() -> None:
        await checkpoint()
        log.append("background")
        event.set()

    trio.lowlevel.spawn_system_task(background)
    await checkpoint()
    log.append("main")
    await event.wait()
    return log


async def a_call_from_outside() -> list[str]:
    log, event = list[str](), trio.Event()
    token = trio.lowlevel.current_trio_token()

    def call(name: str) -> None:
        log.append(name)
        if name == "second":
            event.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(checkpoint)
        token.run_sync_soon(call, "first", idempotent=True)
        token.run_sync_soon(call, "second")
        await event.wait()
        log.append("main")
    return log


async def _numbers(log: list[str]) -> AsyncIterator[int]:
    try:
        yield 1
        await checkpoint()
        yield 2
    finally:
        log.append("closed")


async def a_generator_that_is_used_up() -> list[str]:
    log = list[str]()

    async def reads() -> None:
        async for number in _numbers(log):
            log.append(str(number))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(reads)
        nursery.start_soon(checkpoint)
    return log


async def a_generator_that_is_dropped_half_way() -> list[str]:
    log = list[str]()

    async def reads() -> None:
        async for number in _numbers(log):
            log.append(str(number))
            break
        await checkpoint()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(reads)
        nursery.start_soon(checkpoint)
    return [one for one in log if one != "closed"]  # when that comes Python decides


VARIABLE: ContextVar[str] = ContextVar("variable", default="unset")


async def context_variables() -> list[str]:
    log = list[str]()

    async def works(name: str) -> None:
        log.append(VARIABLE.get())
        VARIABLE.set(name)
        await checkpoint()
        log.append(VARIABLE.get())

    VARIABLE.set("main")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(works, "a")
        nursery.start_soon(works, "b")
    return log


class _Foreign:
    def __await__(self) -> Generator[object, None, None]:
        yield "what another library yields"


async def awaits_something_foreign() -> list[str]:
    log = list[str]()

    async def works() -> None:
        try:
            await _Foreign()
        except TypeError as error:
            log.append(type(error).__name__)
        await checkpoint()
        log.append("goes on")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(works)
        nursery.start_soon(checkpoint)
    return log


async def an_error_beside_others() -> None:
    async def fails() -> None:
        await checkpoint()
        raise ValueError("on purpose")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(fails)
        nursery.start_soon(trio.sleep_forever)


async def a_task_that_leaves_trio() -> list[str]:
    log = list[str]()

    async def leaves() -> None:
        await checkpoint()
        log.append("leaves")
        await trio.lowlevel.permanently_detach_coroutine_object(outcome.Value(None))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(leaves)
        nursery.start_soon(checkpoint)
    return log


async def an_error_of_a_system_task() -> None:
    async def fails() -> None:
        await checkpoint()
        raise ValueError("on purpose")

    trio.lowlevel.spawn_system_task(fails)
    await checkpoint()
    await checkpoint()


async def two_calls_from_outside() -> list[str]:
    log = list[str]()
    token = trio.lowlevel.current_trio_token()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(checkpoint)
        for name in ("first", "second"):
            event = trio.Event()
            token.run_sync_soon(log.append, name)
            token.run_sync_soon(event.set)
            await event.wait()
    return log


async def an_error_of_a_system_task_after_another() -> None:
    async def fails_at_last() -> None:
        try:
            await trio.sleep_forever()
        finally:
            raise KeyError("not told: it came second")

    trio.lowlevel.spawn_system_task(fails_at_last)
    await checkpoint()
    raise ValueError("on purpose")


async def a_deadline_that_is_over() -> list[str]:
    log = list[str]()

    async def hurries() -> None:
        with trio.move_on_after(0):
            log.append("enters")
            await checkpoint()
            log.append("has time")
            await trio.sleep_forever()
        log.append("leaves")

    async def waits() -> None:
        with trio.move_on_after(0):
            await trio.sleep_forever()
        log.append("has waited")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(hurries)
        nursery.start_soon(waits)
    return log


async def statistics() -> list[bool]:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(checkpoint)
        nursery.start_soon(checkpoint)
        numbers = trio.lowlevel.current_statistics()
    return [numbers.tasks_living > 2, numbers.run_sync_soon_queue_size > 0]


PROGRAMS: tuple[tuple[Program, dict[str, Any]], ...] = (
    (services, {}),
    (a_service_that_never_starts, {}),
    (a_system_task, {}),
    (a_call_from_outside, {}),
    (a_generator_that_is_used_up, {}),
    (a_generator_that_is_dropped_half_way, {}),
    (context_variables, {}),
    (awaits_something_foreign, {}),
    (an_error_beside_others, {"cancels": 1}),
    (an_error_of_a_system_task, {"cancels": 1, "cancel": "tasks"}),
    (abba, {}),
    (two_calls_from_outside, {}),
    (an_error_of_a_system_task_after_another, {}),
    (a_deadline_that_is_over, {}),
    (a_deadline_that_is_over, {"order": "trio"}),
    (statistics, {}),
    (a_task_that_leaves_trio, {}),
)


# trio's own advice about async generators, in each execution anew
@pytest.mark.filterwarnings("ignore:.*was garbage collected before it:ResourceWarning")
@pytest.mark.parametrize(("program", "settings"), PROGRAMS, ids=label)
def test_both_engines_give_the_same_traces(program: Program, settings: dict[str, Any]) -> None:
    check_the_engines_agree(program, settings)
