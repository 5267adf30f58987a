"""The machines of the pool of items, core and trio run, and their model: two lists and a clock."""

from __future__ import annotations

import math
from typing import Any

import trio
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

import structsync
from structsync._core.primitives.resource_pool import ResourcePoolCore

from .core_machine import CoreMachine, one_of
from .models import Ended, QueueModel, Refused
from .shell_machine import PATIENCE
from .small_shells import OneLineMachine

LIFETIME = 4
SIZES = st.integers(1, 3)


class PoolModel(QueueModel):
    """Who has a place, with which item in it, and what is idle since when: never means unfit."""

    def __init__(self, max_size: int, min_size: int = 0, lifetime: float = math.inf) -> None:
        super().__init__()
        self.max_size = max_size
        self.min_size = min_size
        self.lifetime = lifetime
        self.now: float = 0
        self.lent: dict[str, int | None] = {}
        self.unfit: set[int] = set()
        self.idle: list[tuple[int, float]] = []  # the newest last

    def fits(self, claim: str) -> bool:
        return len(self.lent) < self.max_size

    def take(self, claim: str) -> None:
        self.lent[claim] = self.idle.pop()[0] if self.idle else None

    @property
    def size(self) -> int:
        return len(self.lent) + len(self.idle)

    def is_over(self, item: int, since: float) -> bool:
        too_old = self.size > self.min_size and self.now - since >= self.lifetime
        return item in self.unfit or too_old

    def put_back(self, who: str) -> Ended:
        if who not in self.lent:
            raise Refused
        item = self.lent.pop(who)
        if item in self.unfit:
            self.idle.insert(0, (item, self.now))
        elif item is not None:
            self.idle.append((item, self.now))
        return self.serve()

    def stale(self) -> bool:
        if not self.idle:
            return False
        return self.closed or self.size > self.max_size or self.is_over(*self.idle[0])

    def resize(self, max_size: int) -> Ended:
        if max_size < self.min_size:
            raise Refused
        self.max_size = max_size
        return self.serve()


class ResourcePoolMachine(CoreMachine):
    core: ResourcePoolCore
    model: PoolModel

    @initialize(max_size=SIZES, min_size=st.integers(0, 1), ages=st.booleans())
    def create(self, max_size: int, min_size: int, ages: bool) -> None:
        self.core = ResourcePoolCore(max_size, min_size, LIFETIME if ages else None)
        self.model = PoolModel(max_size, min_size, LIFETIME if ages else math.inf)
        self.items = self.helpers = 0

    def another_core(self) -> ResourcePoolCore:
        return ResourcePoolCore(1)

    def empty(self) -> list[str]:
        return [who for who, item in self.model.lent.items() if item is None]

    def full(self) -> list[str]:
        return [who for who, item in self.model.lent.items() if item is not None]

    def helper(self) -> str:
        self.helpers += 1
        return f"helper {self.helpers}"

    # ==== rules ====

    @rule()
    def borrow(self) -> None:
        self.submit(self.newcomer())

    @precondition(lambda self: self.empty())
    @rule(who=one_of(lambda self: self.empty()))
    def make(self, who: str) -> None:
        self.items += 1
        self.core.put_in(who, self.items)
        self.model.lent[who] = self.items

    @precondition(lambda self: self.model.lent)
    @rule(who=one_of(lambda self: [*self.model.lent]))
    def put_back(self, who: str) -> None:
        """With an item, or without one."""
        self.agree(
            lambda: self.core.put_back(who, self.model.now), lambda: self.model.put_back(who)
        )

    @rule()
    def put_back_what_was_not_lent(self) -> None:
        self.agree(
            lambda: self.core.release("no task"),
            lambda: self.model.put_back("no task"),
            RuntimeError,
        )

    @precondition(lambda self: self.full())
    @rule(who=one_of(lambda self: self.full()))
    def discard(self, who: str) -> None:
        item = self.model.lent[who]
        assert item is not None
        assert self.core.loan_of(item) == who
        self.core.discard(who)
        self.model.unfit.add(item)

    @precondition(lambda self: self.full())
    @rule(who=one_of(lambda self: self.full()))
    def close_item_and_go_on(self, who: str) -> None:
        assert self.core.take_out(who) == self.model.lent[who]
        self.model.lent[who] = None
        self.core.next_item(who, self.model.now)
        if self.model.idle and not self.model.is_over(*self.model.idle[-1]):
            self.model.lent[who] = self.model.idle.pop()[0]

    @rule()
    def evict(self) -> None:
        who, stale = self.helper(), self.model.stale()
        assert self.core.evict(who, self.model.now) == stale
        if stale:
            self.model.lent[who] = self.model.idle.pop(0)[0]

    @rule()
    def reserve(self) -> None:
        who, missing = self.helper(), self.model.size < self.model.min_size
        assert self.core.reserve(who) == (missing and not self.model.closed)
        if missing and not self.model.closed:
            self.model.lent[who] = None

    @rule(max_size=st.integers(0, 3))
    def resize(self, max_size: int) -> None:
        self.agree(lambda: self.core.resize(max_size), lambda: self.model.resize(max_size))

    @rule(time=st.integers(1, LIFETIME))
    def time_passes(self, time: int) -> None:
        self.model.now += time

    @rule(by=st.integers(-9, 9))
    def change_the_clock(self, by: int) -> None:
        self.model.now += by
        self.core.change_clock(self.model.now)
        self.model.idle = [(item, self.model.now) for item, _ in self.model.idle]

    # ==== what holds after every step ====

    @invariant()
    def each_item_is_where_the_model_says(self) -> None:
        if hasattr(self, "core"):
            lent = {who: kept and kept.item for who, kept in self.core.loans.items()}
            assert lent == self.model.lent
            assert [kept.item for kept in self.core.idle] == [item for item, _ in self.model.idle]


