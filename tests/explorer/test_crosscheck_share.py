"""Random programs that are too large for the plain search: each bound of their share is one that can fail."""

from __future__ import annotations

import random

import pytest

from structsync.testing import Settings
from tests.crosscheck import test_random_programs as bounds
from tests.crosscheck.check import Tally
from tests.crosscheck.generate import Case
from tests.crosscheck.program import Program


def test_a_night_with_more_large_programs_than_their_share_fails() -> None:
    at_most, one_more = Tally(programs=700, skipped=70), Tally(programs=700, skipped=71)
    bounds.test_few_of_many_programs_are_too_large_for_the_plain_search(at_most)
    with pytest.raises(AssertionError, match="skipped=71"):
        bounds.test_few_of_many_programs_are_too_large_for_the_plain_search(one_more)


@pytest.fixture
def too_large(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many of each hundred programs are too large, in place of what a search finds."""
    share: list[int] = []

    def compare(case: object, ways: object, most: object, seen: Tally) -> None:
        seen.skipped += seen.programs < share[0]
        seen.programs += 1
        seen.branching += 1
        seen.plain += 2
        seen.reduced += 1

    def draw_case(rng: random.Random, limit: int) -> Case:
        return Case(Program(()), Settings())

    monkeypatch.setattr(bounds, "compare", compare)
    monkeypatch.setattr(bounds, "draw_case", draw_case)
    return share


def test_one_hundred_of_a_night_may_have_more_of_them_than_all_together(
    too_large: list[int],
) -> None:
    night = Tally()
    too_large.append(20)
    bounds.test_many_programs_reach_the_same_by_every_reduction(0, night)
    with pytest.raises(AssertionError, match="skipped=20"):
        bounds.test_few_of_many_programs_are_too_large_for_the_plain_search(night)
    too_large[0] = 0
    bounds.test_many_programs_reach_the_same_by_every_reduction(1, night)
    bounds.test_few_of_many_programs_are_too_large_for_the_plain_search(night)


def test_one_hundred_may_not_have_more_than_chance_explains(too_large: list[int]) -> None:
    too_large.append(21)
    with pytest.raises(AssertionError, match="skipped=21"):
        bounds.test_many_programs_reach_the_same_by_every_reduction(0, Tally())


def test_those_of_each_day_may_not_have_more_than_their_share(too_large: list[int]) -> None:
    too_large.append(11)
    with pytest.raises(AssertionError, match="skipped=11"):
        bounds.test_some_programs_reach_the_same_by_every_reduction(100, Tally())
    too_large[0] = 10
    bounds.test_some_programs_reach_the_same_by_every_reduction(100, Tally())
