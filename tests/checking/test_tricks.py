"""Forty ways to write a specification that would be confirmed for the wrong reason.

None of them is on the list that `test_nothing_fools_it.py` goes through; the rules behind that list
have to cover them. Each ends with an error, or with a verdict that is not green.
"""

from collections.abc import Callable

import pytest

from structsync.checking import Spec

from .tricks import answers, hidden_state
from .tricks.base import TRICKS, not_green

MODULES = (answers, hidden_state)  # importing them fills the list


def test_there_are_forty() -> None:
    assert len(TRICKS) >= 40


@pytest.mark.parametrize("make", TRICKS, ids=lambda make: make.__name__)
def test_a_trick_does_not_end_green(make: Callable[[], type[Spec]]) -> None:
    assert not_green(make)
