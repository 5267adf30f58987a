"""What a task that is gone has claimed is released, broken or withdrawn: and nothing of any other task."""

from __future__ import annotations

from typing import Any

from structsync import Status
from structsync._core.queue.owned import OwnedArbiter

from ._queue import BOUND, claims_of


class Slots(OwnedArbiter[Any]):
    """So many slots; a claim is the number of the task."""

    free: int

    def __init__(self, free: int) -> None:
        super().__init__()
        self.free = free
        self.owners: list[Any] = []

    def admits(self, claim: Any) -> bool:
        return self.free > 0

    def admit(self, claim: Any) -> None:
        self.free -= 1
        self.owners.append(claim)

    def discharge(self, claim: Any) -> None:
        self.owners.remove(claim)
        self.free += 1

    def holds(self, claim: Any) -> bool:
        return claim in self.owners


def a_task_that_is_gone_leaves_nothing_behind(waiting: int, gone: int, is_released: bool) -> None:
    assert 0 <= waiting <= BOUND
    assert -1 <= gone <= waiting
    core = Slots(1)
    core.submit(-1)
    for who in range(waiting):
        core.enqueue(who, waiter=who)
    cause = None if is_released else "its task has ended"
    ended = core.owner_exited(gone, cause)
    if gone == waiting:
        assert not ended
        assert core.cause is None
    elif gone >= 0:
        assert [one.claim for one in ended] == [gone]
        assert ended[0].status is Status.WITHDRAWN
        assert gone not in claims_of(core.waiting())
        assert len(core.queue) == waiting - 1
    elif is_released:
        assert claims_of(ended) == ([0] if waiting else [])
        assert core.owners == claims_of(ended)
    else:
        assert core.cause == cause
        assert claims_of(ended) == list(range(waiting))
        assert all(one.status is Status.BROKEN for one in ended)


class Sized(Slots):
    """The same; a claim is a number of slots, and its claimant."""

    def admits(self, claim: tuple[int, int]) -> bool:
        return claim[1] <= self.free


def those_behind_a_task_that_is_gone_are_let_in(free: int, gone: int) -> None:
    assert 0 <= free <= 2
    assert 0 <= gone <= 1
    core = Sized(free)
    first, second = (core.enqueue(claim) for claim in ((0, 3), (1, 1)))
    ended = core.owner_exited((gone, 1 if gone else 3), "its task has ended")
    assert ended == ([second] if gone else [first, second] if free else [first])
    assert core.cause is None
    assert first.status is (Status.PENDING if gone else Status.WITHDRAWN)
    assert core.owners == ([second.claim] if free and not gone else [])
