"""A machine takes the steps of a specification with the real thing, and finds where they differ."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import pytest
import trio
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from structsync import Semaphore
from structsync.checking import Adapter, Spec, SpecError, action, invariant, machine, start
from structsync.specs.semaphore import FULL
from structsync.specs.semaphore_faults import (
    HandsOverToTheNewest,
    ReleaseWakesOnlyOne,
    WithdrawalWakesNoTask,
)
from structsync.testing import MachineFailed

from .traced_specs import TracedSemaphore, seen_of_semaphore


def run(
    spec: type[Spec],
    adapter: Any,
    examples: int = 25,
    steps: int = 15,
    phases: Sequence[Phase] = tuple(Phase),
) -> None:
    few = settings(
        phases=phases,
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        database=None,
        derandomize=True,
    )
    run_state_machine_as_test(machine(spec, adapter), settings=few)


class SemaphoreAdapter(Adapter):
    """A semaphore, and who has how many of its permits."""

    def __init__(self) -> None:
        self.semaphore = Semaphore(2, max_value=2)
        self.out: Counter[str] = Counter()

    async def request(self, who: str) -> None:
        weight = TracedSemaphore.weights[who]
        with suppress(trio.ClosedResourceError):
            await self.semaphore.acquire(weight)
            self.out[who] = weight

    def withdraw(self, who: str) -> None:
        self.cancel("request", who=who)

    def release(self, who: str) -> None:
        self.semaphore.release(self.out.pop(who))

    def release_one(self, who: str) -> None:
        self.out[who] -= 1
        self.semaphore.release()

    def resize(self, size: int) -> None:
        self.semaphore.resize(size)

    def grow(self) -> None:
        self.semaphore.resize(FULL)

    def close(self) -> None:
        self.semaphore.close()

    def close_again(self) -> None:
        self.semaphore.close()

    def state(self) -> Mapping[str, object]:
        return {**seen_of_semaphore(self.semaphore), "out": tuple(sorted(self.out.elements()))}


def test_a_semaphore_is_what_its_specification_says() -> None:
    run(TracedSemaphore, SemaphoreAdapter)


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault", [HandsOverToTheNewest, ReleaseWakesOnlyOne, WithdrawalWakesNoTask]
)
def test_a_wrong_semaphore_is_found(fault: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("structsync._primitives.semaphore.SemaphoreCore", fault)
    with pytest.raises(MachineFailed):
        run(TracedSemaphore, SemaphoreAdapter, 100, 25, [Phase.generate])  # not made smaller


class Lamp(Spec):
    """It is switched on and off, and a task that waits for light sees it."""

    on: bool = start(bool)
    seeing: int = start(int)
    waiting: int = start(int)

    @action(when=lambda self: self.waiting + self.seeing < 2)
    def look(self) -> None:
        self.seeing += self.on
        self.waiting += not self.on

    @action(when=lambda self: not self.on)
    def switch_on(self) -> None:
        self.on = True
        self.seeing, self.waiting = self.seeing + self.waiting, 0

    @action(when=lambda self: self.waiting == 1)
    def look_away(self) -> None:
        self.waiting = 0

    @invariant
    def who_waits_is_in_the_dark(self) -> bool:
        return not (self.on and self.waiting)


class LampAdapter(Adapter):
    """Light is an event."""

    def __init__(self) -> None:
        self.light = trio.Event()
        self.seeing = 0

    async def look(self) -> None:
        await self.light.wait()
        self.seeing += 1

    def switch_on(self) -> None:
        self.light.set()

    def look_away(self) -> None:
        self.cancel("look")

    def state(self) -> Mapping[str, object]:
        return {"seeing": self.seeing, "on": self.light.is_set()}


def test_a_specification_may_come_to_an_end() -> None:
    run(Lamp, LampAdapter, 5)


@pytest.mark.unmeasured
def test_a_difference_is_told_with_the_step_and_made_small() -> None:
    class Dim(LampAdapter):
        def switch_on(self) -> None:
            pass

    with pytest.raises(
        MachineFailed, match=r"^after switch_on\(\) on is False, and True in the specification"
    ) as caught:
        run(Lamp, Dim)
    notes = "\n".join(caught.value.__notes__)
    assert notes.count("Draw ") == 1
    assert "switch_on()" in notes


def test_an_error_of_the_real_thing_is_raised_as_it_is() -> None:
    class Broken(LampAdapter):
        async def look(self) -> None:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(Lamp, Broken)


def test_an_adapter_has_to_be_complete() -> None:
    class Half(Adapter):
        def look(self) -> None:
            pass

    with pytest.raises(SpecError, match="Half has no method for the actions switch_on, look_away"):
        machine(Lamp, Half)
    with pytest.raises(SpecError, match=r"an adapter is a subclass of checking\.Adapter"):
        machine(Lamp, lambda: 3)  # type: ignore[arg-type,return-value]

    class Blind(LampAdapter):
        def state(self) -> Mapping[str, object]:
            return Adapter.state(self)

    with pytest.raises(NotImplementedError, match=r"Blind has no state\(\)"):
        run(Lamp, lambda: Blind())


def test_what_state_may_be_is_told_to_who_writes_another() -> None:
    class Forgot(LampAdapter):
        def state(self) -> Mapping[str, object]:
            return None  # type: ignore[return-value]

    with pytest.raises(SpecError, match=r"Forgot\.state\(\) returned None; return a dictionary"):
        run(Lamp, Forgot)

    class Waits(LampAdapter):
        async def state(self) -> Mapping[str, object]:  # type: ignore[override]
            return {}

    with pytest.raises(SpecError, match=r"Waits\.state\(\) is async, .*: write def, and let"):
        machine(Lamp, Waits)


def test_what_is_compared_has_to_change_with_the_steps() -> None:
    class Silent(LampAdapter):
        def state(self) -> Mapping[str, object]:
            return {}

    with pytest.raises(SpecError, match=r"Silent\.state\(\) is empty, so nothing is compared"):
        run(Lamp, Silent)

    class Constant(Lamp):
        def observed(self) -> Mapping[str, object]:
            return {"is_a_lamp": True}

    class DoesNothing(Adapter):
        def look(self) -> None: ...

        switch_on = look_away = look

        def state(self) -> Mapping[str, object]:
            return {"is_a_lamp": True}

    with pytest.raises(
        SpecError, match="returns is_a_lamp, which no step of Constant changes: an ob"
    ):
        run(Constant, DoesNothing)


def test_what_the_specification_says_of_itself_is_asked_too() -> None:
    class Broken(Lamp):
        @invariant
        def it_is_dark(self) -> bool:
            return not self.on

    with pytest.raises(SpecError, match=r"switch_on\(\) breaks it_is_dark of Broken itself"):
        run(Broken, LampAdapter)


class Egg(Spec):
    """It is done after three minutes; who looks in between waits."""

    minutes: int = start(int)
    eaten: int = start(int)
    waiting: bool = start(bool)

    @action(when=lambda self: not self.waiting and not self.eaten)
    def sit_down(self) -> None:
        self.waiting, self.eaten = self.minutes < 3, int(self.minutes >= 3)

    @action(minutes=(1, 2), when=lambda self, minutes: self.minutes < 3)
    def pass_minutes(self, minutes: int) -> None:
        self.minutes += minutes
        if self.waiting and self.minutes >= 3:
            self.waiting, self.eaten = False, 1

    @invariant
    def it_is_eaten_when_it_is_done(self) -> bool:
        return not self.eaten or self.minutes >= 3

    def observed(self) -> Mapping[str, object]:
        return {"eaten": self.eaten, "minutes": self.minutes}


class EggAdapter(Adapter):
    minute = 60

    def __init__(self) -> None:
        self.began: float | None = None
        self.eaten = 0

    async def sit_down(self) -> None:
        self.began = trio.current_time() if self.began is None else self.began
        await trio.sleep_until(self.began + 3 * self.minute)
        self.eaten += 1

    def pass_minutes(self, minutes: int) -> None:
        self.began = trio.current_time() if self.began is None else self.began
        self.pass_time(minutes * 60)

    def state(self) -> Mapping[str, object]:
        began = trio.current_time() if self.began is None else self.began
        return {"eaten": self.eaten, "minutes": round((trio.current_time() - began) / 60)}


def test_time_passes_where_a_step_says_so_and_nowhere_else() -> None:
    run(Egg, EggAdapter, 15, 6)

    class Slow(EggAdapter):
        minute = 61

    with pytest.raises(MachineFailed, match="eaten is 0, and 1 in the specification"):
        run(Egg, Slow, 30, 6, [Phase.generate])


def test_only_what_was_started_can_be_cancelled() -> None:
    class Hasty(LampAdapter):
        def switch_on(self) -> None:
            self.cancel("look", twice=True)

    with pytest.raises(ValueError, match=r"there was no look\(twice=True\) that could"):
        run(Lamp, Hasty)
