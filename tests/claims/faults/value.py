"""Faults of a value that is waited for, each for one claim."""

from __future__ import annotations

from ...plants import value  # noqa: TID252 - the one home of the faults
from ._planting import Shared

waiters_see_the_value_before = Shared(
    value.an_assignment_is_seen_by_the_next_one,
    "value.an_assignment_grants_exactly_those_that_want_it",
)
