"""The machine of a read-write lock in a trio run."""

from __future__ import annotations

from typing import Any

import trio
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

import structsync
from structsync._core.primitives.rwlock import READ, Access

from .core_machine import one_of
from .models import Refused
from .rwlock_machine import MODES, ORDERS, RWLockModel
from .shell_machine import PATIENCE, ShellMachine, Visitor

# What a holder can do without waiting, besides taking it again; the number picks whom to cancel.
HOLDERS_CHANGES = st.tuples(
    st.sampled_from(["release", "release", "downgrade", "cancel", "nowait"]), st.integers(0, 4)
)


class RWLockShellMachine(ShellMachine):
    """Each visitor is a task that comes once, holds, and may do several things in one step then."""

    primitive: structsync.RWLock
    model: RWLockModel

    @initialize(order=st.sampled_from(ORDERS))
    def create(self, order: Any) -> None:
        self.primitive, self.model = structsync.RWLock(policy=order), RWLockModel(order)
        self.gone: set[str] = set()  # whose tasks have ended
        self.errors_of_ended = ""  # the error of those that come then

    def outcome_of(self, visitor: Visitor, status: str) -> str:
        return self.errors_of_ended if status == "broken" else super().outcome_of(visitor, status)

    # ==== arriving ====

    @precondition(lambda self: len(self.model.entries) < 5)  # or the queue only grows
    @rule(calls=st.lists(st.tuples(MODES, PATIENCE), min_size=1, max_size=3))
    def arrive_together(self, calls: list[tuple[Any, int | None]]) -> None:
        arrivals: dict[str, Any] = {}

        def start() -> None:
            for mode, patience in calls:
                who = self.newcomer()
                arrivals[who] = mode
                self.ask(who, mode, patience)

        self.stepper.step(start)
        # Who came first is for trio's scheduler to say; what follows from it, for the model.
        came = [who for kind, who in self.observed if kind == "requested"]
        for who in [*came, *(who for who in arrivals if who not in came)]:
            self.predict_arrival(who, arrivals[who])

    def ask(self, who: str, mode: Any, patience: int | None) -> None:
        lock = self.primitive
        self.call(who, lock.acquire_read if mode is READ else lock.acquire_write, patience)

    def predict_arrival(self, who: str, mode: Any) -> None:
        visitor = self.visitors[who]
        if self.model.closed:
            visitor.expected = self.errors_of_ended
            return
        try:
            ended = self.model.arrive(who, Access(mode, who))
        except Refused:
            visitor.expected = "RuntimeError"
            return
        self.predict("requested", who)
        self.end(ended)

    @rule(mode=MODES)
    def arrive_in_a_cancelled_scope(self, mode: Any) -> None:
        def start() -> str:
            who = self.newcomer()
            self.ask(who, mode, None)
            self.visitors[who].actor.scope.cancel()
            return who

        who = self.stepper.step(start)
        if self.model.would_be_served(Access(mode, who)):
            self.visitors[who].expected = "cancelled"  # it has not even arrived
        else:
            self.predict_arrival(who, mode)
            self.predict_cancelled_arrival(who)

    @precondition(lambda self: self.model.entries)
    @rule(number=st.integers(0, 3))
    def cancel(self, number: int) -> None:
        self.stepper.step(lambda: self.do_cancel("", number))

    # ==== what holders do ====

    def holders(self) -> list[str]:
        """Those inside whose tasks live."""
        return [str(one.claimant) for one in self.model.inside if one.claimant not in self.gone]

    @precondition(lambda self: self.holders())
    @rule(who=one_of(lambda self: self.holders()), mode=MODES, patience=PATIENCE)
    def ask_for_more(self, who: str, mode: Any, patience: int | None) -> None:
        """Neither reentrant nor upgraded: refused at once."""
        self.stepper.step(lambda: self.ask(who, mode, patience))
        self.predict_arrival(who, mode)

    @precondition(lambda self: self.holders())
    @rule(
        who=one_of(lambda self: self.holders()),
        mode=MODES,
        changes=st.lists(HOLDERS_CHANGES, min_size=1, max_size=3),
    )
    def holder_in_one_step(self, who: str, mode: Any, changes: list[tuple[str, int]]) -> None:
        async def call() -> None:
            for change, number in changes:
                if change == "release":
                    self.do_release(who)
                elif change == "downgrade":
                    self.do_downgrade(who)
                elif change == "nowait":
                    self.do_nowait(who, mode)
                else:
                    self.do_cancel(who, number)

        self.stepper.step(lambda: self.call(who, call))
        self.visitors[who].expected = "returned"

    def do_release(self, who: str) -> None:
        held = [one for one in self.model.inside if one.claimant == who]
        if held:
            self.primitive.release()
            self.end(self.model.release(held[0]))
        else:
            self.must_raise(RuntimeError, self.primitive.release)

    def do_downgrade(self, who: str) -> None:
        try:
            ended = self.model.downgrade(who)
        except Refused:
            self.must_raise(RuntimeError, self.primitive.downgrade)
        else:
            self.primitive.downgrade()
            self.predict("granted", who)
            self.end(ended)

    def do_nowait(self, who: str, mode: Any) -> None:
        lock, claim = self.primitive, Access(mode, who)
        acquire_nowait = lock.acquire_read_nowait if mode is READ else lock.acquire_write_nowait
        if self.model.would_be_served(claim):
            self.must_pass(acquire_nowait)
            self.predict("requested", who)
            self.end(self.model.arrive(who, claim))
        elif self.model.closed:
            self.must_raise(getattr(trio, self.errors_of_ended), acquire_nowait)
        else:
            held = who in self.holders()
            self.must_raise(RuntimeError if held else trio.WouldBlock, acquire_nowait)

    def do_cancel(self, me: str, number: int) -> None:
        who = self.pick(number)
        if who is not None and who != me:
            self.visitors[who].actor.scope.cancel()
            self.predict_cancel(who)

    # ==== ends ====

    def late(self) -> bool:
        """Whether it is time for what ends most of the fun."""
        return self.model.arrivals > 12

    @precondition(lambda self: self.late() and self.holders())
    @rule(who=one_of(lambda self: self.holders()))
    def exit(self, who: str) -> None:
        self.stepper.step(self.visitors[who].actor.exit)
        self.gone.add(who)
        self.errors_of_ended = self.errors_of_ended or "BrokenResourceError"
        self.end(self.model.exit(who))

    @precondition(lambda self: self.late())
    @rule()
    def close(self) -> None:
        self.stepper.step(self.primitive.close)
        self.errors_of_ended = self.errors_of_ended or "ClosedResourceError"
        self.end(self.model.close())

    @invariant()
    def inside_are_those_of_the_model(self) -> None:
        if hasattr(self, "primitive"):
            found, inside = self.primitive.statistics(), self.model.inside
            tasks = [*found.readers, found.writer] if found.writer else [*found.readers]
            assert [task.name for task in tasks] == [one.claimant for one in inside]
            assert all((one.mode is READ) == (found.writer is None) for one in inside)
