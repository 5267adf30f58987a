"""The harness believes nothing but a proof: each way to a false green is tried."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import FunctionType

import pytest

from . import _harness, _toys
from ._harness import Verdict, analyze, ends_of, failing_at_end

Claim = Callable[..., object]


@pytest.fixture(autouse=True)
def short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_harness, "SECONDS", 2.0)


def verdicts_at_ends(claim: Claim, folder: Path) -> list[Verdict]:
    assert isinstance(claim, FunctionType)
    return [analyze(failing_at_end(claim, end, folder)).verdict for end in ends_of(claim)]


def test_a_true_claim_is_confirmed() -> None:
    assert analyze(_toys.true_of_every_number).verdict is Verdict.CONFIRMED


def test_the_end_of_a_true_claim_is_reachable(tmp_path: Path) -> None:
    assert verdicts_at_ends(_toys.true_of_every_number, tmp_path) == [Verdict.REFUTED]


def test_one_counterexample_among_all_numbers_is_found() -> None:
    assert "42" in analyze(_toys.false_of_one_number).words


def test_a_counterexample_refutes() -> None:
    assert analyze(_toys.false_of_one_number).verdict is Verdict.REFUTED


def test_crosshair_confirms_a_claim_about_no_situation() -> None:
    """Why a verdict alone is not enough; should this fail one day, the better."""
    assert analyze(_toys.about_no_situation).verdict is Verdict.CONFIRMED


def test_a_claim_about_no_situation_has_no_reachable_end(tmp_path: Path) -> None:
    assert verdicts_at_ends(_toys.about_no_situation, tmp_path) == [Verdict.CONFIRMED]


def test_a_branch_that_is_never_taken_has_no_reachable_end(tmp_path: Path) -> None:
    ends = verdicts_at_ends(_toys.with_a_branch_that_is_never_taken, tmp_path)
    assert ends == [Verdict.REFUTED, Verdict.CONFIRMED]


@pytest.mark.parametrize(
    "claim", [_toys.that_crashes, _toys.without_a_bound, _toys.that_asserts_nothing_first]
)
def test_a_crash_an_open_end_and_no_claim_are_neither_confirmed_nor_refuted(claim: Claim) -> None:
    assert analyze(claim).verdict is Verdict.NOT_CONFIRMED
