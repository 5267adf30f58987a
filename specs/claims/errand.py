"""An errand of a thread is begun once, ends once, and an interrupt ends none that has begun or must be done."""

from __future__ import annotations

from structsync._core.primitives.errand import ASKED, BEGUN, ENDED, ErrandCore

STAGES = (ASKED, BEGUN, ENDED)  # the stages by their numbers: a claim takes any int, no name


def with_stage(stage: int, interrupted: bool, must: bool) -> ErrandCore:
    """Return an errand in any situation: the number of its stage, and whether it was interrupted."""
    core = ErrandCore(must=must)
    core.restore((STAGES[stage], interrupted))
    return core


def it_is_begun_once(stage: int, interrupted: bool, must: bool) -> None:
    assert 0 <= stage <= 2
    core = with_stage(stage, interrupted, must)
    begins = core.begin()
    assert begins == (stage == 0)
    assert core.stage == (BEGUN if begins else STAGES[stage])
    assert core.interrupted == interrupted


def it_ends_once(stage: int, interrupted: bool, must: bool) -> None:
    assert 0 <= stage <= 2
    core = with_stage(stage, interrupted, must)
    assert core.end() == (stage < 2)
    assert core.stage == ENDED
    assert not core.end()


def an_interrupt_ends_what_has_not_begun_and_need_not_be_done(
    stage: int, interrupted: bool, must: bool
) -> None:
    assert 0 <= stage <= 2
    core = with_stage(stage, interrupted, must)
    if core.interrupt():
        assert stage == 0
        assert not must
        assert core.stage == ENDED
    else:
        assert stage > 0 or must
        assert core.stage == STAGES[stage]
    assert core.interrupted == (interrupted or stage < 2)
