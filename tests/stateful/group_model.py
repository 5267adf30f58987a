"""What claims on several queues should do, restated in lists."""

from __future__ import annotations

from dataclasses import dataclass

from .models import Refused

Told = list[tuple[str, str, int]]  # (kind, who, which queue)


@dataclass
class Wish:
    """All, or any, of so much of each of these queues."""

    every: bool
    wanted: dict[int, int]


class GroupsModel:
    """Who waits, in the order of arrival, and who holds what; each queue has so much room.

    Of those who wait for any of several the first line that can serves them; where two can after one
    step, no order is promised, and the caller says which it was.
    """

    def __init__(self, sizes: tuple[int, ...]) -> None:
        self.room = [*sizes]
        self.waiting: dict[str, Wish] = {}
        self.holding: dict[str, dict[int, int]] = {}
        self.out: set[int] = set()  # the queues that are out of service

    def due(self, who: str) -> list[int]:
        """Return the queues that may serve this one: it is first there, and there is room."""
        wish = self.waiting[who]
        due = [
            at for at, n in wish.wanted.items() if self.queue(at)[0] == who and n <= self.room[at]
        ]
        return due if len(due) == len(wish.wanted) or not wish.every else []

    def queue(self, at: int) -> list[str]:
        return [who for who, wish in self.waiting.items() if at in wish.wanted]

    def grant(self, who: str, due: list[int]) -> Told:
        wish = self.waiting.pop(who)
        taken = due if wish.every else due[:1]
        self.holding[who] = {at: wish.wanted[at] for at in taken}
        for at in taken:
            self.room[at] -= wish.wanted[at]
        return [("granted" if at in taken else "withdrawn", who, at) for at in wish.wanted]

    def arrive(self, who: str, wish: Wish) -> Told:
        """Join each queue; a group that need not wait takes the first, as they are written."""
        if self.out & {*wish.wanted}:
            raise Refused
        self.waiting[who] = wish
        if not (due := self.due(who)):
            return [("requested", who, at) for at in wish.wanted]
        self.grant(who, due)
        return [(kind, who, at) for at in self.holding[who] for kind in ("requested", "granted")]

    def serve(self, chosen: dict[str, int]) -> Told:
        """Let in every task that may, again and again; ``chosen`` says which queue served whom."""
        told: Told = []
        for who in [*self.waiting]:
            due = self.due(who)
            if not self.waiting[who].every and who in chosen:
                due = [at for at in due if at == chosen[who]]
            if due:
                return [*self.grant(who, due), *self.serve(chosen)]
        return told

    def withdraw(self, who: str) -> Told:
        return [("withdrawn", who, at) for at in self.waiting.pop(who).wanted]

    def leave(self, who: str) -> None:
        for at, n in self.holding.pop(who).items():
            self.room[at] += n

    def end(self, at: int) -> Told:
        """The queue is closed or broken: what waits in it leaves the others too."""
        self.out.add(at)
        told: Told = []
        for who in self.queue(at):
            wanted = self.waiting.pop(who).wanted
            told += [("broken" if each == at else "withdrawn", who, each) for each in wanted]
        return told
