"""The catalogue of planted faults: each names who must find it, who is there, and is written once."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from structsync._core.primitives.latch import LatchCore
from structsync._core.primitives.semaphore import SemaphoreCore
from structsync.checking._load import shipped_specs

from . import catalogue
from .catalogue import Mistake, Planted, planted, replaced_by
from .conforming.machines import HELD
from .plants._reuse import plant
from .schedules.sweeping import SWEPT
from .stateful import test_cores, test_shells

MISTAKES = catalogue.catalogue()
MENTIONS = [one for mistake in MISTAKES for one in mistake.mentions]


SHIPPED = shipped_specs()


def claims() -> set[str]:
    """Return the names of the claims, without CrossHair: functions that begin with an assert."""
    folder = SHIPPED.folder / "claims"
    return {
        f"{file.stem}.{one.name}"
        for file in folder.glob("*.py")
        for one in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(one, ast.FunctionDef) and isinstance(one.body[0], ast.Assert)
    }


FINDERS = {
    "spec": {
        f"{one.spec.__name__}.{one.refuted_by}"
        for one in SHIPPED.faults.values()
        if one.spec in SHIPPED.specs.values()
    },
    "claim": claims(),
    "schedule": {test.__name__ for test in SWEPT},
    # who is only ever asked about faults would not be known to be right
    "conforming": {*HELD},
    "machine": {one.__name__ for one in (*test_cores.MACHINES, *test_shells.MACHINES)},
}


def is_there(finder: str) -> bool:
    kind, _, name = finder.partition(" ")
    return name in FINDERS[kind]


def doubles(mistakes: list[Mistake]) -> list[list[str]]:
    """Return where the same mistake is written more than once."""
    return [[one.home for one in each.mentions] for each in mistakes if not each.is_written_once]


def test_each_fault_has_a_check_that_must_find_it() -> None:
    assert [one.home for one in MENTIONS if not one.finders] == []


def test_the_checks_that_must_find_a_fault_are_there() -> None:
    assert [(one.home, who) for one in MENTIONS for who in one.finders if not is_there(who)] == []


def test_each_mistake_is_written_once() -> None:
    assert doubles(MISTAKES) == []


def test_all_layers_have_faults_of_their_own() -> None:
    found = {
        kind: sum(who.startswith(kind) for one in MENTIONS for who in one.finders)
        for kind in FINDERS
    }
    assert min(found.values()) > 100, found


def test_no_fault_loses_a_layer_that_found_it() -> None:
    recorded = catalogue.on_record(catalogue.RECORD.read_text(encoding="utf-8"))
    now = catalogue.layers_of(MISTAKES)
    assert catalogue.lost(recorded, now) == [], (
        "give the layer its finder back, or rename the line of a fault that was renamed; where it has no place "
        "in the code any more, "
        f"take the line out of {catalogue.RECORD.name} by hand, and say why in the commit"
    )
    assert catalogue.grown(recorded, now) == recorded, (
        "a fault or a finder is new; put it on record: python -m tests.catalogue --record"
    )


# ==== and each of these can fail ====


def test_a_layer_that_is_lost_is_named_and_stays_on_record() -> None:
    both, one = frozenset({"claim", "machine"}), frozenset({"claim"})
    recorded = catalogue.on_record("plants.lock.a: claim machine\nplants.lock.gone: claim\n")
    assert recorded == {"plants.lock.a": both, "plants.lock.gone": one}
    now = {"plants.lock.a": one, "plants.lock.new": one}
    assert catalogue.lost(recorded, now) == [
        "plants.lock.a is not found any more by: machine",
        "plants.lock.gone is not found any more by: claim",
    ]
    kept = catalogue.grown(recorded, now)
    assert kept == {**recorded, "plants.lock.new": one}
    assert catalogue.on_record(catalogue.as_record(kept)) == kept


def test_who_shares_a_mistake_shares_its_layers() -> None:
    here, there = mentioned("one", twice), mentioned("other", again)
    here.finders.append("claim semaphore.it_conserves")
    there.finders.append("schedule test_semaphores")
    layers = catalogue.layers_of([Mistake([here, there])])
    assert layers == dict.fromkeys(("one", "other"), frozenset({"claim", "schedule"}))


def test_a_fault_that_no_check_looks_for_is_in_the_catalogue() -> None:
    module = type(ast)("plants_of_this_test")
    exec("def a_release_is_forgotten(patch): ...\ndef helper(core): ...", vars(module))
    assert [one.__name__ for one in catalogue.plants_in(module)] == ["a_release_is_forgotten"]


def test_a_finder_that_is_gone_is_named() -> None:
    assert not is_there("schedule test_that_was_deleted")
    assert not is_there("claim lock.that_was_renamed")


def twice(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SemaphoreCore, "admits", lambda self, claim: claim <= self.value + 2)


def again(patch: pytest.MonkeyPatch) -> None:
    """In other words, and the same."""
    patch.setattr(SemaphoreCore, "admits", lambda core, wanted: wanted <= core.value + 2)


def mentioned(home: str, mistake: Any) -> Planted:
    return planted(home, replaced_by(mistake), [])


def test_a_mistake_that_is_written_twice_is_named() -> None:
    one, other = mentioned("one", twice), mentioned("other", again)
    assert one.replaced == other.replaced
    assert doubles([Mistake([one, other])]) == [["one", "other"]]
    assert doubles([Mistake([one, mentioned("a use of it", twice)])]) == []


class NeedsItsClass(LatchCore):
    def admits(self, claim: int) -> bool:
        return not super().admits(claim)


def test_what_belongs_to_a_subclass_cannot_be_planted(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TypeError, match=r"NeedsItsClass\.admits belongs to a subclass"):
        plant(monkeypatch, LatchCore, NeedsItsClass)
