"""The machine of a buffer in a trio run: what was put comes out once, or is still there."""

from __future__ import annotations

from typing import Any

import trio
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

import structsync
from structsync._core.primitives.sides import Get, Lend, One

from .buffer_machine import BufferModel
from .shell_machine import PATIENCE, ShellMachine, Visitor

#: How many at once; None is one item by itself, and 0 one to work on.
AMOUNT = st.none() | st.integers(0, 3)
CALLS = st.tuples(st.booleans(), AMOUNT, PATIENCE)  # whether it puts
SYNCHRONOUS = st.tuples(
    st.sampled_from(["cancel", "cancel", "put_nowait", "get_nowait", "use_up", "fail", "complete"]),
    st.integers(0, 4),
)


class BufferShellMachine(ShellMachine):
    primitive: structsync.Buffer[Any]
    model: BufferModel

    @initialize(room=st.integers(1, 3), order=st.sampled_from(["fifo", "lifo"]))
    def create(self, room: int, order: Any) -> None:
        self.primitive, self.model = structsync.Buffer(room, policy=order), BufferModel(room, order)
        self.claims: dict[str, Any] = {}
        self.got: dict[str, list[Any]] = {}
        self.put: list[str] = []  # by what the calls said
        self.dropped: set[str] = set()
        self.blocks: dict[str, tuple[structsync.BufferItem[Any], str]] = {}

    # ==== arriving ====

    def claim_of(self, who: str, puts: bool, amount: int | None) -> Any:
        if puts:
            return tuple(f"{who}.{number}" for number in range(amount or 1))
        return One() if amount is None else Get(amount) if amount else Lend()

    def start(self, puts: bool, amount: int | None, patience: int | None) -> str:
        who = self.newcomer()
        claim = self.claims[who] = self.claim_of(who, puts, amount)
        buffer = self.primitive

        async def put() -> None:
            await (buffer.put(claim[0]) if amount is None else buffer.put_many(claim))
            self.put += claim

        async def get() -> None:
            found = await (buffer.get() if amount is None else buffer.get_many(amount))
            self.got[who] = found if isinstance(found, list) else [found]

        async def work() -> None:
            block = buffer.item()
            self.blocks[who] = (block, await block.__aenter__())

        self.call(who, put if puts else work if amount == 0 else get, patience)
        return who

    def predict_arrival(self, who: str) -> None:
        claim = self.claims[who]
        if (refusal := self.refusal(claim)) is not None:
            self.visitors[who].expected = refusal.__name__
            return
        ended = self.model.arrive(who, claim)
        self.predict("requested", who)
        self.end(ended)

    def refusal(self, claim: Any) -> type[Exception] | None:
        """Return the error of a claim that does not even join the queue."""
        puts = isinstance(claim, tuple)
        if self.model.closed or (puts and self.model.completed):
            return trio.ClosedResourceError
        if puts and len(claim) > self.model.room:
            return ValueError
        if self.model.completed and not (self.model.items or self.model.lent):
            return trio.EndOfChannel
        return None

    @precondition(lambda self: len(self.model.entries) < 5)  # or the queue only grows
    @rule(calls=st.lists(CALLS, min_size=1, max_size=3))
    def arrive_together(self, calls: list[tuple[bool, int | None, int | None]]) -> None:
        arrivals: list[str] = []
        self.stepper.step(lambda: arrivals.extend(self.start(*call) for call in calls))
        # Who came first is for trio's scheduler to say; what follows from it, for the model.
        came = [who for kind, who in self.observed if kind == "requested" and who in arrivals]
        for who in [*came, *(who for who in arrivals if who not in came)]:
            self.predict_arrival(who)

    @rule(puts=st.booleans(), amount=AMOUNT)
    def arrive_in_a_cancelled_scope(self, puts: bool, amount: int | None) -> None:
        def start() -> str:
            who = self.start(puts, amount, None)
            self.visitors[who].actor.scope.cancel()
            return who

        who = self.stepper.step(start)
        if not self.model.lane(self.claims[who]):
            self.visitors[who].expected = "cancelled"  # it has not even arrived
        else:
            self.predict_arrival(who)
            self.predict_cancelled_arrival(who)

    # ==== changes ====

    @rule(changes=st.lists(SYNCHRONOUS, min_size=1, max_size=3))
    def in_one_step(self, changes: list[tuple[str, int]]) -> None:
        def carry_out() -> None:
            for change, number in changes:
                getattr(self, f"do_{change}")(number)

        self.stepper.step(carry_out)

    def do_cancel(self, number: int) -> None:
        if who := self.pick(number):
            self.visitors[who].actor.scope.cancel()
            self.predict_cancel(who)

    def do_put_nowait(self, number: int) -> None:
        items = tuple(f"driver{len(self.put)}.{one}" for one in range(number or 1))
        self.nowait(items, lambda: self.primitive.put_many_nowait(items))

    def do_get_nowait(self, number: int) -> None:
        found: list[Any] = []
        claim = Get(number or 1)
        self.nowait(claim, lambda: found.extend(self.primitive.get_many_nowait(number or 1)))
        self.got.setdefault("driver", []).extend(found)

    def nowait(self, claim: Any, call: Any) -> None:
        refusal = self.refusal(claim)
        if refusal is None and self.model.would_be_served(claim):
            self.must_pass(call)
            if isinstance(claim, tuple):
                self.put += claim
            self.predict("requested", "driver")
            self.end(self.model.arrive("driver", claim))
        else:
            self.must_raise(refusal or trio.WouldBlock, call)

    def do_use_up(self, number: int) -> None:
        if self.blocks:
            who, item = self.leave_block(number, None)
            self.got[who] = [item]
            self.end(self.model.use_up(who))

    def do_fail(self, number: int) -> None:
        if self.blocks:
            who, item = self.leave_block(number, ValueError())
            if self.model.closed:
                self.dropped.add(item)
            self.end(self.model.put_back(who))

    def leave_block(self, number: int, error: Exception | None) -> tuple[str, str]:
        who = [*self.blocks][number % len(self.blocks)]
        block, item = self.blocks.pop(who)
        block.__aexit__(error and type(error), error, None)
        return who, item

    def do_complete(self, number: int) -> None:
        if len(self.visitors) > 15:  # later, or most runs end at once
            self.primitive.complete()
            self.end(self.model.complete())

    @precondition(lambda self: len(self.visitors) > 25)
    @rule()
    def close(self) -> None:
        self.dropped |= set(self.model.items)
        self.stepper.step(self.primitive.close)
        self.end(self.model.close())

    def outcome_of(self, visitor: Visitor, status: str) -> str:
        who = visitor.actor.name
        if status == "broken" and not isinstance(self.claims[who], tuple) and not self.model.closed:
            return "EndOfChannel"
        return super().outcome_of(visitor, status)

    # ==== what holds at quiescence ====

    @invariant()
    def each_has_what_the_model_handed_out(self) -> None:
        if hasattr(self, "primitive"):
            for who, found in self.got.items():
                if who != "driver":
                    assert found == self.model.handed[who], who

    @invariant()
    def what_was_put_came_out_once_or_is_there(self) -> None:
        if hasattr(self, "primitive"):
            out = [item for found in self.got.values() for item in found]
            out += [item for _, item in self.blocks.values()]
            assert sorted(self.put) == sorted([*out, *self.model.items, *self.dropped])
            assert self.primitive.statistics().items == len(self.model.items)
            assert self.primitive.statistics().lent == len(self.model.lent) == len(self.blocks)
