"""What a specification, its faults and what became of them are to a type checker."""

from __future__ import annotations

from pathlib import Path
from typing import Any, assert_type

import pytest
import trio

import structsync
from structsync.checking import (
    Adapter,
    Call,
    Fault,
    FaultResult,
    Loaded,
    Meaning,
    NothingFollowed,
    Progress,
    PropertyResult,
    Result,
    Simulation,
    Spec,
    SpecError,
    Trace,
    TraceEvent,
    TraceRecorder,
    TraceRefuted,
    Verdict,
    action,
    always_eventually,
    check,
    check_fault,
    eventually,
    fault,
    implies,
    invariant,
    invariants,
    leads_to,
    load,
    machine,
    record,
    refines,
    shipped_specs,
    start,
    step,
    terminal,
    validate,
)
from structsync.report import Counterexample
from structsync.testing import ScheduledStateMachine


class Lamp(Spec):
    """Each kind of property, with and without what it is assumed of."""

    is_on = start(bool)

    @action(fair=True, when=lambda self: not self.is_on)
    def switch_on(self) -> None:
        self.is_on = True

    @action(fair="weak", when=lambda self: self.is_on)
    def switch_off(self) -> None:
        self.is_on = False

    @invariant
    def is_on_or_off(self) -> bool:
        return implies(self.is_on, consequent=lambda: self.is_on)

    @step
    def changes(self, before: Lamp) -> bool:
        return self.is_on is not before.is_on

    @leads_to
    def light_comes(self) -> tuple[bool, bool]:
        return not self.is_on, self.is_on

    @eventually(assuming={"switch_on": "weak"})
    def is_lit(self) -> bool:
        return self.is_on

    @always_eventually
    def is_lit_again(self) -> bool:
        return self.is_on


class Bulb(Spec):
    """A lamp that burns out, as a refinement of one."""

    lit = start(int)

    @action(when=lambda self: self.lit == 0)
    def light(self) -> None:
        self.lit = 1

    @terminal
    def burns(self) -> bool:
        return self.lit == 1

    @refines(Lamp)
    def as_lamp(self) -> dict[str, bool]:
        return {"is_on": self.lit == 1}


@fault(Lamp, "is_on", refuted_by="is_on_or_off")
def never_made() -> bool:
    raise NotImplementedError


def test_a_check_tells_the_types_of_what_it_found() -> None:
    seen = list[Progress]()
    found = assert_type(check(Lamp, on_progress=seen.append), Result)
    assert_type(found.verdict, Verdict)
    assert_type(found.properties, tuple[PropertyResult, ...])
    assert_type(found.properties[0].counterexample, Counterexample | None)
    assert_type([one.states for one in seen], list[int])
    assert found.verdict is Verdict.CONFIRMED
    assert check(Bulb).verdict is Verdict.CONFIRMED


def test_what_is_loaded_can_be_checked() -> None:
    shipped = assert_type(shipped_specs(), Loaded)
    assert_type(shipped.specs, dict[str, type[Spec]])
    assert_type(shipped.faults, dict[str, Fault])
    first = next(iter(shipped.faults.values()))
    found = assert_type(check_fault(first, max_states=1), FaultResult)
    assert_type(found.caught, bool)
    with pytest.raises(SpecError):
        assert_type(load(Path("nowhere")), Loaded)


def test_a_simulation_is_stepped_by_calls() -> None:
    simulation = Simulation(Lamp)
    call = assert_type(simulation.apply("switch_on"), Call)
    assert not simulation.allows(call.action)
    assert_type(simulation.refuted(), list[str])


class Switch(Adapter):
    """What a specification is compared with."""

    def __init__(self) -> None:
        self.is_on = False

    def switch_on(self) -> None:
        self.is_on = True

    def switch_off(self) -> None:
        self.is_on = False

    def state(self) -> dict[str, Any]:
        return {"is_on": self.is_on}


def test_a_machine_is_made_of_a_specification() -> None:
    assert_type(machine(Lamp, Switch), type[ScheduledStateMachine])


def explained(spec: Any, event: TraceEvent) -> Meaning:
    return [Call(event.kind)]


async def test_a_run_is_followed_and_recorded(tmp_path: Path) -> None:
    latch = structsync.Latch(1)
    refuted = list[Counterexample]()
    with validate(Lamp, latch, explain=explained, on_refuted=refuted.append) as trace:
        assert_type(trace, Trace)
    with record(tmp_path / "run.jsonl", latch) as recorder:
        assert_type(recorder, TraceRecorder)
        latch.count_down()
    assert [issubclass(one, Exception) for one in (NothingFollowed, TraceRefuted)] == [True] * 2
    await trio.lowlevel.checkpoint()


class Permits(structsync.Arbiter[int]):
    """A core, for what is said of each."""

    state_fields = ("free",)

    def __init__(self) -> None:
        super().__init__()
        self.free = 1

    def admits(self, claim: int) -> bool:
        return claim <= self.free

    def admit(self, claim: int) -> None:
        self.free -= claim

    def discharge(self, claim: int) -> None:
        self.free += claim


def test_what_is_true_of_each_core_can_be_evaluated() -> None:
    core = Permits()
    first, second = core.submit(1), core.submit(1)
    assert not assert_type(invariants.is_grantable(core, second), bool)
    assert invariants.nothing_grantable_waits(core)
    assert invariants.nothing_waits_when_closed_or_broken(core)
    assert invariants.nowait_agrees(core, 1)
    assert invariants.ended_for_good(core, first)
    assert invariants.positions_are_kept([1, 2], [1], [2])
    assert invariants.served_in_queue([1, 2], [1], [2])
    twin = assert_type(invariants.twin_of(core), Permits)
    assert not invariants.refuses(twin, lambda one: one.release(1))
