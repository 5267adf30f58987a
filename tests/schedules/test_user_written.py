"""A primitive of the user's own, the ferry of the tutorial: every schedule, any task cancelled."""

from __future__ import annotations

import importlib.util
from functools import partial
from pathlib import Path
from types import ModuleType

import pytest
from trio.lowlevel import checkpoint

from structsync import PrimitiveEvent, observe
from structsync.testing import ExploredRun

from .sweeping import swept, together


def _example(name: str) -> ModuleType:
    path = Path(__file__).parents[2] / "examples" / "ferry" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ferries = _example("ferry")


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

    x.finally_(lambda: not ferry._core.aboard, "nobody has stayed aboard")
    banks = ["left", "right"]
    await together(*[partial(passenger, banks[place % 2]) for place in range(tasks)])


@pytest.mark.light
@swept(least=60)
async def test_nobody_boards_where_others_step_off(x: ExploredRun, tasks: int) -> None:
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
