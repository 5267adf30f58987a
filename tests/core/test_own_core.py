"""A core of a user's keeps to its own names, calls super().__init__(), and declares its state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from structsync import CoreRequest, Primitive, RWLock, Semaphore
from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.queue.arbiter import EndedForGood
from structsync._core.queue.own_core import fault_of_declaration
from structsync.checking import Spec, SpecError, Verdict, action, check, invariant, start
from structsync.specs.claims._own_cores import (
    OnlyInRestore,
    OnlyInSnapshot,
    RestoredByWhatItWas,
    Tank,
    Told,
    Unassigned,
    WithIndex,
    WithIndexAndState,
    WithState,
)


def test_a_request_of_which_nothing_else_is_said_has_no_waiter() -> None:
    assert CoreRequest(1, 0).waiter is None


RESERVED = ["policy", "queue", "next_ticket", "cause"]


@pytest.mark.parametrize("name", [*RESERVED, "left", "release", "snapshot"])
def test_a_field_with_a_name_of_the_arbiters_is_refused_when_the_class_is_made(name: str) -> None:
    with pytest.raises(TypeError, match=rf"Bad\.{name} must have another name.*own_{name}"):
        type("Bad", (Tank,), {"__annotations__": {name: int}})


@pytest.mark.parametrize(
    "value",
    [3, property(lambda self: 3), lambda self: 3],
    ids=["number", "property", "function"],
)
@pytest.mark.parametrize("name", RESERVED)
def test_what_has_a_name_of_the_arbiters_fields_is_refused(name: str, value: object) -> None:
    with pytest.raises(TypeError, match=rf"Bad\.{name} must have another name"):
        type("Bad", (Tank,), {name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("left", lambda self: 3),
        ("release", lambda self: 3),
        ("submit", lambda self: 3),
        ("take", lambda self, claim, price: 3),
        ("end", 3),
        ("admissible", lambda self, claim, priority: True),  # callers may leave out the priority
    ],
    ids=["left", "release", "submit", "take", "end", "admissible"],
)
def test_a_method_that_cannot_stand_for_the_arbiters_is_refused(name: str, value: object) -> None:
    with pytest.raises(TypeError, match=rf"Bad\.{name} must take \(self.*rename it"):
        type("Bad", (Tank,), {name: value})


def test_what_is_meant_to_be_overridden_may_be() -> None:
    class Good(Tank):
        colour: ClassVar[str] = "green"
        has_index: ClassVar[bool] = False

        def refuse_impossible(self, claim: int) -> None: ...
        def release(self, claim: int, *more: object) -> list[Any]:
            return super().release(claim)

        withdraw = Callable  # type: ignore[assignment]  # whatever can be called

    assert Good().litres == 3


class Forgetful(Tank):
    def __init__(self) -> None:
        self.litres = 3


def overwriting(name: str, value: object) -> type[Tank]:
    class Overwriting(Tank):
        def __init__(self) -> None:
            super().__init__()
            vars(self)[name] = value

    return Overwriting


OVERWRITING = {
    name: overwriting(name, "mine") for name in ("policy", "queue", "next_ticket", "cause")
}


def test_a_core_that_forgets_super_init_is_refused_with_the_repair() -> None:
    with pytest.raises(TypeError, match=r"Forgetful.__init__ must call super\(\).__init__\(\)"):
        Primitive(Forgetful())


@pytest.mark.parametrize("name", OVERWRITING)
def test_a_core_that_overwrites_what_is_the_arbiters_is_refused(name: str) -> None:
    with pytest.raises(TypeError, match=rf"must not assign {name}.*assigns 'mine'; rename yours"):
        Primitive(OVERWRITING[name]())


async def test_a_core_that_keeps_to_it_works() -> None:
    class Well(Primitive[int]):
        def __init__(self) -> None:
            super().__init__(Tank())

        async def draw(self) -> None:
            await self._acquire(2)

    await Well().draw()


# ==== in the checker ====


class Later(Tank):
    def admit(self, claim: int) -> None:
        super().admit(claim)
        self.last = claim


def spec_of(core_class: type[Tank]) -> type[Spec]:
    class TankSpec(Spec):
        core: Tank = start(core_class)

        @action(when=lambda spec: spec.core.admissible(1))
        def draw(self) -> None:
            self.core.submit(1)

        @action(when=lambda spec: spec.core.litres < 3)
        def fill(self) -> None:
            self.core.release(1)

        @invariant
        def it_never_overflows(self) -> bool:
            return 0 <= self.core.litres <= 3

    return TankSpec


@pytest.mark.parametrize(
    ("core", "says"),
    [
        (WithState, r"WithState assigns turn.*declare it in the class: `turn: int`"),
        (Later, r"Later assigns last.*`last: int`"),
        (OnlyInSnapshot, r"OnlyInSnapshot assigns turn.*set it in start_index\(\)"),
        (OnlyInRestore, r"OnlyInRestore assigns turn.*restore\(\), or declare it"),
        (WithIndexAndState, r"WithIndexAndState assigns turn.*`turn: int`"),
        (Unassigned, r"Unassigned declares price, and never assigns it"),
        (Forgetful, r"must call super\(\)\.__init__\(\)"),
        (OVERWRITING["cause"], r"must not assign cause"),
    ],
)
def test_a_core_with_state_that_no_snapshot_has_is_refused_by_the_checker(
    core: type[Tank], says: str
) -> None:
    with pytest.raises(SpecError, match=says):
        check(spec_of(core))


@pytest.mark.parametrize("core", [Tank, WithIndex, Told, RestoredByWhatItWas])
def test_a_core_whose_state_is_all_in_its_snapshots_is_checked(core: type[Tank]) -> None:
    assert check(spec_of(core)).verdict is Verdict.CONFIRMED


def test_the_cores_of_the_library_need_not_be_declared() -> None:
    assert not Semaphore(1)._core.user_written
    assert not RWLock()._core.user_written
    with pytest.raises(EndedForGood):
        core = Tank()
        core.end("closed")
        core.submit(1)


def test_what_a_core_that_ships_assigns_is_known_and_so_is_what_is_built_on_it() -> None:
    class Named(SemaphoreCore):
        def __init__(self) -> None:
            super().__init__(1)
            self.label = "not a part of its state"

    assert Named().user_written
    assert fault_of_declaration(Named()) is None


def test_a_class_beside_the_arbiter_hears_of_its_subclasses() -> None:
    class Registered:
        made: ClassVar[list[str]] = []

        def __init_subclass__(cls) -> None:
            cls.made.append(cls.__name__)

    class RegisteredTank(Tank, Registered):
        pass

    assert RegisteredTank.made == ["RegisteredTank"]
