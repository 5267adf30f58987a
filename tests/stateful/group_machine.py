"""The machine of groups: three semaphores, and those who want all or any of several."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.queue.group import Claims, settle_transitively
from structsync._core.queue.request import BROKEN, GRANTED, PENDING, Request

from .core_machine import one_of

SIZES = (1, 2, 3)
WANTED = st.lists(
    st.integers(0, 2).flatmap(lambda at: st.tuples(st.just(at), st.integers(1, SIZES[at]))),
    min_size=1,
    max_size=3,
    unique_by=lambda pair: pair[0],
)


class GroupMachine(RuleBasedStateMachine):
    """The model is a list: who waits, in the order of arrival, and what each has been granted."""

    def __init__(self) -> None:
        super().__init__()
        self.groups: dict[str, Claims] = {}
        self.wanted: dict[str, list[tuple[int, int]]] = {}
        self.waiting: list[str] = []
        self.holding: dict[str, list[tuple[int, int]]] = {}

    @initialize()
    def create(self) -> None:
        self.cores = [SemaphoreCore(size, max_value=size) for size in SIZES]
        self.open = {0, 1, 2}

    def note(self, ended: Iterable[Request[Any]]) -> None:
        """Carry on what has ended, and check each end against the queues as they stood."""
        told = [*ended]
        told += [one for _, others in settle_transitively(told) for one in others]
        assert len(told) == len({id(one) for one in told})
        for who in dict.fromkeys(one.waiter for one in told):
            assert {id(one) for one in told} >= {id(one) for one in self.groups[who].members}
            self.waiting.remove(who)
        for who in dict.fromkeys(one.waiter for one in told):
            self.got(who)

    def got(self, who: str) -> None:
        group = self.groups[who]
        wanted = zip(self.wanted[who], group.members, strict=True)
        taken = [pair for pair, one in wanted if one.status is GRANTED]
        if taken:
            assert len(taken) == (len(group.members) if group.every else 1)
            self.holding[who] = taken
            for earlier in self.waiting[: self.place(who)]:  # no task was passed in any queue
                assert not {at for at, _ in taken} & {at for at, _ in self.wanted[earlier]}

    def place(self, who: str) -> int:
        """Return how many of those who wait came before."""
        return sum(int(one[1:]) < int(who[1:]) for one in self.waiting)

    @precondition(lambda self: self.open)
    @rule(every=st.booleans(), wanted=WANTED)
    def submit(self, every: bool, wanted: list[tuple[int, int]]) -> None:
        wanted = [(at, n) for at, n in wanted if at in self.open]
        if not wanted:
            return
        who = f"w{len(self.groups)}"
        self.wanted[who] = wanted
        self.groups[who] = Claims(every, [(self.cores[at], n) for at, n in wanted], who)
        self.groups[who].submit()
        if self.groups[who].members[0].status is PENDING:
            self.waiting.append(who)
        else:
            self.got(who)

    @precondition(lambda self: self.waiting)
    @rule(who=one_of(lambda self: self.waiting), member=st.integers(0, 2))
    def withdraw(self, who: str, member: int) -> None:
        members = self.groups[who].members
        one = members[member % len(members)]
        self.note([one, *(one.arbiter.withdraw(one) or [])])
        assert who not in self.holding

    @precondition(lambda self: self.holding)
    @rule(who=one_of(lambda self: [*self.holding]))
    def put_back(self, who: str) -> None:
        for at, permits in self.holding.pop(who):
            self.note(self.cores[at].release(permits))

    @rule(at=st.integers(0, 2), size=st.integers(0, 3))
    def resize(self, at: int, size: int) -> None:
        self.note(self.cores[at].resize(size))

    @rule(at=st.sampled_from([0, 1, 2, None, None, None, None, None, None]))
    def close(self, at: int | None) -> None:
        if at in self.open:
            self.open.discard(at)
            ended = self.cores[at].end("closed")
            assert all(one.status is BROKEN for one in ended)
            self.note(ended)

    @invariant()
    def permits_are_conserved(self) -> None:
        for at, core in enumerate(self.cores):
            out = sum(n for taken in self.holding.values() for queue, n in taken if queue == at)
            assert core.value == (core.max_value or 0) - out

    @invariant()
    def each_queue_is_in_the_order_of_arrival(self) -> None:
        for at, core in enumerate(self.cores):
            stand = [who for who in self.waiting if at in dict(self.wanted[who])]
            assert [one.waiter for one in core.queue] == stand

    @invariant()
    def nothing_grantable_waits(self) -> None:
        for who in self.waiting:
            fits = [
                next(iter(self.cores[at].queue)).waiter == who and n <= self.cores[at].value
                for at, n in self.wanted[who]
            ]
            assert not (all(fits) if self.groups[who].every else any(fits))
