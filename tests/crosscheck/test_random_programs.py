"""Every reduction reaches exactly what the plain search reaches, in thousands of random programs.

The number of programs is CROSSCHECK_PROGRAMS, and CROSSCHECK_SEED makes them others; by default
each version of Python and trio draws its own. See the environment "crosscheck" in tox.ini.
"""

from __future__ import annotations

import os
import random
import sys

import pytest
import trio
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from structsync.testing import Settings

from . import test_random_programs as this
from .check import OTHERS, Tally, compare, shrunk
from .faults import FAULTS
from .generate import Case, draw_case
from .program import Op, Program, Worker
from .source import source

SEED = os.environ.get("CROSSCHECK_SEED", f"{sys.version_info.minor}/{trio.__version__}")
PROGRAMS = int(os.environ.get("CROSSCHECK_PROGRAMS", "600"))
CHUNK = 100  # programs per test: small enough that no test comes near its time limit

LIMIT = int(os.environ.get("CROSSCHECK_LIMIT", "100"))  # schedules of one program, as estimated
MOST = 3 * LIMIT  # executions that the plain search may take; the estimate is no bound

#: More programs than this share are too large: the estimate has gone wrong.
SKIPPED = 0.10
#: A hundred programs of any seed have more than that by chance, once in a hundred times; never so many.
SKIPPED_BY_CHANCE = 0.20
#: More than this share cannot be told apart by states: objects are not looked into.
OPAQUE = 0.10
#: Fewer than this share have more than one outcome: there is nothing to lose.
BRANCHING = 0.25


def check_chunk(chunk: int, size: int, skipped: float = SKIPPED) -> Tally:
    """Cross-check some programs; fail with the simplest one that goes wrong."""
    seen = Tally()
    for number in range(size):
        seed = f"{SEED}:{chunk}:{number}"
        case = draw_case(random.Random(seed), LIMIT)
        other = OTHERS[number % len(OTHERS)]
        first = "symmetry" if case.program.symmetric and number % 2 else "states"
        found = compare(case, (first, other), MOST, seen)
        if found is not None:
            pytest.fail(f"seed {seed!r}: {shrunk(found, MOST)}", pytrace=False)
    assert seen.programs == size
    assert seen.skipped <= skipped * size, seen
    assert seen.opaque <= OPAQUE * size, seen
    assert seen.branching >= BRANCHING * size, seen
    assert seen.reduced < 0.9 * seen.plain, f"nothing is pruned: {seen}"
    return seen


@pytest.mark.parametrize("programs", [40, pytest.param(100, marks=pytest.mark.nightly)])
def test_some_programs_reach_the_same_by_every_reduction(programs: int, tally: Tally) -> None:
    tally.add(check_chunk(-1, programs))


@pytest.mark.nightly
@pytest.mark.parametrize("chunk", range(PROGRAMS // CHUNK))
def test_many_programs_reach_the_same_by_every_reduction(chunk: int, tally: Tally) -> None:
    tally.add(check_chunk(chunk, CHUNK, SKIPPED_BY_CHANCE))


@pytest.mark.nightly
def test_few_of_many_programs_are_too_large_for_the_plain_search(tally: Tally) -> None:
    assert tally.skipped <= SKIPPED * tally.programs, tally


@pytest.mark.slow
def test_a_chunk_fails_with_the_seed_and_a_small_program() -> None:
    with FAULTS["local variables"].plant():
        with pytest.raises(pytest.fail.Exception, match=r"^seed '.*:-2:\d+': '\w+' and") as failed:
            check_chunk(-2, 100)
    text = str(failed.value)
    assert "only the plain search reaches" in text
    assert "schedule of " in text
    drawn = source(draw_case(random.Random(text.split("'")[1]), LIMIT).program)
    assert len(text.partition("import ")[2]) < len(drawn), "it was not made smaller"


def test_a_chunk_of_programs_with_one_outcome_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    dull = Case(Program((Worker((Op("pause"),), 2),)), Settings(cancels=0, symmetry=False))
    monkeypatch.setattr(this, "draw_case", lambda rng, limit: dull)
    with pytest.raises(AssertionError, match="branching=0"):
        check_chunk(-3, 10)


def test_a_chunk_of_programs_that_are_too_large_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(this, "MOST", 1)
    with pytest.raises(AssertionError, match="skipped="):
        check_chunk(-4, 10)


@settings(
    max_examples=50,
    # what fails is shrunk as a program, which is better than by the draws that led to it
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.too_slow],  # an example is some hundred executions
)
@given(st.randoms(use_true_random=False))
def test_programs_that_hypothesis_draws_reach_the_same(rng: random.Random) -> None:
    found = compare(draw_case(rng, 60), ("states", "symmetry"), MOST, Tally())
    assert found is None, str(shrunk(found, MOST))
