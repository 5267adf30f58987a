"""Items in hand come back to where they were: every short history, against a list of what was put."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from structsync._core.primitives.buffer import BufferCore
from structsync._core.primitives.sides import Lend, One

POLICIES = ("fifo", "lifo", "priority")
STEPS = ("put", "get", "lend", "use up the first", "put the first back", "put the last back")


class Model:
    """Everything that was put and is neither got nor used up, in that order, and what of it is lent."""

    def __init__(self, policy: str) -> None:
        self.policy = policy
        self.items: list[int] = []
        self.lent: list[int] = []

    def next_one(self) -> int:
        there = [item for item in self.items if item not in self.lent]
        if self.policy == "priority":
            return min(there, key=rank_of)
        return there[0] if self.policy == "fifo" else there[-1]


def rank_of(item: int) -> int:
    return item % 2


class Run:
    def __init__(self, policy: str, core: BufferCore | None = None) -> None:
        self.core = core or BufferCore(9, policy=policy)
        self.model = Model(policy)
        self.claims: list[Lend] = []
        self.made = 0

    def step(self, what: str) -> None:
        core, model = self.core, self.model
        if what == "put":
            self.put()
        elif what in ("get", "lend"):
            self.take(lends=what == "lend")
        elif self.claims:
            at = -1 if "last" in what else 0
            claim, item = self.claims.pop(at), model.lent.pop(at)
            assert core.item_of(claim) == item
            if what == "use up the first":
                model.items.remove(item)
                core.release(claim)
            else:
                core.put_back(claim)

    def put(self) -> None:
        item, self.made = self.made, self.made + 1
        self.core.ask(((rank_of(item), item) if self.core.items.compares else item,))
        self.model.items.append(item)

    def take(self, *, lends: bool) -> None:
        if len(self.model.items) == len(self.model.lent):
            return
        item = self.model.next_one()
        request, _ = self.core.ask(Lend() if lends else One())
        if lends:
            assert self.core.item_of(request.claim) == item
            self.claims.append(request.claim)
            self.model.lent.append(item)
        else:
            assert request.claim == item
            self.model.items.remove(item)

    def check_to_the_end(self) -> None:
        core = self.core
        assert core.room == 9 - len(self.claims)
        assert len(core.items) == len(self.model.items) - len(self.claims)
        while len(self.model.items) > len(self.model.lent):
            self.take(lends=False)


@pytest.mark.unmeasured
@pytest.mark.parametrize("policy", POLICIES)
def test_whatever_happens_an_item_comes_out_where_it_belongs(policy: str) -> None:
    for history in product(STEPS, repeat=5):
        run = Run(policy)
        for step in ("put", *history):
            run.step(step)
        run.check_to_the_end()


@pytest.mark.parametrize("policy", POLICIES)
def test_a_snapshot_has_what_is_lent_and_counts_no_numbers(policy: str) -> None:
    run = Run(policy)
    for step in ("put", "put", "put", "lend", "lend", "put the first back"):
        run.step(step)
    snapshot = run.core.snapshot()
    other = Run(policy, BufferCore(9, policy=policy))
    other.core.restore(snapshot)
    assert other.core.snapshot() == snapshot
    assert (other.core.room, len(other.core.items)) == (8, 2)
    other.claims, other.model, other.made = run.claims, run.model, run.made
    for step in ("put", "put the first back", "get", "lend"):
        other.step(step)
    other.check_to_the_end()
    # The same again, a while later.
    later = Run(policy)
    for step in ("put", "put", "get", "get", "put", "put", "put"):
        later.step(step)
    later.core.restore(snapshot)
    assert later.core.snapshot() == snapshot
    fresh = BufferCore(9, policy=policy)
    later.core.restore(fresh.snapshot())
    assert later.core.snapshot() == fresh.snapshot()


def test_what_was_released_is_not_in_hand() -> None:
    core = BufferCore(1)
    core.ask(("item",))
    request, _ = core.ask(Lend())
    assert not core.is_idle
    core.release(request.claim)
    assert core.is_idle
    with pytest.raises(RuntimeError, match="not in hand any more"):
        core.release(request.claim)


class Odd:
    """A rank that can be compared unless told otherwise."""

    def __init__(self, rank: int, broken: list[Any]) -> None:
        self.rank, self.broken = rank, broken

    def __lt__(self, other: Odd) -> bool:
        if self.broken:
            raise ValueError("incomparable")
        return self.rank < other.rank


def test_an_item_whose_rank_cannot_be_compared_any_more_is_not_lost() -> None:
    core, broken = BufferCore(3, policy="priority"), list[Any]()
    core.ask(((Odd(1, broken), "first"), (Odd(2, broken), "second")))
    request, _ = core.ask(Lend())
    broken.append(True)
    core.put_back(request.claim)
    assert [core.ask(One())[0].claim for _ in range(2)] == ["first", "second"]


@pytest.mark.parametrize("policy", POLICIES)
def test_a_copy_of_items_goes_on_alone(policy: str) -> None:
    run = Run(policy)
    for step in ("put", "put", "lend"):
        run.step(step)
    items = run.core.items.copy()
    assert type(items) is type(run.core.items)
    assert (items.take(), len(run.core.items)) == (run.core.items.copy().take(), 1)
    items.extend(((0, "new"),) if items.compares else ("new",))
    assert items.take() == "new"


def test_a_claim_to_work_on_an_item_is_equal_to_itself_alone() -> None:
    claim = Lend("worker")
    assert claim == claim
    assert claim != Lend("worker")
