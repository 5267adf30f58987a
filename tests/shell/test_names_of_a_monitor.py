"""A monitor's own attributes: those that a primitive has or says of itself cannot be taken by them."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from structsync import Arbiter, Monitor, Primitive, Semaphore, entry, lowlevel
from structsync._runtime.private_names import OVERRIDABLE, private_names_of


class Door(Monitor):
    def __init__(self, name: str) -> None:
        super().__init__()
        setattr(self, name, True)


@pytest.mark.parametrize("name", ["closed", "broken"])
def test_assigning_what_a_monitor_says_of_itself_is_refused_with_another_name(name: str) -> None:
    message = rf"Door\.{name} cannot be assigned: .* own_{name} for example"
    with pytest.raises(AttributeError, match=message):
        Door(name)


@pytest.mark.parametrize("name", ["closed", "broken"])
@pytest.mark.parametrize("annotated", [False, True])
def test_declaring_it_is_refused_when_the_class_is_made(name: str, annotated: bool) -> None:
    message = rf"Shop\.{name} must have another name: .* whether the monitor itself is {name}"
    with pytest.raises(TypeError, match=message):
        type(
            "Shop", (Monitor,), {"__annotations__": {name: "bool"}} if annotated else {name: False}
        )


def test_a_property_that_says_more_is_a_class_of_its_own_business() -> None:
    class Shop(Monitor):
        @property
        def closed(self) -> bool:
            return True

    assert Shop().closed
    assert not Shop().broken


def test_every_primitive_says_so() -> None:
    semaphore: Any = Semaphore(1)
    with pytest.raises(AttributeError, match=r"Semaphore\.closed cannot be assigned"):
        semaphore.closed = True
    semaphore.close()
    assert semaphore.closed


@dataclasses.dataclass(eq=False)
class Named(Monitor):
    name: str | None

    def __post_init__(self) -> None:
        super().__init__()


class NamedBefore(Monitor):
    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__()


@pytest.mark.parametrize("cls", [Named, NamedBefore])
def test_a_name_that_is_assigned_before_is_kept(cls: Callable[[str], Monitor]) -> None:
    assert cls("the shop").name == "the shop"


# ==== private names ====

PRIVATE = sorted(private_names_of(Monitor))
KEPT = sorted(OVERRIDABLE)


def setting(name: str) -> Any:
    """Return an initializer that sets this attribute; its name must be in the code itself."""
    return namespace_of(f"def __init__(self, value=1):\n    y = value\n    self.{name} = y")[
        "__init__"
    ]


def namespace_of(source: str) -> dict[str, Any]:
    namespace: dict[str, Any] = {}
    exec(source, namespace)
    return namespace


USES: dict[str, Callable[[str], dict[str, Any]]] = {
    "in the body": lambda name: {name: {}},
    "as a slot": lambda name: {"__slots__": (name,)},
    "declared": lambda name: {"__annotations__": {name: "int"}},
    "set": lambda name: {"__init__": setting(name)},
    "set by an entry": lambda name: {"fill": entry(setting(name))},
    "set by a property": lambda name: {"full": property(None, setting(name))},
    "set by a function inside": lambda name: {
        "fill": namespace_of(f"def fill(self):\n  def set():\n    self.{name} = 1\n  return set")["fill"]
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("use", "name"),
    [(use, name) for use in USES for name in PRIVATE if (use, name) != ("declared", "_core")],
)
def test_each_private_name_of_a_monitor_is_refused_with_another_one(use: str, name: str) -> None:
    message = rf"Shop\.{name} must have another name: Monitor has .* of its own.* own{name} for ex"
    with pytest.raises(TypeError, match=message):
        type("Shop", (Monitor,), USES[use](name))


def test_the_private_names_are_those_that_a_monitor_has() -> None:
    held = {name for name in dir(Monitor()) if name.startswith("_") and not name.endswith("__")}
    assert held - {"_is_protocol"} == {*PRIVATE}  # which typing adds


@pytest.mark.parametrize("name", sorted({*PRIVATE} - OVERRIDABLE))
def test_a_method_by_such_a_name_is_refused_unless_it_is_there_to_be_overridden(name: str) -> None:
    with pytest.raises(TypeError, match=rf"Transaction\.{name} must have another name"):
        type("Transaction", (Monitor,), {name: lambda self: None})


@pytest.mark.parametrize("name", KEPT)
def test_what_a_subclass_may_override_is_what_the_page_says(name: str) -> None:
    type("Shop", (Monitor,), {name: lambda self, claim=None: 1})
    page = Path(__file__).parents[2] / "docs" / "reference" / "own-primitives.rst"
    may_override = page.read_text().partition("Subclasses may override these:")[2]
    listed = may_override.partition(".. autoclass")[0]
    assert sorted(re.findall(r"automethod:: (\w+)", listed)) == KEPT


def test_what_a_mixin_sets_is_refused_too() -> None:
    class Subject:
        def __init__(self) -> None:
            self._observers: list[object] = []

    with pytest.raises(TypeError, match=r"Subject\._observers must .* Monitor has an attribute"):
        type("Watched", (Subject, Monitor), {})


@pytest.mark.parametrize("base", [Primitive, lowlevel.OwnedPrimitive])
def test_the_private_names_of_a_primitive_of_ones_own_are_refused_as_well(base: type) -> None:
    with pytest.raises(TypeError, match=rf"Shop\._root must .*: {base.__name__} has an attribute"):
        type("Shop", (base,), {"__init__": setting("_root")})


def test_a_primitive_of_ones_own_may_declare_which_core_is_its() -> None:
    type("Shop", (Primitive,), {"__annotations__": {"_core": Arbiter}})


def test_names_of_other_objects_and_of_ones_own_are_not_refused() -> None:
    class Tree(Monitor):
        _nodes: int = 0

        def plant(self, node: Any) -> None:
            self._leaves = node._root = self._root

        @staticmethod
        def cut(node: Any) -> None:
            node._root = None

    class Grown(Tree):
        def water(self) -> None:
            self._leaves = None

    assert Grown()._nodes == 0
    type("Shop", (Monitor,), {"make": lambda: Monitor()})
