"""A primitive of the user's own, the ferry of the tutorial: every schedule, any task cancelled."""

from __future__ import annotations

import importlib.util
from functools import partial
from pathlib import Path
from types import ModuleType

from trio.lowlevel import checkpoint, current_task

from structsync import PrimitiveEvent, lowlevel, observe
from structsync.testing import ExploredRun

from .sweeping import swept, together


def _example(name: str) -> ModuleType:
    path = Path(__file__).parents[2] / "examples" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ferries = _example("ferry/ferry")
keyed_locks = _example("keyed_lock")
fair_queues = _example("weighted_fair_queue")


@swept(least=150)
async def test_the_ferry_carries_one_bank_at_a_time(x: ExploredRun, tasks: int) -> None:
    ferry = ferries.Ferry(seats=2)
    aboard: list[str] = []
    x.always(lambda: len(set(aboard)) < 2, "those aboard come from one bank")

    async def passenger(bank: str) -> None:
        async with ferry.crossing(bank):
            aboard.append(bank)
            try:
                with x.exclusive("seats", limit=2):
                    await checkpoint()
            finally:
                aboard.remove(bank)

    x.finally_(lambda: not ferry._core.aboard, "no task has stayed aboard")
    banks = ["left", "right"]
    await together(*[partial(passenger, banks[place % 2]) for place in range(tasks)])


@swept(least=60)
async def test_no_task_boards_where_others_step_off(x: ExploredRun, tasks: int) -> None:
    ferry = ferries.Ferry(seats=2)
    aboard, landed = 0, False

    def note(event: PrimitiveEvent) -> None:
        nonlocal aboard, landed
        if event.kind == "granted":
            if landed:
                x.fail("boarded a ferry that others were leaving")
            aboard += 1
        elif event.kind == "released":
            aboard -= 1
            landed = aboard > 0

    async def passenger() -> None:
        async with ferry.crossing("left"):
            await checkpoint()

    with observe(note):
        await together(*[passenger] * tasks)


@swept(least=60)
async def test_a_keyed_lock_excludes_those_with_the_same_key(x: ExploredRun, tasks: int) -> None:
    locks = keyed_locks.KeyedLock()

    async def use(name: str) -> None:
        async with locks.lock(name):
            with x.exclusive(name):
                await checkpoint()

    x.finally_(lambda: not locks.core.locked, "nothing is locked")
    await together(*[partial(use, ("a", "b", "a", "a")[place]) for place in range(tasks)])


@swept(least=60)
async def test_what_an_ended_task_owned_is_released_if_that_is_chosen(
    x: ExploredRun, tasks: int
) -> None:
    core = keyed_locks.KeyedLockCore()
    locks = lowlevel.OwnedPrimitive(core, owner_exit="releases")

    async def quitter() -> None:
        await lowlevel.acquire(locks, keyed_locks.Key("a", current_task()))
        await checkpoint()

    async def use() -> None:
        async with lowlevel.held(locks, keyed_locks.Key("a", current_task())):
            with x.exclusive("a"):
                await checkpoint()

    x.finally_(lambda: not core.locked, "nothing is locked")
    await together(*[(quitter, use)[place % 2] for place in range(tasks)])


@swept(least=60)
async def test_a_fair_queue_gives_each_its_turn(x: ExploredRun, tasks: int) -> None:
    turns = fair_queues.WeightedFairQueue(1, {"gold": 2, "silver": 1})

    async def use(tenant: str) -> None:
        async with turns.turn(tenant):
            with x.exclusive("the turn"):
                await checkpoint()

    x.finally_(lambda: turns.core.free == 1, "no task has kept a turn")
    await together(*[partial(use, ("gold", "silver")[place % 2]) for place in range(tasks)])
