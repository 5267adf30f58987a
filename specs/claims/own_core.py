"""A core of a user's is refused for what is wrong with it, and for nothing else.

Its names and its faults are counted, so that a claim is about all of them.
"""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

from structsync import Arbiter
from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.queue import own_core

from ._own_cores import (
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


class Named(SemaphoreCore):
    def __init__(self) -> None:
        super().__init__(1)
        self.label = "not a part of its state"


#: Each with the attribute that it is refused for, where there is one, and whether its fields tell all.
CORES: list[tuple[type[Arbiter[int]], str, bool]] = [
    (Tank, "", True),
    (WithState, "assigns turn, which is not", True),
    (WithIndex, "", False),
    (WithIndexAndState, "assigns turn, which is not", False),
    (Told, "", False),
    (OnlyInSnapshot, "assigns turn, which is not", False),
    (OnlyInRestore, "assigns turn, which is not", False),
    (RestoredByWhatItWas, "", False),
    (Unassigned, "declares price, and never assigns it", True),
    (Named, "", False),
]

RESERVED = ("policy", "queue", "next_ticket", "cause")
METHODS = ("left", "release", "snapshot")


def none(self: Any) -> None: ...


def one(self: Any, claim: int) -> None: ...


def two(self: Any, claim: int, price: int) -> None: ...


def one_or_two(self: Any, claim: int, priority: int = 0) -> None: ...


def any_number(self: Any, *more: object) -> None: ...


#: What overrides ``admits(claim)`` and ``admissible(claim, priority=0)``: whether it may.
OVERRIDES: list[tuple[Any, bool, bool]] = [
    (none, False, False),
    (one, True, False),
    (two, False, False),
    (one_or_two, True, True),
    (any_number, True, True),
    (list, True, True),  # whatever can be called, and has no signature
    (3, False, False),
]


def is_refused(base: type[Any], names: dict[str, Any], word: str) -> bool:
    """Return whether a class is refused when it is made, and told why by a sentence with this word."""
    try:
        type("Bad", (base,), names)
    except TypeError as error:
        return word in str(error)
    return False


def a_field_with_a_name_of_the_arbiters_is_refused(which: int, is_declared: bool) -> None:
    assert 0 <= which < 4
    name = RESERVED[which]
    names = {"__annotations__": {name: int}} if is_declared else {name: 3}
    assert is_refused(Tank, names, f"Bad.{name} must have another name: Arbiter has an attribute")
    assert f"own_{name} for example" in str(own_core._reserved(Tank, name))


def a_method_of_the_arbiters_is_no_field(
    which: int, is_constant: bool, is_built_on_another: bool
) -> None:
    assert 0 <= which < 3
    name = METHODS[which]
    refused = is_refused(
        Tank if is_built_on_another else Arbiter,
        {"__annotations__": {name: ClassVar[int] if is_constant else int}},
        f"Bad.{name} must have another name",
    )
    assert refused == (not is_constant)


def what_is_the_users_own_is_not_refused(is_method: bool) -> None:
    assert is_method in (False, True)
    names = {"own": one} if is_method else {"__annotations__": {"own": int, "litres": int}}
    assert not is_refused(Tank, names, "")
    assert not is_refused(Tank, {"__init__": two, "drain": two, "litres": 3}, "")


def what_overrides_a_method_can_be_called_as_it_is(which: int, has_default: bool) -> None:
    assert 0 <= which < 7
    value, for_one, for_both = OVERRIDES[which]
    name, fits = ("admissible", for_both) if has_default else ("admits", for_one)
    assert is_refused(Tank, {name: value}, f"Bad.{name} must take (self, claim") == (not fits)


def what_a_constructor_forgets_or_overwrites_is_named(which: int, is_missing: bool) -> None:
    assert 0 <= which < 4
    core, name = Tank(), RESERVED[which]
    assert own_core.fault_at_creation(core) is None
    if is_missing and name != "cause":
        del vars(core)[name]
        words = own_core.fault_at_creation(core)
        assert words == f"Tank.__init__ must call super().__init__(), which sets {name}"
    else:
        vars(core)[name] = "mine"
        words = own_core.fault_at_creation(core) or ""
        assert words.startswith(f"Tank.__init__ must not assign {name}, which is")
        assert words.endswith(f"assigns 'mine'; rename yours, to own_{name} for example")


def state_that_no_snapshot_has_is_named(which: int) -> None:
    assert 0 <= which < 10
    kind, fault, told = CORES[which]
    words = own_core.fault_of_declaration(kind())
    assert own_core.is_told_by_its_fields(kind) == told
    if fault:
        assert words is not None
        assert words.startswith(f"{kind.__name__} {fault}")
        assert ("set it in start_index() or restore()" in words) == (not told)
    else:
        assert words is None


T = TypeVar("T")


class OfAny(Arbiter[T]):
    """A core whose claims are of any type."""


def a_core_takes_as_many_types_as_it_says(is_generic: bool) -> None:
    assert is_generic in (False, True)
    kind: Any = OfAny if is_generic else Tank
    assert kind.__parameters__ == ((T,) if is_generic else ())
    try:
        kind[int]
    except TypeError:
        assert not is_generic
    else:
        assert is_generic
