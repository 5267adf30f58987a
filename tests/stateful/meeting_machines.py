"""The machines of barrier and latch, and their models."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from structsync._core.primitives.barrier import BarrierCore
from structsync._core.primitives.latch import LatchCore
from structsync._core.queue.request import Request

from .core_machine import CoreMachine, one_of
from .models import Ended, QueueModel, Refused


class BarrierModel(QueueModel):
    def __init__(self, parties: int) -> None:
        super().__init__()
        self.parties = parties
        self.broken = False

    def fits(self, claim: None) -> bool:
        return False

    def refuse(self, claim: None) -> None:
        if self.broken or not self.parties:
            raise Refused

    def leave(self) -> Ended:
        if not self.parties:
            raise Refused
        self.parties -= 1
        return self.serve() if self.entries else []

    def serve(self) -> Ended:
        if len(self.entries) < self.parties:
            return []
        round_, self.entries = self.entries, []
        return [(entry.who, "granted") for entry in round_]

    def break_round(self) -> Ended:
        if self.closed:
            return []
        self.broken = True
        told = [(entry.who, "broken") for entry in self.entries]
        self.entries = []
        return told

    def leave_and_break(self, who: str) -> Ended:
        self.withdraw(who)
        return self.break_round()

    def reset(self) -> Ended:
        told = self.break_round()
        self.broken = False
        return told

    def close(self) -> Ended:
        self.broken = False
        return super().close()


class BarrierMachine(CoreMachine):
    core: BarrierCore
    model: BarrierModel

    @initialize(parties=st.integers(1, 4))
    def create(self, parties: int) -> None:
        self.core, self.model = BarrierCore(parties), BarrierModel(parties)

    def another_core(self) -> BarrierCore:
        return BarrierCore(self.model.parties)

    @rule()
    def come(self) -> None:
        who = self.newcomer()
        asked: list[Request[Any]] = []

        def real() -> list[Request[Any]]:
            asked.append(self.core.enqueue(None, waiter=who))
            self.requests[who] = asked[0]
            return self.core.release_round() if self.core.full else []

        def model() -> Ended:
            ended = self.model.arrive(who, None)
            self.statuses[who], self.endings[who] = "pending", 0
            return ended

        waiting = [*self.model.entries]
        self.agree(real, model, RuntimeError)
        if asked and self.statuses[who] == "granted":
            party = [*(entry.who for entry in waiting), who]
            assert [self.requests[one].claim for one in party] == [*range(len(party))]

    @precondition(lambda self: self.model.arrivals > 2)  # or there is soon no task left
    @rule(fails=st.booleans())
    def leave(self, fails: bool) -> None:
        acted: list[int] = []

        def act() -> str | None:
            acted.append(len(self.core.queue))
            return "broken" if fails else None

        def model() -> Ended:
            completes = bool(self.model.entries) and (
                len(self.model.entries) == self.model.parties - 1
            )
            if fails and completes:
                self.model.parties -= 1
                return self.model.break_round()
            return self.model.leave()

        waiting, parties = len(self.model.entries), self.model.parties
        self.agree(lambda: self.core.remove_party(act), model, RuntimeError)
        assert acted == ([waiting] if waiting and waiting == parties - 1 else [])
        assert self.core.parties == self.model.parties

    @precondition(lambda self: self.requests)
    @rule(who=one_of(lambda self: list(self.requests)))
    def leave_and_break(self, who: str) -> None:
        before = self.situation()
        ended = self.core.leave_and_break(self.requests[who], "broken")
        if self.statuses[who] == "pending":
            assert ended is not None
            self.end(who, "withdrawn")
            self.note(ended, self.model.leave_and_break(who))
        else:
            assert ended is None
            assert self.situation() == before

    @precondition(lambda self: self.model.arrivals > 4)  # arrivals are rarer here than elsewhere
    @rule()
    def close(self) -> None:
        super().close()

    @rule()
    def abort(self) -> None:
        self.agree(lambda: self.core.break_round("broken"), self.model.break_round)

    @rule()
    def reset(self) -> None:
        self.agree(lambda: self.core.reset("reset"), self.model.reset)

    @invariant()
    def it_knows_whether_it_is_broken(self) -> None:
        if hasattr(self, "core"):
            assert self.core.broken == self.model.broken
            assert (self.core.cause is not None) == (self.model.broken or self.model.closed)
            assert not self.core.queue or not self.core.full


class LatchModel(QueueModel):
    def __init__(self, count: int) -> None:
        super().__init__()
        self.count = count

    def fits(self, claim: int) -> bool:
        return self.count == 0

    def take(self, claim: int) -> None:
        pass

    def count_down(self, n: int) -> Ended:
        if n > self.count:
            raise Refused
        self.count -= n
        return self.serve()


class LatchMachine(CoreMachine):
    core: LatchCore
    model: LatchModel

    @initialize(count=st.integers(0, 9))
    def create(self, count: int) -> None:
        self.core, self.model = LatchCore(count), LatchModel(count)

    def another_core(self) -> LatchCore:
        return LatchCore(0)

    @rule()
    def wait(self) -> None:
        self.submit(0)

    @rule(n=st.integers(1, 3))
    def count_down(self, n: int) -> None:
        self.agree(lambda: self.core.release(n), lambda: self.model.count_down(n))

    @invariant()
    def the_count_is_that_of_the_model(self) -> None:
        assert not hasattr(self, "core") or self.core.count == self.model.count
