"""Faults of groups."""

from __future__ import annotations

from typing import Any

import pytest
from trio.lowlevel import current_task

from structsync import Claim, Holding, RWLock
from structsync._core.primitives.rwlock import WRITE, Access
from structsync._core.queue.group import Claims
from structsync._core.queue.request import Request
from structsync._runtime import parking_together, waking
from structsync._runtime.request import RequestBase


def a_group_leaves_the_other_queues_asleep(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(waking, "settle_transitively", lambda ended: [])


def a_group_stays_in_the_other_queues(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Claims, "_withdraw_pending", lambda self: None)


def a_group_takes_what_is_not_its_turn(patch: pytest.MonkeyPatch) -> None:
    """It is next in one line, and passes those before it in the others."""
    patch.setattr(
        Claims,
        "consents",
        lambda self, request: all(one.arbiter.admits(one.claim) for one in self.members),
    )


def a_group_is_granted_where_there_is_no_room(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Claims, "consents", lambda self, request: True)


def a_choice_is_granted_twice(patch: pytest.MonkeyPatch) -> None:
    intact = Claims.grant

    def grant(self: Claims, request: Request[Any]) -> None:
        every, self.every = self.every, True
        intact(self, request)
        self.every = every

    patch.setattr(Claims, "grant", grant)


def half_a_group_is_granted(patch: pytest.MonkeyPatch) -> None:
    """The one whose turn it was; the others are withdrawn."""
    intact = Claims.grant

    def grant(self: Claims, request: Request[Any]) -> None:
        every, self.every = self.every, False
        intact(self, request)
        self.every = every

    patch.setattr(Claims, "grant", grant)


def a_group_that_was_not_next_once_is_never_evaluated_again(patch: pytest.MonkeyPatch) -> None:
    """The hint where consent was refused last is taken for a fact."""
    intact = Claims.consents

    def consents(self: Claims, request: Request[Any]) -> bool:
        if self.unready >= len(self.members):
            return False
        answer = intact(self, request)
        if not answer:
            self.unready = len(self.members)
        return answer

    patch.setattr(Claims, "consents", consents)


def a_block_releases_the_first_alone(patch: pytest.MonkeyPatch) -> None:
    intact = Claims.granted
    patch.setattr(Claims, "granted", lambda self: intact(self)[:1])


def a_claim_to_write_only_reads(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(RWLock, "write_claim", RWLock.read_claim)


def a_claim_is_for_the_task_that_made_it(patch: pytest.MonkeyPatch) -> None:
    """And not for who acquires."""

    def write_claim(self: RWLock) -> Claim[RWLock]:
        maker = current_task()
        return Claim(self, lambda task: Access(WRITE, maker))

    patch.setattr(RWLock, "write_claim", write_claim)


def a_request_is_withdrawn_from_the_first_queue_alone(patch: pytest.MonkeyPatch) -> None:
    """Those behind it elsewhere wait for a task that has left."""

    def withdraw_group(group: Claims) -> bool:
        first = group.members[0]
        return first.arbiter.leave(first)

    patch.setattr(parking_together, "withdraw_group", withdraw_group)


def a_closed_request_releases_at_each_close(patch: pytest.MonkeyPatch) -> None:
    """Once by the task that closes it, and once more at the end of the block."""

    def close(self: RequestBase) -> None:
        if not self.withdraw() and self.status == "granted":
            self._released = True
            self._held()._portions = []  # type: ignore[attr-defined]
            for member in self._group.granted():  # type: ignore[attr-defined]
                member.primitive._leave(member.claim)

    patch.setattr(RequestBase, "close", close)


def a_closed_request_keeps_what_it_was_granted(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(RequestBase, "_release", lambda self: None)
    patch.setattr("structsync._primitives.holding.GroupRequest._release", lambda self: None)


def what_is_released_early_is_all_of_it(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Holding, "release", lambda self, claim: self.close())


def what_is_released_early_is_released_at_the_end(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Holding, "release", lambda self, claim: claim.primitive._leave(current_task()))


def what_is_kept_is_released_with_the_block(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Holding, "keep", lambda self: self)


def a_request_to_write_only_reads(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(RWLock, "write_request", RWLock.read_request)
