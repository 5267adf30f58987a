"""The ferry carries people of one bank at a time, has a seat for each, and keeps no passenger waiting forever.

An idle passenger may come to its bank; one that waits may walk away; one that is aboard steps off eventually
(that is *fair*: the waiting passengers depend on it); the ferry may be closed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from structsync.checking import (
    Spec,
    action,
    fault,
    invariant,
    invariants,
    leads_to,
    start,
    step,
    terminal,
)

from .ferry import FerryCore

SEATS = 2  # with one, none could board while another is aboard

# Two more on one bank than there are seats: they can take turns while one waits on the other.
BANKS = {"a": "left", "b": "left", "c": "left", "d": "left", "x": "right", "y": "right"}


def idle(spec: FerrySpec) -> list[str]:
    busy = {*spec.aboard, *waiting(spec)}
    return [who for who in BANKS if who not in busy] if spec.core.cause is None else []


def waiting(spec: FerrySpec) -> list[str]:
    return [request.waiter for request in spec.core.queue]


class FerrySpec(Spec):
    """A ferry, and the passengers aboard."""

    core: FerryCore = start(FerryCore, SEATS)
    aboard: frozenset[str] = start(frozenset)
    landed: bool = start(bool)  # one stepped off, and another is still aboard

    # ==== Actions ====

    @action(who=idle)
    def come(self, who: str) -> None:
        self.note([self.core.submit(BANKS[who], waiter=who)])

    @action(who=waiting)
    def walk_away(self, who: str) -> None:
        (request,) = (one for one in self.core.queue if one.waiter == who)
        self.note(self.core.withdraw(request) or ())

    @action(who=aboard, fair=True)
    def step_off(self, who: str) -> None:
        self.aboard -= {who}
        self.landed = bool(self.aboard)
        self.note(self.core.release(BANKS[who]))

    @action(when=lambda spec: spec.core.cause is None)
    def close(self) -> None:
        self.note(self.core.end("closed"))

    def note(self, ended: Iterable[Any]) -> None:
        """Record which passengers board: those whose requests the core has granted."""
        self.aboard |= {one.waiter for one in ended if one.status == "granted"}

    def describe(self) -> dict[str, object]:
        queue = ", ".join(f"{who} ({BANKS[who]})" for who in waiting(self))
        return {"aboard": self.aboard, "landed": self.landed, "waiting": queue or "-"}

    # ==== What must be true ====

    @terminal
    def closed_and_empty(self) -> bool:
        """Nothing more need happen once it is closed and all passengers are off."""
        return self.core.cause is not None and not self.aboard

    @invariant
    def each_passenger_has_a_seat(self) -> bool:
        return len(self.aboard) <= SEATS

    @invariant
    def all_aboard_come_from_one_bank(self) -> bool:
        return len({BANKS[who] for who in self.aboard}) <= 1

    @invariant
    def nothing_grantable_waits(self) -> bool:
        """No lost wakeup: no passenger waits that may board."""
        return invariants.nothing_grantable_waits(self.core)

    @step
    def no_passenger_boards_where_others_step_off(self, before: FerrySpec) -> bool:
        return not self.landed or self.aboard <= before.aboard

    @leads_to(who=tuple(BANKS))
    def every_waiting_passenger_crosses(self, who: str) -> tuple[bool, bool]:
        """If people step off, each that waits boards eventually, walks away, or finds the ferry closed."""
        waits = who in waiting(self)
        return waits, not waits


# ==== bugs on purpose ====


@fault(FerrySpec, "core", refuted_by="every_waiting_passenger_crosses")
class BoardsAnyThatFits(FerryCore):
    """As long as there are seats one bank keeps the ferry busy, and the other waits forever."""

    def discharge(self, claim: str) -> None:
        self.aboard -= 1


@fault(FerrySpec, "core", refuted_by="no_passenger_boards_where_others_step_off")
class BoardsAfterLanding(BoardsAnyThatFits):
    """A passenger boards on the far bank, and is carried nowhere."""


@fault(FerrySpec, "core", refuted_by="all_aboard_come_from_one_bank")
class BoardsFromBothBanks(FerryCore):
    """An empty seat is free for passengers of either bank."""

    def admits(self, claim: str) -> bool:
        return self.aboard < self.seats and not self.landed


@fault(FerrySpec, "core", refuted_by="each_passenger_has_a_seat")
class OneSeatTooMany(FerryCore):
    """One passenger more boards than there are seats."""

    def admits(self, claim: str) -> bool:
        return self.aboard == 0 or (claim == self.bank and self.aboard <= self.seats)


@fault(FerrySpec, "core", refuted_by="nothing_grantable_waits")
class LeavesAPassengerBehind(FerryCore):
    """The ferry is empty, and the passengers on the other bank are not called."""

    def release(self, claim: str) -> list[Any]:
        self.discharge(claim)
        return []
