"""Each primitive does what its shipped specification says, step by step, and faults of the shell are found."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

import structsync
from structsync.checking import Adapter, machine, shipped_specs
from structsync.checking._rules import action_names
from structsync.testing import MachineFailed

from ..catalogue import replaced_by  # noqa: TID252 - the one that reads faults
from ..every_primitive.kinds import KINDS  # noqa: TID252 - the one list of kinds
from ..plants.barrier_and_latch import the_latch_opens_early as latch_opens_early  # noqa: TID252
from .machines import EXCUSED, HELD, Held, Plant


def run(held: Held, examples: int, steps: int) -> set[str]:
    """Drive it by steps of its specification; return which actions were taken."""
    taken: set[str] = set()

    def make() -> Adapter:
        adapter = held.adapter()
        for name in action_names(held.spec):
            vars(adapter)[name] = noting(name, getattr(adapter, name))
        return adapter

    def noting(name: str, step: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*rest: Any, **arguments: Any) -> Any:
            taken.add(name)
            return step(*rest, **arguments)

        return noted

    few = settings(
        phases=[Phase.generate],
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        database=None,
        derandomize=True,
    )
    run_state_machine_as_test(machine(held.spec, make), settings=few)
    return taken


@pytest.mark.unmeasured
@pytest.mark.parametrize("name", HELD)
def test_it_does_what_its_specification_says(name: str) -> None:
    held = HELD[name]
    taken = run(held, held.examples, 30)
    assert {*action_names(held.spec)} - taken == held.without


FOUND = [(name, plant) for name, one in HELD.items() for plant in one.finds]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "plant"), FOUND, ids=[f"{name}-{plant.__name__}" for name, plant in FOUND]
)
def test_what_is_wrong_in_the_shell_is_found(
    name: str, plant: Plant, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    with pytest.raises(MachineFailed):
        run(HELD[name], 100, 50)


# ==== the table ====


def missing(held: Mapping[str, Held]) -> set[str]:
    """Return what waits, and is neither in the table nor excused."""
    kinds = {kind for name, one in held.items() for kind in one.kinds or [name]}
    names = {name for one in held.values() for name in one.of}
    public = {name for name in dir(structsync) if not name.startswith("_") and waits(name)}
    return ({one.name for one in KINDS} - kinds | public - names) - {*EXCUSED}


def waits(name: str) -> bool:
    """Return whether something public may wait, or makes something that does."""
    found = getattr(structsync, name)
    if not isinstance(found, type):
        makes = name.startswith(("open_", "acquire_"))
        return makes or inspect.iscoroutinefunction(inspect.unwrap(found))
    if issubclass(found, structsync.Primitive):
        return found is not structsync.Primitive  # which is a base
    functions = [
        one
        for one, function in inspect.getmembers(found, inspect.isfunction)
        if inspect.iscoroutinefunction(inspect.unwrap(function))
    ]
    return any(not one.startswith("_") or one == "__aenter__" for one in functions)


def test_whatever_waits_is_held_against_a_specification() -> None:
    assert missing(HELD) == set()


def test_what_is_not_in_the_table_is_noticed() -> None:
    assert missing({}) >= {"lock", "Lock", "first_of", "open_pool", "TaskPool", "Monitor"}
    fewer = {name: one for name, one in HELD.items() if name not in ("latch", "broadcast")}
    assert missing(fewer) == {"latch", "Latch", "Broadcast", "Subscription"}


def test_nothing_is_excused_or_named_that_is_not_there() -> None:
    there = {one.name for one in KINDS} | {*dir(structsync)}
    named = {name for one in HELD.values() for name in (*one.of, *one.kinds)}
    assert named | {*EXCUSED} <= there
    assert not named & {*EXCUSED}


def test_each_specification_ships() -> None:
    shipped = {*shipped_specs().specs.values()}
    assert [name for name, one in HELD.items() if not shipped & {*one.spec.__mro__}] == []


def is_of_the_shell(plant: Plant) -> bool:
    """Return whether a fault replaces what parks, wakes or is public, and no decision of a core."""
    files = []
    for owner, name, _ in replaced_by(plant):
        found = inspect.unwrap(vars(owner)[name]) if isinstance(owner, type) else None
        code = getattr(found, "__code__", None)
        files.append(code.co_filename if code else str(vars(owner).get("__file__")))
    return all(Path(one).parent.name in ("_runtime", "_primitives") for one in files)


def test_each_fault_is_one_of_the_shell() -> None:
    assert [(name, one.__name__) for name, one in FOUND if not is_of_the_shell(one)] == []
    assert min(len(one.finds) for one in HELD.values()) >= 2
    assert not is_of_the_shell(latch_opens_early)


def test_an_action_that_is_never_taken_is_noticed() -> None:
    latch = HELD["latch"]
    assert run(latch, 1, 1) < {*action_names(latch.spec)}
