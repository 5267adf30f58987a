"""What a machine makes of its rules, its invariants and its end."""

from __future__ import annotations

import subprocess
import sys
import time
from random import Random
from typing import Any, ClassVar

import pytest
import trio
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.errors import FailedHealthCheck
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from structsync.testing import MachineFailed, NondeterminismError, RuleTask, ScheduledStateMachine
from structsync.testing._execution import public_engine
from structsync.testing._search import engine_choice
from structsync.testing._stateful import drawing, stepping

from .stateful_machines import failure, found, quick

checkpoint = trio.lowlevel.checkpoint


# On the second they reach nothing of the machines that other tests do not reach.
@pytest.fixture(params=["loop", pytest.param("public", marks=pytest.mark.nightly)], autouse=True)
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test of this file runs on both engines."""
    base = public_engine.PublicEngine if request.param == "public" else engine_choice.chosen()[0]
    kind = stepping.kind(base)
    monkeypatch.setattr(stepping, "kind", lambda: kind)


def passes(machine: type[RuleBasedStateMachine], examples: int = 30) -> None:
    run_state_machine_as_test(machine, settings=quick(examples, stateful_step_count=12))


# ==== rules ====


@pytest.mark.unmeasured
def test_an_async_rule_may_still_wait_when_the_next_one_comes() -> None:
    most: list[int] = []

    class Machine(ScheduledStateMachine):
        @initialize()
        def open(self) -> None:
            self.event = trio.Event()
            self.waiting = 0

        @rule()
        async def wait(self) -> None:
            self.waiting += 1
            await self.event.wait()

        @rule()
        def note_them(self) -> None:
            most.append(self.waiting)

    passes(Machine)
    assert max(most) > 2


@pytest.mark.unmeasured
def test_the_result_of_an_async_rule_goes_into_its_bundle() -> None:
    seen: list[object] = []

    class Machine(ScheduledStateMachine):
        numbers = Bundle("numbers")

        @rule(target=numbers, number=st.integers(1, 3))
        async def make(self, number: int) -> int:
            await checkpoint()
            return number

        @rule(number=consumes(numbers))
        async def use(self, number: int) -> None:
            seen.append(number)

    passes(Machine)
    assert set(seen) == {1, 2, 3}


def test_an_async_rule_that_waits_forever_adds_nothing_to_its_bundle() -> None:
    class Machine(ScheduledStateMachine):
        numbers = Bundle("numbers")

        @rule(target=numbers)
        async def make(self) -> int:
            await trio.sleep_forever()
            return 1

        @rule(number=numbers)
        def use(self, number: int) -> None:
            raise AssertionError

    passes(Machine)


def test_a_sync_rule_runs_in_a_task_and_may_wake_others() -> None:
    served: list[object] = []

    class Machine(ScheduledStateMachine):
        @initialize()
        def open(self) -> None:
            self.lock = trio.Lock()
            self.lock.acquire_nowait()

        @rule()
        async def wait(self) -> None:
            async with self.lock:
                served.append(trio.lowlevel.current_task())

        @precondition(lambda self: self.lock.statistics().tasks_waiting)
        @rule()
        def hand_over(self) -> None:
            if self.lock.statistics().owner is trio.lowlevel.current_task():
                self.lock.release()

    passes(Machine)
    assert served


def test_an_async_initialize_rule_has_returned_before_the_first_rule() -> None:
    class Machine(ScheduledStateMachine):
        @initialize()
        async def open(self) -> None:
            await trio.sleep(1)
            self.ready = True

        @rule()
        async def look(self) -> None:
            assert self.ready

    passes(Machine)


def test_an_initialize_rule_that_waits_forever_is_a_failure() -> None:
    class Machine(ScheduledStateMachine):
        @initialize()
        async def open(self) -> None:
            await trio.sleep_forever()

        @rule()
        def nothing(self) -> None: ...

    shrunk = found(Machine, 10)
    assert isinstance(shrunk.error, MachineFailed)
    assert "open#0 is at open:" in str(shrunk.error)


def test_an_error_in_a_rule_is_raised_as_it_is_from_the_line_of_the_rule() -> None:
    class Machine(ScheduledStateMachine):
        @rule()
        async def break_down(self) -> None:
            await checkpoint()
            raise ZeroDivisionError("here")

    shrunk = found(Machine, 10)
    assert type(shrunk.error) is ZeroDivisionError
    last = shrunk.error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    assert last is not None
    assert last.tb_frame.f_code.co_name == "break_down"
    assert (shrunk.calls("break_down"), shrunk.steps) == (1, 2)


def test_tasks_in_the_nursery_are_no_rules_and_their_errors_fail_the_example() -> None:
    class Machine(ScheduledStateMachine):
        @initialize()
        def serve(self) -> None:
            self.requests = 0
            self.get_root_nursery().start_soon(self.server)

        async def server(self) -> None:
            while True:
                await trio.sleep(1)
                if self.requests:
                    raise ZeroDivisionError("served")

        @rule()
        async def ask(self) -> None:
            self.requests += 1

    shrunk = found(Machine, 50)
    assert type(shrunk.error) is ZeroDivisionError
    assert "time passes until 1" in shrunk.text


def test_a_started_task_is_cancelled_by_its_handle() -> None:
    cancelled: list[str] = []

    class Machine(ScheduledStateMachine, cancels=0):
        sleepers = Bundle("sleepers")

        @rule(target=sleepers)
        def sleep(self) -> RuleTask:
            return self.start(self.asleep)

        async def asleep(self) -> None:
            await trio.sleep_forever()

        @rule(sleeper=consumes(sleepers))
        def wake(self, sleeper: RuleTask) -> None:
            assert not sleeper.done
            sleeper.cancel()
            cancelled.append(repr(sleeper))

        async def teardown(self) -> None:
            await checkpoint()

    passes(Machine)
    assert "asleep#1" in cancelled


def test_rules_of_a_mixin_serve_other_machines_too() -> None:
    calls: list[str] = []

    class Mixin:
        @rule()
        def call(self) -> None:
            calls.append(type(self).__name__)

    class Scheduled(Mixin, ScheduledStateMachine): ...

    class Plain(Mixin, RuleBasedStateMachine): ...

    passes(Scheduled)
    passes(Plain)
    assert set(calls) == {"Scheduled", "Plain"}


# ==== choices ====


class Sleepers(ScheduledStateMachine):
    """Tells how its rules have ended, and at what time."""

    ended: ClassVar[list[list[tuple[str, float, bool]]]]

    def __init__(self) -> None:
        super().__init__()
        self.log: list[tuple[str, float, bool]] = []
        type(self).ended.append(self.log)

    @rule(seconds=st.integers(1, 3))
    async def sleep(self, seconds: int) -> None:
        with trio.CancelScope() as scope:
            try:
                await trio.sleep(seconds)
            except trio.Cancelled:
                self.log.append(("cancelled", trio.current_time(), self.is_quiescent))
                raise
        assert not scope.cancelled_caught
        self.log.append(("slept", trio.current_time(), self.is_quiescent))


def ended(machine: type[Sleepers]) -> list[list[tuple[str, float, bool]]]:
    """Return how the rules ended, by example, before the end of the machine cancelled the others."""
    machine.ended = []

    async def teardown(self: Sleepers) -> None:
        self.log = []

    counted = type("Machine", (machine,), {"teardown": teardown})
    passes(counted, 60)
    assert len(machine.ended) >= 60
    return machine.ended


@pytest.mark.unmeasured
def test_rules_are_cancelled_and_time_passes() -> None:
    kinds = [kind for log in ended(Sleepers) for kind, *_ in log]
    assert {"cancelled", "slept"} == set(kinds)


@pytest.mark.slow
@pytest.mark.parametrize("most", [0, 1])
def test_no_more_rules_are_cancelled_than_the_class_says(most: int) -> None:
    class Machine(Sleepers, cancels=most): ...

    numbers = [sum(kind == "cancelled" for kind, *_ in log) for log in ended(Machine)]
    assert max(numbers) == most


@pytest.mark.nightly
def test_a_deadline_fires_early_only_if_the_class_says_so() -> None:
    def in_no_time(machine: type[Any]) -> type[Any]:
        class Machine(machine):  # type: ignore[misc]  # a class that is given
            @rule()
            async def spin(self) -> None:
                before = trio.current_time()
                await checkpoint()
                assert trio.current_time() == before

            @rule()
            async def sleep(self) -> None:
                await trio.sleep(1)

        return Machine

    class Early(ScheduledStateMachine, clock="explore"): ...

    found(in_no_time(Early), 500)
    passes(in_no_time(ScheduledStateMachine), 60)


class Gambler(Random):
    """Chooses most often another task than the first, or to leave."""

    def randrange(self, *_: Any, **__: Any) -> int:
        often = [("run", 1), ("run", 2), ("leave", 0)]
        return drawing.ACTIONS.index(self.choice([*often * 5, ("rest", 0)]))


@pytest.mark.slow
def test_with_the_order_of_trio_no_task_runs_twice_before_another_has_run() -> None:
    def unfair(machine: type[Any]) -> bool:
        lead: list[int] = []
        gambler = Gambler(1)

        class Machine(machine):  # type: ignore[misc]  # a class that is given
            @initialize()
            def draw_schedule(self) -> None:
                self._machine_run.actions.source = gambler
                self.rounds: list[int] = []

            @rule()
            async def race(self) -> None:
                number = len(self.rounds)
                self.rounds.append(0)
                for _ in range(4):
                    await trio.lowlevel.cancel_shielded_checkpoint()
                    self.rounds[number] += 1
                    lead.append(self.rounds[number] - min(self.rounds[:number], default=9))

        passes(Machine)
        return max(lead) > 1

    class Batches(ScheduledStateMachine, order="trio"): ...

    assert unfair(ScheduledStateMachine)
    assert not unfair(Batches)


# ==== invariants ====


def test_an_invariant_is_checked_between_two_steps_of_a_rule() -> None:
    class Machine(ScheduledStateMachine):
        broken = False

        @rule()
        async def break_and_repair(self) -> None:
            self.broken = True
            await checkpoint()
            self.broken = False

        @invariant()
        def intact(self) -> None:
            assert not self.broken

    shrunk = found(Machine, 10)
    assert shrunk.steps == 1
    assert shrunk.text.rstrip().splitlines()[-3:][0].startswith("#   1  break_and_repair#0 runs to")
    assert "state.intact()\nstate.teardown()" in shrunk.text


def test_an_async_invariant_is_refused() -> None:
    with pytest.raises(TypeError, match=r"intact is async: .* write 'def'"):

        class Machine(ScheduledStateMachine):
            @invariant()
            async def intact(self) -> None: ...


def test_an_async_precondition_is_refused() -> None:
    async def never(machine: Any) -> bool:
        return False

    with pytest.raises(TypeError, match=r"precondition of .*nothing is async; write 'def'"):

        class Machine(ScheduledStateMachine):
            @precondition(never)
            @rule()
            def nothing(self) -> None: ...


# ==== the end ====


@pytest.mark.unmeasured
def test_settle_waits_for_all_rules_and_time_passes_meanwhile() -> None:
    class Machine(ScheduledStateMachine, cancels=0):
        slept = started = 0

        @rule()
        async def sleep(self) -> None:
            self.started += 1
            await trio.sleep(10)
            self.slept += 1

        async def teardown(self) -> None:
            await self.settle()
            await super().teardown()
            assert self.slept == self.started

    passes(Machine)


def test_a_rule_that_waits_forever_does_not_settle() -> None:
    class Machine(ScheduledStateMachine):
        @rule()
        async def wait(self) -> None:
            await trio.sleep_forever()

        async def teardown(self) -> None:
            await self.settle()

    shrunk = found(Machine, 50)
    assert isinstance(shrunk.error, MachineFailed)
    assert str(shrunk.error).startswith("waits forever: wait#0 is at wait:")
    assert shrunk.calls("wait") == 1


def test_settle_is_refused_in_a_rule() -> None:
    class Machine(ScheduledStateMachine):
        @rule()
        async def wait(self) -> None:
            await self.settle()

    assert "belongs into teardown" in str(found(Machine, 10).error)


def test_a_teardown_that_waits_forever_is_a_failure() -> None:
    class Machine(ScheduledStateMachine):
        @rule()
        def nothing(self) -> None: ...

        async def teardown(self) -> None:
            await trio.sleep_forever()

    assert "teardown() waits forever" in str(found(Machine, 10).error)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_what_is_unfinished_is_cancelled_after_teardown(asynchronous: bool) -> None:
    examples: list[list[str]] = []

    class Machine(ScheduledStateMachine, cancels=0):
        def __init__(self) -> None:
            super().__init__()
            self.events: list[str] = []
            examples.append(self.events)

        @rule()
        async def wait(self) -> None:
            self.events.append("waits")
            try:
                await trio.sleep_forever()
            finally:
                self.events.append("ends")

    class Sync(Machine):
        def teardown(self) -> None:
            self.events.append("teardown")
            super().teardown()

    class Async(Machine):
        async def teardown(self) -> None:
            self.events.append("teardown")
            await super().teardown()

    passes(Async if asynchronous else Sync)
    assert any("waits" in example for example in examples)
    for example in examples:
        assert example.count("teardown") == 1
        assert "ends" not in example[: example.index("teardown")]
        assert example.count("waits") == example.count("ends")


def test_a_rule_that_no_cancellation_ends_is_a_failure() -> None:
    class Machine(ScheduledStateMachine):
        @rule()
        async def wait(self) -> None:
            with trio.CancelScope(shield=True):
                await trio.sleep_forever()

    shrunk = found(Machine, 10)
    assert isinstance(shrunk.error, MachineFailed)
    assert str(shrunk.error).startswith("cancelled, but does not end: wait#0 is at wait:")


def test_a_teardown_that_fails_too_does_not_hide_the_first_failure() -> None:
    class Machine(ScheduledStateMachine):
        @rule()
        async def break_down(self) -> None:
            raise ZeroDivisionError

        async def teardown(self) -> None:
            raise KeyError("later")

    shrunk = found(Machine, 10)
    assert type(shrunk.error) is ZeroDivisionError
    assert "teardown() has failed too: KeyError('later')" in shrunk.text


def test_an_endless_example_fails() -> None:
    class Machine(ScheduledStateMachine, max_steps=100):
        @rule()
        async def spin(self) -> None:
            while True:
                await trio.lowlevel.cancel_shielded_checkpoint()

    assert "no end after 100 steps" in str(found(Machine, 10).error)


def test_nothing_is_left_behind_by_a_failure() -> None:
    enter = trio.CancelScope.__enter__

    class Machine(ScheduledStateMachine):
        @rule()
        async def break_down(self) -> None:
            raise ZeroDivisionError

    found(Machine, 10)
    assert trio.CancelScope.__enter__ is enter
    with pytest.raises(RuntimeError):
        trio.lowlevel.current_root_task()  # no run is left
    trio.run(checkpoint)


# ==== mistakes ====


def test_health_checks_are_not_suppressed() -> None:
    class Machine(ScheduledStateMachine):
        @rule()
        def give(self) -> Any:
            return 1

    assert Machine.TestCase.settings.suppress_health_check == settings().suppress_health_check
    with pytest.raises(FailedHealthCheck, match="should return None"):
        run_state_machine_as_test(Machine)


def test_a_rule_may_not_read_the_clock() -> None:
    class Machine(ScheduledStateMachine):
        @rule()
        async def look(self) -> None:
            time.time()

    assert isinstance(found(Machine, 10).error, NondeterminismError)


@pytest.mark.parametrize(
    "wrong", [{"cancels": -1}, {"order": "fifo"}, {"clock": "real"}, {"max_steps": 0}]
)
def test_a_setting_that_cannot_be_is_refused_by_name(wrong: dict[str, Any]) -> None:
    (name,) = wrong
    with pytest.raises(ValueError, match=f"^{name} must be "):
        type("Machine", (ScheduledStateMachine,), {}, **wrong)


def test_a_subclass_inherits_the_settings() -> None:
    class Base(ScheduledStateMachine, cancels=3): ...

    class Machine(Base, order="trio"):
        @rule()
        def nothing(self) -> None: ...

    assert (Machine._asked.cancels, Machine._asked.order) == (3, "trio")


def test_start_is_refused_outside_a_rule_and_for_what_is_not_async() -> None:
    class Machine(ScheduledStateMachine):
        @rule()
        def nothing(self) -> None: ...

    machine = Machine()
    with pytest.raises(TypeError, match="start\\(\\) needs an async function"):
        machine.start(lambda: None)  # type: ignore[return-value]  # the mistake
    with pytest.raises(RuntimeError, match="belongs into a rule"):
        machine.start(checkpoint)
    with pytest.raises(RuntimeError, match="before its first rule"):
        machine.get_root_nursery()


def test_a_nursery_that_a_rule_cancels_is_a_failure() -> None:
    class Machine(ScheduledStateMachine):
        @rule()
        def cancel_all(self) -> None:
            self.get_root_nursery().cancel_scope.cancel()

    assert "nursery was cancelled" in str(found(Machine, 10).error)


def test_hypothesis_is_imported_only_for_those_who_ask() -> None:
    program = (
        "import sys, structsync.testing as t; assert 'hypothesis' not in sys.modules;"
        "t.ScheduledStateMachine; assert 'hypothesis' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
    with pytest.raises(AttributeError, match="has no attribute 'Machine'"):
        _ = __import__("structsync.testing").testing.Machine


def test_a_failing_machine_can_be_seen_to_pass() -> None:
    """Else ``found`` would show nothing."""

    class Machine(ScheduledStateMachine):
        @rule()
        async def nothing(self) -> None:
            await checkpoint()

    assert failure(Machine, 10) is None
    with pytest.raises(AssertionError, match="does not fail"):
        found(Machine, 10)