class ResourcePoolShellMachine(OneLineMachine):
    """Items are made at once; a borrower has its own until it is told to return it."""

    primitive: structsync.ResourcePool[int]
    model: PoolModel

    @initialize(max_size=SIZES)
    def create(self, max_size: int) -> None:
        self.primitive = structsync.ResourcePool(self.make, max_size, close=self.close_item)
        self.model = PoolModel(max_size)
        self.made = 0
        self.blocks: dict[str, tuple[structsync.PoolItem[int], int]] = {}
        self.shut: list[int] = []
        self.seen: set[int] = set()

    async def make(self) -> int:
        self.made += 1
        return self.made

    async def close_item(self, item: int) -> None:
        self.shut.append(item)

    @rule(patience=PATIENCE)
    def borrow(self, patience: int | None) -> None:
        async def call() -> None:
            block = self.primitive.item()
            item = await block.__aenter__()
            self.blocks[trio.lowlevel.current_task().name] = (block, item)

        who = f"w{len(self.visitors)}"
        self.visit(call, who, "", patience)

    @precondition(lambda self: self.blocks)
    @rule(who=one_of(lambda self: [*self.blocks]), number=st.integers(0, 5), discards=st.booleans())
    def put_back(self, who: str, number: int, discards: bool) -> None:
        block, item = self.blocks.pop(who)

        def real() -> None:
            if discards:
                self.primitive.discard(item)
            self.finish(block.__aexit__(None, None, None))

        def model() -> Ended:
            self.model.unfit |= {item} if discards else set()
            ended = self.model.put_back(who)
            for one, given in self.model.lent.items():
                if given in self.model.unfit and one not in self.blocks:
                    self.model.lent[one] = (
                        None  # it closes what it was given, and makes another one
                    )
            while self.model.stale():
                self.model.idle.pop(0)
            return ended

        self.change(real, model, number)

    def finish(self, coroutine: Any) -> None:
        """Run what a block ends with: no task waits there."""
        try:
            coroutine.send(None)
        except StopIteration:
            return
        raise AssertionError("the end of a block sleeps")

    @precondition(lambda self: not self.model.closed)
    @rule(max_size=SIZES, number=st.integers(0, 5))
    def resize(self, max_size: int, number: int) -> None:
        self.change(
            lambda: self.primitive.resize(max_size), lambda: self.model.resize(max_size), number
        )

    @invariant()
    def each_has_the_item_that_the_model_says_or_a_new_one(self) -> None:
        for who, (_, item) in getattr(self, "blocks", {}).items():
            if self.model.lent[who] is None:
                assert item not in self.seen
                self.model.lent[who] = item
                self.seen.add(item)
            assert self.model.lent[who] == item

    @invariant()
    def as_many_are_lent_and_idle_as_the_model_says(self) -> None:
        if hasattr(self, "primitive"):
            numbers = self.primitive.statistics()
            assert (numbers.lent, numbers.idle) == (len(self.model.lent), len(self.model.idle))

    @invariant()
    def no_item_is_lost_or_lent_twice(self) -> None:
        if hasattr(self, "primitive"):
            lent = [item for _, item in self.blocks.values()]
            idle = [item for item, _ in self.model.idle]
            assert sorted(lent + idle + self.shut) == list(range(1, self.made + 1))
