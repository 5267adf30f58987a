"""The machine of a read-write lock, and its model: two lists, and a queue to look through."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from structsync._core.primitives.rwlock import READ, WRITE, Access, RWLockCore, make_core

from .core_machine import CoreMachine, one_of
from .models import Ended, Entry, QueueModel, Refused

TASKS = ["a", "b", "c", "d", "e", "f"]
ORDERS = ["fifo", "phase", "readers", "writers"]
MODES = st.sampled_from([READ, WRITE])

#: Of those who wait, which mode goes first.
FIRST = {"phase": WRITE, "readers": READ, "writers": WRITE}


class RWLockModel(QueueModel):
    """The claim is what for, and by whom; ``who`` is the same name."""

    def __init__(self, order: str) -> None:
        super().__init__()
        self.order = order
        self.inside: list[Access] = []

    def fits(self, claim: Access) -> bool:
        return not self.inside or {one.mode for one in (*self.inside, claim)} == {READ}

    def take(self, claim: Access) -> None:
        self.inside.append(claim)

    def refuse(self, claim: Access) -> None:
        known = [*self.inside, *(entry.claim for entry in self.entries)]
        if claim.claimant in [one.claimant for one in known]:
            raise Refused

    def standing(self) -> list[Entry]:
        if self.order == "fifo":
            return list(self.entries)
        first = FIRST[self.order]
        return sorted(self.entries, key=lambda entry: entry.claim.mode is not first)

    def release(self, claim: Access) -> Ended:
        if claim not in self.inside:
            raise Refused
        self.inside.remove(claim)
        return self.after(claim)

    def downgrade(self, who: str) -> Ended:
        claim = Access(WRITE, who)
        if claim not in self.inside:
            raise Refused
        self.inside = [Access(READ, who)]
        return self.after(claim)

    def after(self, claim: Access) -> Ended:
        """Serve who is next after a task has read, or written."""
        entered: Ended = []
        if self.order == "phase" and claim.mode is WRITE:
            for entry in [one for one in self.entries if one.claim.mode is READ]:
                self.entries.remove(entry)
                self.take(entry.claim)
                entered.append((entry.who, "granted"))
        return entered + self.serve()

    def exit(self, who: str) -> Ended:
        if who in [one.claimant for one in self.inside]:
            return self.close()
        if who in [entry.who for entry in self.entries]:
            return [(who, "withdrawn"), *self.withdraw(who)]
        return []


class RWLockMachine(CoreMachine):
    core: RWLockCore
    model: RWLockModel

    @initialize(order=st.sampled_from(ORDERS))
    def create(self, order: str) -> None:
        self.core, self.model = make_core(order), RWLockModel(order)

    def another_core(self) -> RWLockCore:
        return make_core(self.model.order)

    @rule(who=st.sampled_from(TASKS), mode=MODES)
    def ask(self, who: str, mode: Any) -> None:
        """A task asks who is idle, waits, or is inside."""
        self.submit(Access(mode, who), who=who, refusal=RuntimeError)

    @precondition(lambda self: self.model.inside)
    @rule(who=one_of(lambda self: [one.claimant for one in self.model.inside]))
    def leave(self, who: str) -> None:
        (claim,) = (one for one in self.model.inside if one.claimant == who)
        self.both(lambda: self.core.release(claim), lambda: self.model.release(claim))

    @rule(who=st.sampled_from(TASKS), mode=MODES)
    def release_what_may_not_be_held(self, who: str, mode: Any) -> None:
        claim = Access(mode, who)
        self.both(lambda: self.core.release(claim), lambda: self.model.release(claim))

    @rule(who=st.sampled_from(TASKS))
    def downgrade(self, who: str) -> None:
        self.both(lambda: self.core.downgrade(who), lambda: self.model.downgrade(who))

    @precondition(lambda self: self.model.arrivals > 20)  # later, or most runs end at once
    @rule(who=st.sampled_from(TASKS))
    def exit(self, who: str) -> None:
        self.both(lambda: self.core.owner_exited(who, "closed"), lambda: self.model.exit(who))

    def both(self, real: Callable[[], Any], model: Callable[[], Ended]) -> None:
        self.agree(real, model, RuntimeError)

    @invariant()
    def inside_are_those_of_the_model(self) -> None:
        if hasattr(self, "core"):
            held = (self.core.held_by(who) for who in TASKS)
            assert {one for one in held if one} == {*self.model.inside}
            assert self.core.pending == {one.claim.claimant: one for one in self.core.queue}
