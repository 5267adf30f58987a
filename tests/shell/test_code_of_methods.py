"""A class of monitors is made whatever the code of its methods is, and whatever else it holds."""

from __future__ import annotations

import dataclasses
from types import CodeType, SimpleNamespace
from typing import Any

import pytest

from structsync import Monitor, Primitive, entry, lowlevel

BASES = [Monitor, Primitive, lowlevel.OwnedPrimitive]


def function(source: str) -> Any:
    """Return a method; its code is as the compiler makes it here."""
    namespace: dict[str, Any] = {}
    exec(f"async def method(self, x=(), *args, **options):\n    {source}", namespace)
    return namespace["method"]


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize(
    "source",
    [
        "super(type(self), self).__init__(**options)",
        "self.history = ()",
        "self.history, x = (), self",
        "return ()",
        "return x == ()",
        "return x or self or ()",
        "return await self.g(**options)",
        "return dict(**options), self.f(**options), self.f(*args, **options)",
        "return [() for self in x], {self: () for one in x}",
        "return lambda: (self, ())",
        "del self",
        "async with self as x, x: yield ()",
        "match x:\n        case (): return {}\n        case {**rest}: return self",
        "for self.x in (): pass",
    ],
)
def test_a_method_may_be_written_with_constants_that_are_empty(base: type, source: str) -> None:
    type("Account", (base,), {"method": function(source)})


def test_a_guard_may_compare_with_an_empty_tuple() -> None:
    class Shop(Monitor):
        items: tuple[int, ...]

        @entry(when=lambda self: self.items != ())
        def take(self) -> None: ...

    with pytest.raises(TypeError, match=r"reads self\.itmes"):
        type(
            "Shop",
            (Monitor,),
            {"go": entry(when=lambda self: self.itmes != ())(lambda self: None)},
        )


def test_a_monitor_may_be_a_dataclass_with_slots() -> None:
    @dataclasses.dataclass(slots=True)
    class Shop(Monitor):
        size: int = 1

    assert "size" in vars(Shop)


def test_a_slip_is_found_however_many_names_its_function_has() -> None:
    names = ", ".join(f"self.a{n}" for n in range(300))
    with pytest.raises(TypeError, match=r"Shop\._name must have another name"):
        type("Shop", (Monitor,), {"method": function(f"x = {names}; self._name = x")})


def code_of_another_tool() -> Any:
    """Return a function whose bytecode cannot be read."""

    def method(self: Any) -> Any:
        self.shelf = (1, print)
        return self.shelf

    code: CodeType = method.__code__
    method.__code__ = code.replace(co_names=())
    return method


class Unbound:
    """A proxy of what is not there yet."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(f"working outside of a request: {name}")


@pytest.mark.parametrize(
    "value",
    [code_of_another_tool, Unbound, lambda: SimpleNamespace(__code__="its text"), lambda: len],
    ids=["bytecode", "proxy", "no code", "builtin"],
)
@pytest.mark.parametrize("base", BASES)
def test_what_cannot_be_read_is_no_reason_to_refuse_a_class(base: type, value: Any) -> None:
    type("Account", (base,), {"held": value(), "size": property(None, value())})


def test_nor_is_a_guard_that_cannot_be_read() -> None:
    go = entry(when=code_of_another_tool())(lambda self: None)
    type("Account", (Monitor,), {"go": go, "held": Unbound()})


def test_nor_a_guard_that_reads_what_is_like_nothing_that_can_be_read() -> None:
    go = entry(when=lambda self: self.shelf)(lambda self: None)
    with pytest.raises(TypeError, match=r"reads self\.shelf"):
        type("Account", (Monitor,), {"go": go, "held": Unbound()})


def test_a_guard_may_say_that_its_code_is_something_else() -> None:
    class Guard:
        __code__ = "its text"

        def __call__(self, monitor: Any) -> bool:
            return True

    type("Account", (Monitor,), {"go": entry(when=Guard())(lambda self: None)})
