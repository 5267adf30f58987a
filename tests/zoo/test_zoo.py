"""Known bugs: each is found within its budget and named, its token replays it, its fix holds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from structsync.testing import Settings
from structsync.testing._result import FailureKind

from . import measure, record
from .catalogue import EXHIBITS
from .exhibit import Exhibit
from .measure import (
    Entry,
    differences,
    entry,
    failure_of,
    hunt,
    not_fixed,
    not_found,
    replays_differently,
    unnamed,
)

every_exhibit = pytest.mark.parametrize(
    "exhibit", EXHIBITS, ids=lambda one: one.name.replace(" ", "-")
)


def exhibit_named(name: str) -> Exhibit:
    (found,) = [one for one in EXHIBITS if one.name == name]
    return found


# ==== What is found ====


@every_exhibit
def test_the_bug_is_found_within_its_budget_as_what_it_is(exhibit: Exhibit) -> None:
    assert not_found(exhibit) == []


@every_exhibit
def test_the_counterexample_names_the_culprit(exhibit: Exhibit) -> None:
    assert unnamed(exhibit) == []


@every_exhibit
def test_the_token_replays_the_same_failure(exhibit: Exhibit) -> None:
    assert replays_differently(exhibit, failure_of(exhibit)) == []


@every_exhibit
def test_the_fix_is_confirmed(exhibit: Exhibit) -> None:
    assert not_fixed(exhibit) == []


@every_exhibit
def test_the_numbers_are_those_on_record(exhibit: Exhibit) -> None:
    assert differences(record.read()[exhibit.name], entry(exhibit)) == []


# ==== What is on show ====


def test_every_exhibit_of_the_folder_is_in_the_catalogue_and_on_record() -> None:
    files = [path for path in Path(__file__).parent.glob("*.py") if path.stem != "test_zoo"]
    with_one = [path for path in files if "EXHIBIT = Exhibit(" in path.read_text(encoding="utf-8")]
    assert len(EXHIBITS) == len(with_one)
    assert {one.name for one in EXHIBITS} == set(record.read())


def test_every_kind_of_failure_is_on_show() -> None:
    assert {one.finds for one in EXHIBITS} == set(get_args(FailureKind))


def test_a_bug_that_needs_two_cancellations_is_on_show() -> None:
    assert max(one.settings.cancels for one in EXHIBITS) >= 2


# ==== That these tests can fail ====


@pytest.fixture
def easy() -> Exhibit:
    return exhibit_named("lost update")


def test_a_bug_that_is_not_there_is_not_found(easy: Exhibit) -> None:
    assert not_found(replace(easy, buggy=easy.fixed))


def test_a_budget_that_is_too_small_is_noticed() -> None:
    late = exhibit_named("stuck wake-up flag")
    # A smaller budget is also a smaller share for trying every schedule, and then states are told apart.
    late = replace(late, settings=replace(late.settings, search="states"))
    assert not_found(replace(late, budget=failure_of(late).execution - 1))


def test_another_kind_of_failure_is_noticed(easy: Exhibit) -> None:
    assert not_found(replace(easy, finds="deadlock"))


def test_a_failure_that_trio_run_does_not_show_is_noticed(
    easy: Exhibit, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = replace(hunt(easy), failure=replace(failure_of(easy), replayed="differs: passed"))
    monkeypatch.setattr(measure, "hunt", lambda _: elsewhere)
    assert not_found(easy) == ["lost update is something else in trio.run: differs: passed"]


def test_a_culprit_that_is_not_named_is_noticed(easy: Exhibit) -> None:
    assert unnamed(replace(easy, culprit="another task"))


def test_a_fix_that_does_not_help_is_noticed(easy: Exhibit) -> None:
    assert not_fixed(replace(easy, fixed=easy.buggy))


def test_a_fix_that_was_not_explored_to_the_end_is_noticed(easy: Exhibit) -> None:
    assert not_fixed(replace(easy, settings=Settings(cancels=0, executions=1)))


def test_a_token_that_replays_no_failure_is_noticed(easy: Exhibit) -> None:
    assert replays_differently(replace(easy, buggy=easy.fixed), failure_of(easy))


def test_a_token_that_replays_another_failure_is_noticed(easy: Exhibit) -> None:
    assert replays_differently(easy, replace(failure_of(easy), message="something else"))


def test_a_number_that_differs_from_the_record_is_noticed(easy: Exhibit) -> None:
    found = entry(easy)
    assert differences(found | {"steps": -1}, found) == [f"steps is {found['steps']}, on record -1"]


def test_what_is_written_is_what_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    entries: dict[str, Entry] = {'"quoted" - name': {"source": 'a\\b\n"c" ü', "steps": 3}}
    monkeypatch.setattr(record, "FILE", tmp_path / "found.toml")
    record.FILE.write_text(record.written(entries), encoding="utf-8")
    assert record.read() == entries
