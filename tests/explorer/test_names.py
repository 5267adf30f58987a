"""Tasks have names that mean the same in every schedule, and that a token can hold."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest
import trio

from structsync.testing import ExploredRun, explore
from structsync.testing._execution.engine import Engine
from structsync.testing._execution.schedule import Choice, Schedule

from .conftest import run_once


def names(engine: Engine) -> list[str]:
    return [*engine.names.tasks]


def test_children_of_the_test_are_numbered_by_function(kind: type[Engine]) -> None:
    async def reader() -> None:
        await trio.lowlevel.checkpoint()

    async def writer() -> None:
        await trio.lowlevel.checkpoint()

    async def program() -> None:
        async with trio.open_nursery() as nursery:
            for function in (reader, writer, reader):
                nursery.start_soon(function)

    found = names(run_once(program, kind=kind))
    assert found == ["main", "reader#0", "writer#0", "reader#1"]


def test_children_of_children_carry_the_way_to_them(kind: type[Engine]) -> None:
    async def leaf() -> None:
        await trio.lowlevel.checkpoint()

    async def branch() -> None:
        async with trio.open_nursery() as outer, trio.open_nursery() as inner:
            outer.start_soon(leaf)
            inner.start_soon(leaf)

    async def program() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(branch)

    # The number goes on from one nursery of a task to its next one: a name is never used twice.
    expected = ["main", "branch#0", "branch#0/leaf#0", "branch#0/leaf#1"]
    assert names(run_once(program, kind=kind)) == expected


def test_a_task_that_was_started_belongs_to_who_started_it(kind: type[Engine]) -> None:
    async def service(task_status: trio.TaskStatus[None]) -> None:
        await trio.lowlevel.checkpoint()
        task_status.started()
        await trio.lowlevel.checkpoint()

    async def program() -> None:
        async with trio.open_nursery() as nursery:
            await nursery.start(service)
            await nursery.start(service)

    assert names(run_once(program, kind=kind)) == ["main", "service#0", "service#1"]


def test_a_name_is_of_the_same_task_in_every_schedule() -> None:
    seen: dict[str, set[str]] = {}

    async def program(x: ExploredRun) -> None:
        async def child(label: str) -> None:
            name = x._name_of(trio.lowlevel.current_task())
            seen.setdefault(name, set()).add(label)
            await trio.lowlevel.checkpoint()

        async def worker(label: str) -> None:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(child, f"{label}'s first")
                nursery.start_soon(child, f"{label}'s second")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(worker, "a")
            nursery.start_soon(worker, "b")

    # By deviations: what is noted here outlives an execution, so no two states are the same.
    assert explore(program, cancels=0, search="deviations", executions=500).failure is None
    assert seen == {
        "worker#0/child#0": {"a's first"},
        "worker#0/child#1": {"a's second"},
        "worker#1/child#0": {"b's first"},
        "worker#1/child#1": {"b's second"},
    }


async def plain() -> None:
    await trio.lowlevel.checkpoint()


class Service:
    async def run(self) -> None:
        await trio.lowlevel.checkpoint()

    async def __call__(self) -> None:
        await trio.lowlevel.checkpoint()


@pytest.mark.parametrize(
    ("function", "given", "base"),
    [
        (plain, None, "plain"),
        (lambda: plain(), None, "lambda"),
        (functools.partial(plain), None, "plain"),
        (Service().run, None, "run"),
        (plain, "reader of the log", "reader_of_the_log"),
        (plain, "package.module.reader", "reader"),
        (plain, "a,b:c/d#1~2", "a_b_c_d_1_2"),
        (plain, "wärter-7", "wärter-7"),
        (plain, "ends.", "ends"),
        (plain, "...", "task"),
        (plain, "main", "main"),
    ],
)
def test_odd_names_become_words_that_a_token_holds(
    function: Callable[..., Any], given: str | None, base: str, kind: type[Engine]
) -> None:
    async def program() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(function, name=given)
            nursery.start_soon(function, name=given)

    engine = run_once(program, kind=kind)
    assert names(engine) == ["main", f"{base}#0", f"{base}#1"]
    made = Schedule.of("any", engine.choices, [Choice("clock", "")] * len(engine.choices))
    assert Schedule.parse(made.token) == made


def test_an_object_that_is_called_is_named_somehow(kind: type[Engine]) -> None:
    async def program() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(Service())

    name = names(run_once(program, kind=kind))[1]
    assert name.endswith("#0")
    assert "0x" not in name  # an address is another one in each execution


def test_what_the_system_spawns_is_not_offered(kind: type[Engine]) -> None:
    """Tasks of trio's own run by themselves, in both engines."""

    async def program() -> None:
        token = trio.lowlevel.current_trio_token()
        event = trio.Event()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(event.wait)
            token.run_sync_soon(event.set)

    assert names(run_once(program, kind=kind)) == ["main", "wait#0"]


def test_a_task_that_the_program_spawns_into_the_system_is_offered(kind: type[Engine]) -> None:
    async def program() -> None:
        event = trio.Event()

        async def background() -> None:
            event.set()

        trio.lowlevel.spawn_system_task(background)
        trio.lowlevel.spawn_system_task(background)
        await event.wait()

    found = names(run_once(program, kind=kind))
    assert found == ["main", "system/background#0", "system/background#1"]
