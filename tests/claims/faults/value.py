"""Faults of a value that is waited for, each for one claim."""

from __future__ import annotations

from typing import Any

from structsync._core.primitives.value import ValueCore

from ._planting import Ended, fault


@fault(ValueCore, "assign", refuted_by="value.an_assignment_grants_exactly_those_who_want_it")
def those_who_wait_see_the_value_before(core: ValueCore, value: Any) -> Ended:
    ended = core.settle()
    core.value = value
    return ended
