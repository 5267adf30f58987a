"""The state of the specifications of groups: several primitives, and groups in more than one of their queues."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from structsync import Arbiter, Status
from structsync._core.queue.group import Claims, Member, settle_transitively
from structsync._core.queue.request import Request

Ended = list[Request[Any]]


class Queues:
    """Cores of primitives and the groups in their queues, as one part of the state.

    After each transition the other queues that it concerns are settled, as the primitives that ship do it.
    """

    claims: type[Claims] = Claims

    def __init__(self, make: Callable[[], Sequence[Arbiter[Any]]]) -> None:
        self.arbiters: Sequence[Any] = make()  # each of a class of its own
        self.numbers = range(len(self.arbiters))
        self.number_of = dict(zip(self.arbiters, self.numbers, strict=True))

    # ==== Transitions; each returns the requests that it ended, in every queue ====

    def submit(self, who: str, every: bool, wanted: Iterable[tuple[int, Any]]) -> Ended:
        """Submit a group; a single claim is submitted as a plain request."""
        pairs = [(self.arbiters[at], claim) for at, claim in wanted]
        if len(pairs) == 1:
            ((arbiter, claim),) = pairs
            request = arbiter.submit(claim, waiter=who)
            return [] if request.status is Status.PENDING else [request]
        group = self.claims(every, pairs, who)
        group.submit()
        return [one for one in group.members if one.status is not Status.PENDING]

    def withdraw(self, who: str, at: int) -> Ended:
        """Withdraw what a task wants, by its request in one of the queues."""
        request = self.request_of(who, at)
        return self.with_other_queues_settled(
            [request, *(self.arbiters[at].withdraw(request) or ())]
        )

    def release(self, at: int, claim: Any) -> Ended:
        return self.with_other_queues_settled(self.arbiters[at].release(claim))

    def end(self, at: int, cause: str) -> Ended:
        return self.with_other_queues_settled(self.arbiters[at].end(cause))

    def resize(self, at: int, size: int) -> Ended:
        return self.with_other_queues_settled(self.arbiters[at].resize(size))

    def task_exits(self, who: str, owned: Iterable[int]) -> Ended:
        """Tell these primitives, which know their holders, that a task has exited, one after the other."""
        ended: Ended = []
        for at in owned:
            ended += self.with_other_queues_settled(self.arbiters[at].owner_exited(who, "broken"))
        return ended

    def with_other_queues_settled(self, ended: Ended) -> Ended:
        """Return these requests, and all that end in other queues because of them."""
        return [*ended, *(one for _, others in settle_transitively(ended) for one in others)]

    # ==== Views ====

    def request_of(self, who: str, at: int) -> Request[Any]:
        return next(one for one in self.arbiters[at].queue if one.waiter == who)

    def waiting(self) -> set[str]:
        """Return the tasks that wait in a queue, in one at least."""
        return {one.waiter for arbiter in self.arbiters for one in arbiter.queue}

    def queue(self, at: int) -> list[str]:
        """Return the tasks that wait in a queue, in the order of their arrival."""
        return [one.waiter for one in self.arbiters[at].queue]

    def snapshot(self) -> tuple[Any, ...]:
        groups = {
            one.waiter: (one.group.every, self._queues_of(one.group))
            for arbiter in self.arbiters
            for one in arbiter.queue
            if isinstance(one, Member)
        }
        queues = tuple([one.snapshot() for one in self.arbiters])
        return (queues, tuple([(who, *groups[who]) for who in sorted(groups)]))

    def restore(self, snapshot: tuple[Any, ...]) -> None:
        queues, groups = snapshot
        for arbiter, its in zip(self.arbiters, queues, strict=True):
            arbiter.restore(its)
        if not groups:
            return
        alone_of = [{one.waiter: one for one in its.queue} for its in self.arbiters]
        for who, every, indexes in groups:
            alone = [alone_of[at][who] for at in indexes]
            wanted = [
                (self.arbiters[at], one.claim) for at, one in zip(indexes, alone, strict=True)
            ]
            group = self.claims(every, wanted, who)
            for one, member in zip(alone, group.members, strict=True):
                member.arbiter.replace(one, member)

    def _queues_of(self, group: Claims) -> tuple[int, ...]:
        """Return the numbers of the queues in which a group waits, in the order of its claims."""
        pending = [one.arbiter for one in group.members if one.status is Status.PENDING]
        return tuple([self.number_of[one] for one in pending])
