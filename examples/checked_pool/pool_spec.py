"""A pool lends what it has, first come, first served; nobody who gave up is served, nobody is forgotten.

Whoever has a connection releases it eventually (that is *fair*). Whoever waits may give up.
"""

from __future__ import annotations

from collections.abc import Mapping

from structsync.checking import Spec, action, fault, invariant, leads_to, start

SIZE = 1  # with two, whoever is served next is less often decided
NAMES = ("a", "b", "c")  # one that has the connection, the first in the queue, and one behind it


class Line:
    """How many connections are free, who has one, and who waits."""

    def __init__(self) -> None:
        self.free = SIZE
        self.having: tuple[str, ...] = ()
        self.waiting: tuple[str, ...] = ()

    def borrow(self, who: str) -> None:
        self.waiting += (who,)
        self.serve()

    def give_up(self, who: str) -> None:
        self.waiting = tuple([one for one in self.waiting if one != who])

    def give_back(self, who: str) -> None:
        self.having = tuple([one for one in self.having if one != who])
        self.free += 1
        self.serve()

    def serve(self) -> None:
        while self.free and self.waiting:
            self.free -= 1
            self.having = tuple(sorted([*self.having, self.waiting[0]]))
            self.waiting = self.waiting[1:]

    def snapshot(self) -> tuple[int, tuple[str, ...], tuple[str, ...]]:
        return self.free, self.having, self.waiting

    def restore(self, snapshot: tuple[int, tuple[str, ...], tuple[str, ...]]) -> None:
        self.free, self.having, self.waiting = snapshot


class PoolSpec(Spec):
    """The pool, and who is there at all: has a connection, or waits for one."""

    line: Line = start(Line)
    there: frozenset[str] = start(frozenset)

    @action(who=NAMES, when=lambda self, who: who not in self.there)
    def borrow(self, who: str) -> None:
        self.there |= {who}
        self.line.borrow(who)

    @action(who=lambda self: [who for who in self.line.waiting if who in self.there])
    def give_up(self, who: str) -> None:
        self.there -= {who}
        self.line.give_up(who)

    @action(who=lambda self: [who for who in self.line.having if who in self.there], fair=True)
    def give_back(self, who: str) -> None:
        self.there -= {who}
        self.line.give_back(who)

    @invariant
    def no_connection_is_lost(self) -> bool:
        return self.line.free + len(self.line.having) == SIZE

    @invariant
    def nobody_has_one_who_gave_up(self) -> bool:
        return {*self.line.having} <= self.there

    @invariant
    def nobody_waits_while_one_is_free(self) -> bool:
        return not (self.line.free and self.line.waiting)

    @leads_to(who=NAMES)
    def who_waits_is_served(self, who: str) -> tuple[bool, bool]:
        return who in self.line.waiting, who not in self.line.waiting

    # What can be seen of a pool from outside, for machines and traces.

    def observed(self) -> Mapping[str, object]:
        line = self.line
        return {"free": line.free, "waiting": len(line.waiting), "having": line.having}

    def describe(self) -> Mapping[str, object]:
        line = self.line
        return {"free": line.free, "having": line.having, "waiting": line.waiting}


@fault(PoolSpec, "line", refuted_by="nobody_has_one_who_gave_up")
class ForgetfulLine(Line):
    """Who gives up is not taken out of the queue."""

    def give_up(self, who: str) -> None:
        pass
