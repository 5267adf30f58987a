"""The machine of the buffer, and its model: a list of items, and a list of those who wait."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from structsync._core.primitives.buffer import BufferCore
from structsync._core.primitives.sides import Batch, Get, Lend, One
from structsync._core.queue.request import Request

from .core_machine import CoreMachine, one_of
from .models import Ended, Entry, QueueModel, Refused


class BufferModel(QueueModel):
    def __init__(self, room: int, order: str) -> None:
        super().__init__()
        self.room, self.order = room, order
        self.items: list[Any] = []  # in the order in which they were put
        self.puts: dict[Any, int] = {}  # the position of each among all that were put
        self.lent: dict[str, Any] = {}
        self.handed: dict[str, list[Any]] = {}
        self.completed = self.window_over = False

    def fits(self, claim: Any) -> bool:
        if isinstance(claim, tuple):
            return not self.completed and len(self.items) + len(claim) <= self.free()
        if isinstance(claim, Batch) and not (self.completed or self.window_over):
            return bool(self.items) and len(self.items) >= min(claim.most, self.free())
        return bool(self.items)

    def free(self) -> int:
        return self.room - len(self.lent)

    def lane(self, claim: Any) -> list[Entry]:
        """Return who waits on the side of a claim."""
        puts = isinstance(claim, tuple)
        return [one for one in self.entries if isinstance(one.claim, tuple) is puts]

    def next_served(self) -> Entry | None:
        for claim in (None, ()):  # those who get, then those who put
            lane = self.lane(claim)
            if lane and self.fits(lane[0].claim):
                self.granting = lane[0].who
                return lane[0]
        return None

    def take(self, claim: Any) -> None:
        if isinstance(claim, tuple):
            self.items += claim
            for item in claim:
                self.puts[item] = len(self.puts)
            return
        if isinstance(claim, Lend):
            item = self.lent[self.granting] = self.items.pop(self.next_place())
            self.handed[self.granting] = [self.shown(item)]
            return
        self.window_over = False
        found: list[Any] = []
        self.handed[self.granting] = found
        while self.items and len(found) < claim.most:
            found.append(self.shown(self.items.pop(self.next_place())))

    def shown(self, item: Any) -> Any:
        return item[1] if self.order == "priority" else item

    def use_up(self, who: str) -> Ended:
        if who not in self.lent:
            raise Refused
        del self.lent[who]
        return self.serve()

    def put_back(self, who: str) -> Ended:
        item = self.lent.pop(who)
        del self.handed[who]
        if not self.closed:
            self.items = sorted([*self.items, item], key=self.puts.__getitem__)
        return self.serve()

    def next_place(self) -> int:
        if self.order == "priority":
            return self.items.index(min(self.items, key=lambda pair: pair[0]))
        return 0 if self.order == "fifo" else len(self.items) - 1

    def refuse(self, claim: Any) -> None:
        puts = isinstance(claim, tuple)
        if (self.completed and (puts or not (self.items or self.lent))) or (
            puts and len(claim) > self.room
        ):
            raise Refused

    def serve(self) -> Ended:
        ended = super().serve()
        if self.completed and not (self.items or self.lent):
            ended += [(entry.who, "broken") for entry in self.entries]
            self.entries = []
        return ended

    def complete(self) -> Ended:
        if self.completed or self.closed:
            return []
        self.completed = True
        told = [one for one in self.entries if isinstance(one.claim, tuple)]
        self.entries = [one for one in self.entries if one not in told]
        return [*((one.who, "broken") for one in told), *self.serve()]

    def close(self) -> Ended:
        self.items = []
        return super().close()


class BufferMachine(CoreMachine):
    core: BufferCore
    model: BufferModel

    @initialize(room=st.integers(1, 4), order=st.sampled_from(["fifo", "lifo", "priority"]))
    def create(self, room: int, order: str) -> None:
        self.core, self.model = BufferCore(room, policy=order), BufferModel(room, order)

    def another_core(self) -> BufferCore:
        return BufferCore(self.model.room, policy=self.model.order)

    def ask(self, claim: Any) -> None:
        who = self.newcomer()
        assert self.core.admissible(claim) == self.model.would_be_served(claim)

        def real() -> list[Request[Any]]:
            self.requests[who], ended = self.core.ask(claim, who)
            return ended

        def model() -> Ended:
            ended = self.model.arrive(who, claim)
            self.statuses[who], self.endings[who] = "pending", 0
            return ended

        self.agree(real, model)

    @rule(ranks=st.lists(st.integers(0, 2), min_size=1, max_size=3))
    def put(self, ranks: list[int]) -> None:
        who = self.newcomer()
        items = [f"{who}.{place}" for place in range(len(ranks))]
        compared = self.model.order == "priority"
        self.ask(tuple(zip(ranks, items, strict=True)) if compared else tuple(items))

    @rule(claim=st.sampled_from([One(), Get(1), Get(3), Batch(2), Batch(5)]))
    def get(self, claim: Get) -> None:
        self.ask(claim)

    @rule()
    def lend(self) -> None:
        self.ask(Lend())

    def claim_of(self, who: str) -> Lend:
        return self.requests[who].claim if who in self.requests else Lend()

    @rule(number=st.integers(0, 5))
    def use_up(self, number: int) -> None:
        lent = [*self.model.lent, "no task"]
        who = lent[number % len(lent)]
        claim = self.claim_of(who)
        self.agree(lambda: self.core.release(claim), lambda: self.model.use_up(who), RuntimeError)

    @precondition(lambda self: self.model.lent)
    @rule(who=one_of(lambda self: [*self.model.lent]))
    def put_back(self, who: str) -> None:
        claim = self.claim_of(who)
        self.agree(lambda: self.core.put_back(claim), lambda: self.model.put_back(who))

    @precondition(lambda self: self.core.collecting is not None)
    @rule()
    def end_window(self) -> None:
        collecting = self.core.collecting
        assert collecting is not None

        def model() -> Ended:
            self.model.window_over = True
            return self.model.serve()

        self.agree(lambda: self.core.end_window(collecting), model)

    @precondition(lambda self: self.model.arrivals > 15)  # later, or most runs end at once
    @rule()
    def complete(self) -> None:
        self.agree(lambda: self.core.complete("no more", "drained"), self.model.complete)

    @rule(which=st.sets(st.integers(0, 9), max_size=3))
    def an_end_is_closed(self, which: set[int]) -> None:
        names = {one.who for place, one in enumerate(self.model.entries) if place in which}

        def model() -> Ended:
            told = [one for one in self.model.entries if one.who in names]
            self.model.entries = [one for one in self.model.entries if one not in told]
            return [*((one.who, "broken") for one in told), *(self.model.serve() if told else [])]

        self.agree(lambda: self.core.break_waiters(names, "closed"), model)

    @invariant()
    def each_got_what_the_model_says(self) -> None:
        if hasattr(self, "core"):
            assert len(self.core.items) == len(self.model.items)
            for who, items in self.model.handed.items():
                got = self.requests[who].claim
                if isinstance(got, Lend):
                    got = self.core.item_of(got) if who in self.model.lent else items
                assert (got if isinstance(got, list) else [got]) == items

    @invariant()
    def the_next_to_get_collects(self) -> None:
        """A window is open exactly if items are there and a task waits for them."""
        if hasattr(self, "core"):
            waits = any(not isinstance(one.claim, tuple) for one in self.model.entries)
            assert (self.core.collecting is not None) == bool(waits and self.model.items)
