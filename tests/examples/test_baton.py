"""The specification that the guide on checking shows says what the guide says of it."""

from pathlib import Path

import pytest

from structsync.checking import SpecError, Verdict, check, check_fault, load

BATON = Path(__file__).parents[2] / "examples" / "baton"
FINISHED = load(BATON / "baton_spec.py")
(BATON_SPEC,) = FINISHED.specs.values()
(FIRST_ATTEMPT,) = load(BATON / "first_attempt_spec.py").specs.values()
(FORGETFUL,) = load(BATON / "forgetful_spec.py").specs.values()


def test_the_finished_ring_is_confirmed() -> None:
    assert check(BATON_SPEC).verdict is Verdict.CONFIRMED


def test_the_first_attempt_starves_a_task() -> None:
    result = check(FIRST_ATTEMPT)
    refuted = [one.name for one in result.properties if one.verdict is Verdict.REFUTED]
    assert refuted == ["every_worker_gets_its_turn"]


def test_a_counter_that_the_snapshot_leaves_out_is_refused() -> None:
    with pytest.raises(SpecError, match=r"ring.passed is .* snapshot\(\) and restore\(\) forget"):
        check(FORGETFUL)


@pytest.mark.parametrize("name", FINISHED.faults)
def test_each_planted_bug_is_found(name: str) -> None:
    assert check_fault(FINISHED.faults[name]).caught
