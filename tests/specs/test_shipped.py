"""The specifications that ship: complete, able to fail, and what the manifest says they are."""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import structsync
from structsync import Primitive
from structsync.checking import Spec, Verdict
from structsync.checking._declaration import declaration_of
from structsync.checking._language import declared_in
from structsync.checking._load import Loaded, shipped_specs
from structsync.checking._rules import NO_PROPERTIES
from tests.public_names import PUBLIC

SHIPPED: Loaded = shipped_specs()
MANIFEST = tomllib.loads((SHIPPED.folder / "manifest.toml").read_text(encoding="utf-8"))


def primitives() -> list[str]:
    """Return the modules of the public primitives, which give their specifications the name."""
    found = [getattr(structsync, name) for name in PUBLIC]
    return [
        re.sub(r"(?<=[a-z])(?=[A-Z])", "_", one.__name__).lower()
        for one in found
        if isinstance(one, type) and issubclass(one, Primitive) and one is not Primitive
    ]


def module_of(spec: type[Spec]) -> str:
    return spec.__module__.rpartition(".")[2]


@cache
def properties(spec: type[Spec]) -> dict[str, Any]:
    return {
        name: function
        for name, function in declared_in(spec).items()
        if (word := declaration_of(function)) is not None and word.kind not in NO_PROPERTIES
    }


# ==== What there is ====


def test_there_are_primitives_to_specify() -> None:
    assert {"semaphore", "capacity_limiter"} <= {*primitives()}


@pytest.mark.parametrize("primitive", primitives())
def test_every_primitive_is_specified(primitive: str) -> None:
    assert primitive in {module_of(spec) for spec in SHIPPED.specs.values()}


def test_the_list_of_specifications_names_each_of_them() -> None:
    listed = (Path(__file__).parents[2] / "specs" / "README.md").read_text(encoding="utf-8")
    assert {module_of(spec) for spec in SHIPPED.specs.values()} <= {
        *re.findall(r"\[(\w+)\.py\]\(\1\.py\)", listed)
    }


@pytest.mark.parametrize("primitive", primitives())
def test_every_primitive_has_at_least_three_planted_faults(primitive: str) -> None:
    planted = [one for one in SHIPPED.faults.values() if module_of(one.spec) == primitive]
    assert len(planted) >= 3


@pytest.mark.parametrize("name", SHIPPED.specs)
def test_every_property_is_refuted_by_a_planted_fault(name: str) -> None:
    """Of a property that several specs share, the fault may be planted in any of them."""
    refuted = {
        properties(one.spec)[one.refuted_by]
        for one in SHIPPED.faults.values()
        if one.refuted_by in properties(one.spec)
    }
    mine = properties(SHIPPED.specs[name])
    assert [each for each, function in mine.items() if function not in refuted] == []


@pytest.mark.parametrize("name", SHIPPED.specs)
def test_every_property_says_what_it_promises(name: str) -> None:
    mine = properties(SHIPPED.specs[name])
    assert [each for each, function in mine.items() if not function.__doc__] == []


@pytest.mark.parametrize("name", SHIPPED.faults)
def test_every_planted_fault_says_what_the_bug_is(name: str) -> None:
    assert re.match(r"\S.*\.$", SHIPPED.faults[name].description)


# ==== What the checker says ====


def test_the_manifest_knows_each_spec_and_fault_and_no_others() -> None:
    assert set(MANIFEST["spec"]) == set(SHIPPED.specs)
    assert set(MANIFEST["fault"]) == set(SHIPPED.faults)


def test_the_manifest_records_nothing_but_confirmed() -> None:
    for name, recorded in MANIFEST["spec"].items():
        assert set(recorded["properties"].values()) == {Verdict.CONFIRMED.value}, name


def test_a_trace_of_a_planted_fault_has_at_most_ten_steps_where_they_need_not_be_more() -> None:
    long = {name for name, one in MANIFEST["fault"].items() if one["steps"] > 10}
    assert {SHIPPED.faults[name].factory.__name__ for name in long} == {
        "NothingAges",  # counts to a hundred
        # Of two calls of one entry the younger is ready first, and nothing else is to be settled.
        "AReadyCallIsNotLookedAt",
        # The messages of one call have gone both ways before those of a second one, or of a second host, do so.
        "AHostStartsAnew",
        "WhatADeadHostHadIsSentAgain",
        "WhatIsOvertakenRunsTwice",
        "WhatWasNotTakenIsTaken",
    }
