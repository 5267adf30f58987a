"""A pool lends what it has, first come, first served; no task that gave up is served, none is forgotten.

A task that has a connection puts it back eventually (that is *fair*). A task that waits may give up.
"""

from __future__ import annotations

from collections.abc import Mapping

from structsync.checking import Spec, action, fault, invariant, leads_to, start

SIZE = 1  # with two, which task is served next is less often decided
NAMES = ("a", "b", "c")  # one that has the connection, the first in the queue, and one behind it


class Queue:
    """How many connections are free, which tasks have one, and which wait."""

    def __init__(self) -> None:
        self.free = SIZE
        self.having: tuple[str, ...] = ()
        self.waiting: tuple[str, ...] = ()

    def borrow(self, who: str) -> None:
        self.waiting += (who,)
        self.serve()

    def give_up(self, who: str) -> None:
        self.waiting = tuple([one for one in self.waiting if one != who])

    def put_back(self, who: str) -> None:
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
    """The pool, and the tasks that are there at all: each has a connection, or waits for one."""

    queue: Queue = start(Queue)
    there: frozenset[str] = start(frozenset)

    @action(who=NAMES, when=lambda self, who: who not in self.there)
    def borrow(self, who: str) -> None:
        self.there |= {who}
        self.queue.borrow(who)

    @action(who=lambda self: [who for who in self.queue.waiting if who in self.there])
    def give_up(self, who: str) -> None:
        self.there -= {who}
        self.queue.give_up(who)

    @action(who=lambda self: [who for who in self.queue.having if who in self.there], fair=True)
    def put_back(self, who: str) -> None:
        self.there -= {who}
        self.queue.put_back(who)

    @invariant
    def no_connection_is_lost(self) -> bool:
        return self.queue.free + len(self.queue.having) == SIZE

    @invariant
    def no_connection_goes_to_a_task_that_gave_up(self) -> bool:
        return {*self.queue.having} <= self.there

    @invariant
    def no_task_waits_while_one_is_free(self) -> bool:
        return not (self.queue.free and self.queue.waiting)

    @leads_to(who=NAMES)
    def every_waiter_is_served(self, who: str) -> tuple[bool, bool]:
        return who in self.queue.waiting, who not in self.queue.waiting

    # What can be seen of a pool from outside, for machines and traces.

    def observed(self) -> Mapping[str, object]:
        queue = self.queue
        return {"free": queue.free, "waiting": len(queue.waiting), "having": queue.having}

    def describe(self) -> Mapping[str, object]:
        queue = self.queue
        return {"free": queue.free, "having": queue.having, "waiting": queue.waiting}


@fault(PoolSpec, "queue", refuted_by="no_connection_goes_to_a_task_that_gave_up")
class ForgetfulQueue(Queue):
    """A task that gives up stays in the queue."""

    def give_up(self, who: str) -> None:
        pass
