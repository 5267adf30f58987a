"""A fingerprint that is blind to one thing is noticed by the cross-check."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from .check import Mismatch, Tally, compare, reached_plainly
from .faults import FAULTS, Planted
from .generate import Case, draw_case

#: So many programs that are about the thing must be enough.
PROGRAMS = 120
LIMIT, MOST = 300, 600
MOST_ALONE = 20_000  # a program written for a fault is not skipped


def cases(planted: Planted) -> Iterator[Case]:
    """Yield programs that are about the thing, each drawn when it is needed."""
    if isinstance(planted.about, Case):
        yield planted.about
    else:
        for number in range(planted.first, planted.first + PROGRAMS):
            yield draw_case(random.Random(f"fault:{number}"), LIMIT, planted.about)


def first_mismatch(planted: Planted) -> Mismatch | None:
    """What the cross-check says first of a fingerprint with this fault that hides states.

    Where a hash is too short, it is chance which states it takes for one, and with them the search may break.
    """
    most = MOST_ALONE if isinstance(planted.about, Case) else MOST
    broken: Mismatch | None = None
    for case in cases(planted):
        plain = reached_plainly(case, most)  # by a search that looks at no fingerprint
        with planted.plant():
            found = compare(case, (planted.way,), most, Tally(), plain)
        if found is not None:
            intact = compare(case, (planted.way,), most, Tally(), plain)
            assert intact is None, "it is not the fault"
            if found.missing:
                return found
            broken = broken or found
    return broken


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fingerprint_that_is_blind_to_one_thing_is_noticed(fault: str) -> None:
    found = first_mismatch(FAULTS[fault])
    assert found is not None, f"{PROGRAMS} programs do not show it"
    assert found.missing, f"the fault breaks the search instead of hiding states:\n{found}"
    assert not found.surplus
    assert found.tokens(), found


def test_a_mismatch_is_told_with_the_program_and_a_token_that_replays() -> None:
    found = first_mismatch(FAULTS["which of the tasks"])
    assert found is not None
    assert "async def test(x):" in str(found)
    assert "x1a:" in str(found)
