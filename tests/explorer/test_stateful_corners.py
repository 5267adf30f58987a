"""What a machine meets seldom: made to happen here."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from hypothesis import HealthCheck, reject
from hypothesis.stateful import (
    Bundle,
    consumes,
    initialize,
    multiple,
    rule,
    run_state_machine_as_test,
)

from structsync.testing import ScheduledStateMachine
from structsync.testing._execution import public_engine
from structsync.testing._stateful import machine, run, stepping

from .conftest import python
from .stateful_machines import failure, found, quick


def test_a_rule_with_a_nursery_is_cancelled_at_the_end_without_a_sound() -> None:
    """What it raises then is a group, of nothing but cancellation."""

    class Machine(ScheduledStateMachine):
        @rule()
        async def wait_forever(self) -> None:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(trio.sleep_forever)
                await trio.sleep_forever()

    assert failure(Machine, 10) is None


def test_a_program_that_is_over_and_has_no_rule_left_is_no_example(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After its end Hypothesis goes on with rules that do nothing, and these use up what they take."""
    monkeypatch.setattr(run.MachineRun, "between_rules", lambda run, check: run.actions.exploring)

    class Machine(ScheduledStateMachine):
        things: Bundle[int] = Bundle("things")

        @initialize(target=things)
        def make(self) -> Any:
            return multiple(1, 2)

        @rule(thing=consumes(things))
        async def use(self, thing: int) -> None:
            await trio.lowlevel.checkpoint()

    rejected: list[bool] = []

    def noted() -> None:
        rejected.append(True)
        reject()

    monkeypatch.setattr(machine, "reject", noted)
    few = {"stateful_step_count": 8, "suppress_health_check": [*HealthCheck]}
    assert failure(Machine, 2, **few) is None
    assert rejected


def test_a_deadline_may_end_the_wait_for_the_rules() -> None:
    ended: list[bool] = []

    class Machine(ScheduledStateMachine, cancels=0):
        @rule()
        async def sleep(self) -> None:
            await trio.sleep(5)

        async def teardown(self) -> None:
            with trio.move_on_after(1) as scope:
                await self.settle()
            ended.append(scope.cancelled_caught)

    assert failure(Machine, 20) is None
    assert any(ended)


def test_what_an_unwound_execution_raises_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = stepping.kind(public_engine.PublicEngine)
    monkeypatch.setattr(stepping, "kind", lambda: kind)

    class Machine(ScheduledStateMachine, max_steps=20):
        @rule()
        async def spin(self) -> None:
            while True:
                await trio.lowlevel.cancel_shielded_checkpoint()

    assert "no end after 20 steps" in str(found(Machine, 10).error)


def test_a_machine_that_cannot_begin_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses() -> Any:
        raise OSError("no engine")

    monkeypatch.setattr(stepping, "kind", refuses)

    class Machine(ScheduledStateMachine):
        @rule()
        async def nothing(self) -> None: ...

    with pytest.raises(OSError, match="no engine"):
        run_state_machine_as_test(Machine, settings=quick(1))


def test_a_run_that_breaks_down_fails_the_example() -> None:
    """In a process of its own: a run of trio that has broken down cannot be tidied up."""
    ran = python(
        """
        import trio
        from hypothesis.stateful import rule, run_state_machine_as_test
        from structsync.testing import ScheduledStateMachine
        from structsync.testing._stateful import stepping

        kind = stepping.SteppedPublicEngine
        stepping.kind = lambda: kind
        sleep_time = kind.sleep_time

        def breaks_down(engine, deadline):
            if len(engine.choices) == 2:
                raise OSError("out of memory")
            return sleep_time(engine, deadline)

        kind.sleep_time = breaks_down

        class Machine(ScheduledStateMachine):
            @rule()
            async def nothing(self):
                await trio.lowlevel.checkpoint()

        run_state_machine_as_test(Machine)
        """
    )
    assert ran.returncode == 1
    assert "OSError: out of memory" in ran.stderr
