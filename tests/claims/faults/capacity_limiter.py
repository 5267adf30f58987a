"""Tokens lent twice or out of nothing: each refuted by a claim about a limiter."""

from __future__ import annotations

from collections.abc import Hashable

from structsync._core.primitives.capacity_limiter import CapacityLimiterCore

from ...plants import capacity_limiter  # noqa: TID252 - the one home of the faults
from ._planting import Ended, Shared, fault, grant

one_token_too_many_is_lent = Shared(
    capacity_limiter.one_token_too_many, "capacity_limiter.a_grant_needs_a_spare_token"
)


@fault(
    CapacityLimiterCore,
    "refuse_impossible",
    refuted_by="capacity_limiter.a_borrower_is_lent_one_token_at_most",
)
def a_holder_may_queue(core: CapacityLimiterCore, claim: Hashable) -> None:
    if claim in core.pending:
        raise RuntimeError


@fault(
    CapacityLimiterCore,
    "refuse_impossible",
    refuted_by="capacity_limiter.a_borrower_waits_once_at_most",
)
def a_waiter_may_queue_again(core: CapacityLimiterCore, claim: Hashable) -> None:
    """Two waits of one borrower would both be granted, and one token counted (trio's limiter)."""
    if claim in core.borrowers:
        raise RuntimeError


@fault(
    CapacityLimiterCore,
    "discharge",
    refuted_by="capacity_limiter.a_token_that_was_not_borrowed_cannot_be_released",
)
def a_stranger_releases(core: CapacityLimiterCore, claim: Hashable) -> None:
    core.borrowers.pop(claim, None)


@fault(
    CapacityLimiterCore,
    "admits",
    refuted_by="capacity_limiter.a_returned_token_is_lent_to_the_oldest_if_it_is_spare",
)
def each_returned_token_is_lent_again(core: CapacityLimiterCore, claim: Hashable) -> bool:
    return claim not in core.borrowers


@fault(
    CapacityLimiterCore,
    "resize",
    refuted_by="capacity_limiter.new_tokens_are_lent_to_the_oldest_and_only_the_spare_ones",
)
def all_new_tokens_are_lent(core: CapacityLimiterCore, total_tokens: float) -> Ended:
    growth = max(0, int(total_tokens - core.total_tokens))
    core.total_tokens = total_tokens
    return [grant(core, one) for one in core.waiting()[:growth]]
