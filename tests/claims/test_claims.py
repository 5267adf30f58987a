"""Each claim in ``specs/claims`` is confirmed, says something, and loses to its planted fault."""

from __future__ import annotations

from pathlib import Path
from types import FunctionType

import pytest

from ._harness import Verdict, analyze, ends_of, passing_ends, shipped_claims
from .faults import (
    arbiter,
    barrier,
    buffer,
    calls,
    capacity_limiter,
    condition,
    errand,
    group,
    guards,
    history,
    idle,
    job_queue,
    latch,
    ledger,
    lent_items,
    links,
    lock,
    lock_map,
    monitor,
    own_core,
    owned,
    parker,
    plain,
    policy,
    queue,
    rate_limiter,
    refusals,
    resource_pool,
    rwlock,
    semaphore,
    shared,
    stand_in,
    synchronizer,
    two_sides,
    value,
    wait_queue,
    waits_for,
)
from .faults._planting import Fault, OfASpec, Shared

CLAIMS = shipped_claims()
MODULES = (
    arbiter,
    idle,
    barrier,
    buffer,
    calls,
    capacity_limiter,
    condition,
    errand,
    group,
    history,
    job_queue,
    latch,
    ledger,
    lent_items,
    links,
    queue,
    lock,
    guards,
    lock_map,
    monitor,
    own_core,
    parker,
    plain,
    owned,
    policy,
    rate_limiter,
    refusals,
    resource_pool,
    rwlock,
    semaphore,
    shared,
    stand_in,
    synchronizer,
    two_sides,
    value,
    wait_queue,
    waits_for,
)
FAULTS = {
    f"{module.__name__.rpartition('.')[2]}.{name}": one
    for module in MODULES
    for name, one in vars(module).items()
    if isinstance(one, Fault | OfASpec | Shared)
}

each_claim = pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS.keys())
each_fault = pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())


@each_claim
def test_the_claim_holds_over_all_paths_and_they_reach_the_end_of_each_branch(
    claim: FunctionType, tmp_path: Path
) -> None:
    answer = analyze(passing_ends(claim, tmp_path))
    assert answer.verdict is Verdict.CONFIRMED, answer.words
    assert answer.reached == set(ends_of(claim))


@each_fault
def test_the_claim_refutes_its_fault(
    fault: Fault | OfASpec | Shared, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault.plant(monkeypatch)
    answer = analyze(CLAIMS[fault.refuted_by])
    assert answer.verdict is Verdict.REFUTED, answer.words


def test_each_claim_has_a_fault() -> None:
    assert {fault.refuted_by for fault in FAULTS.values()} == set(CLAIMS)
