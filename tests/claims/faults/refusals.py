"""Faults of what refuses, each for one claim."""

from __future__ import annotations

from structsync._core.primitives import rwlock
from structsync._core.primitives.barrier import BarrierCore
from structsync._core.primitives.rwlock import RWLockCore
from structsync._core.shared import kinds

from ._planting import fault


@fault(BarrierCore, "discharge", refuted_by="refusals.what_no_core_of_its_kind_does_is_refused")
def a_barrier_takes_back_what_it_never_gave(core: BarrierCore, claim: object) -> None: ...


@fault(kinds, "_counted", refuted_by="refusals.what_does_not_exist_is_not_made")
def a_size_of_nothing_is_made(number: int, what: str) -> int:
    return number


@fault(rwlock, "make_core", refuted_by="refusals.what_exists_is_made")
def whatever_is_asked_for_is_first_come_first_served(policy: str) -> RWLockCore:
    return RWLockCore()
