"""The harness believes nothing but a proof: each way to a false green is tried."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import FunctionType

import pytest

from . import _harness, _toys
from ._harness import Answer, Verdict, analyze, ends_of, passing_ends

Claim = Callable[..., object]


@pytest.fixture(autouse=True)
def short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_harness, "SECONDS", 2.0)


def analyze_with_ends(claim: Claim, folder: Path) -> tuple[Answer, list[int]]:
    assert isinstance(claim, FunctionType)
    return analyze(passing_ends(claim, folder)), list(ends_of(claim))


def test_a_true_claim_is_confirmed() -> None:
    assert analyze(_toys.true_of_every_number).verdict is Verdict.CONFIRMED


@pytest.mark.parametrize("claim", [_toys.true_of_every_number, _toys.with_branches_that_return])
def test_each_end_of_a_true_claim_is_reached(claim: Claim, tmp_path: Path) -> None:
    answer, ends = analyze_with_ends(claim, tmp_path)
    assert answer.verdict is Verdict.CONFIRMED
    assert answer.reached == set(ends)


def test_one_counterexample_among_all_numbers_is_found() -> None:
    assert "42" in analyze(_toys.false_of_one_number).words


def test_a_counterexample_refutes() -> None:
    assert analyze(_toys.false_of_one_number).verdict is Verdict.REFUTED


def test_crosshair_confirms_a_claim_about_no_situation() -> None:
    """Why a verdict alone is not enough; should this fail one day, the better."""
    assert analyze(_toys.about_no_situation).verdict is Verdict.CONFIRMED


def test_a_claim_about_no_situation_has_no_end_that_is_reached(tmp_path: Path) -> None:
    answer, ends = analyze_with_ends(_toys.about_no_situation, tmp_path)
    assert (answer.verdict, answer.reached, ends) == (Verdict.CONFIRMED, frozenset(), [0])


@pytest.mark.parametrize(
    "claim",
    [
        _toys.with_a_branch_that_is_never_taken,
        _toys.with_a_branch_whose_path_is_given_up,
        _toys.with_a_branch_whose_path_took_too_much_for_granted,
        _toys.with_a_branch_whose_path_contradicts_itself,
    ],
)
def test_a_branch_that_no_confirmed_path_takes_has_no_end_that_is_reached(
    claim: Claim, tmp_path: Path
) -> None:
    answer, ends = analyze_with_ends(claim, tmp_path)
    assert (answer.verdict, answer.reached, ends) == (Verdict.CONFIRMED, frozenset({0}), [0, 1])


@pytest.mark.parametrize(
    "claim", [_toys.that_crashes, _toys.without_a_bound, _toys.that_asserts_nothing_first]
)
def test_a_crash_an_open_end_and_no_claim_are_neither_confirmed_nor_refuted(claim: Claim) -> None:
    assert analyze(claim).verdict is Verdict.NOT_CONFIRMED
