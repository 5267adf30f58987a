"""The machine of acquire_all and acquire_any in a trio run."""

from __future__ import annotations

from typing import Any, cast

import trio
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

import structsync

from .core_machine import one_of
from .group_model import GroupsModel, Told, Wish
from .models import Refused
from .shell_machine import PATIENCE, ShellMachine, Visitor
from .stepper import Actor

TASKS = ["a", "b", "c", "d", "e"]
PERMITS, LOCK, SHARED = 0, 1, 2
WRITING = 9  # more than all the readers there can be: a writer takes the whole room
SIZES = (2, 1, WRITING)
AMOUNTS = ([1, 2], [1], [1, WRITING])
WANTED = st.lists(
    st.sampled_from([PERMITS, LOCK, SHARED]).flatmap(
        lambda at: st.tuples(st.just(at), st.sampled_from(AMOUNTS[at]))
    ),
    min_size=1,
    max_size=3,
    unique_by=lambda pair: pair[0],
).map(dict)
WISHES = st.builds(Wish, st.booleans(), WANTED)
# What a holder can do without waiting; the number picks whom to cancel or what to close.
HOLDERS_CHANGES = st.tuples(st.sampled_from(["leave", "cancel", "cancel"]), st.integers(0, 3))


def names(*tasks: trio.lowlevel.Task | None) -> list[str]:
    return [task.name for task in tasks if task is not None]


class GroupShellMachine(ShellMachine):
    """Five tasks; a semaphore, a lock and a read-write lock. A task is in one block at a time.

    Events are compared without their order, which nothing promises across primitives; that no task
    was passed in any queue is the model's to say.
    """

    @initialize()
    def create(self) -> None:
        self.permits = structsync.Semaphore(2, max_value=2)
        self.lock = structsync.Lock()
        self.shared = structsync.RWLock(policy="fifo")
        self.primitives: list[structsync.Primitive[Any]] = [self.permits, self.lock, self.shared]
        self.groups = GroupsModel(SIZES)
        self.blocks: dict[str, Any] = {}
        self.given: dict[str, int] = {}  # the primitive of the claim that a block was given
        self.errors: dict[int, str] = {}  # of those that are out of service
        self.arrivals = 0
        self.stepper.step(self.start_tasks)

    def start_tasks(self) -> None:
        for who in TASKS:
            self.visitors[who] = Visitor(Actor(self.stepper, who))

    def note(self, event: structsync.PrimitiveEvent) -> None:
        if event.kind not in ("released", "changed", "closed"):
            assert event.task is not None
            at = [*self.primitives].index(cast(Any, event.primitive))
            self.observed.append((f"{event.kind} {at}", event.task.name))

    # ==== what the model says ====

    def tell(self, told: Told) -> None:
        for kind, who, at in told:
            self.predict(f"{kind} {at}", who)
            visitor = self.visitors[who]
            if visitor.expected == "blocked" and kind == "granted":
                visitor.expected = "returned"
            elif visitor.expected == "blocked" and kind == "broken":
                visitor.expected = self.errors[at]

    def serve(self) -> None:
        """Let the model serve those who wait, where the events say that each was served."""
        granted = [(who, kind.split()) for kind, who in self.observed]
        self.tell(
            self.groups.serve({who: int(at) for who, (kind, at) in granted if kind == "granted"})
        )

    def predict_cancel(self, who: str) -> None:
        """What cancelling the latest call does: nothing unless it is blocked (grant wins)."""
        if self.visitors[who].expected == "blocked":
            self.visitors[who].expected = "cancelled"
            self.tell(self.groups.withdraw(who))
            self.serve()

    # ==== rules ====

    def idle(self) -> list[str]:
        busy = {*self.groups.waiting, *self.groups.holding}
        return [who for who in self.visitors if who not in busy]

    def holders(self) -> list[str]:
        return [who for who in self.groups.holding if who in self.visitors]

    def claims(self, wanted: dict[int, int], *, every: bool) -> list[structsync.Claim[Any]]:
        claims: list[structsync.Claim[Any]] = []
        for at, n in wanted.items():
            if at == PERMITS and not every:
                claims.append(self.permits.claim(n))  # of one primitive one is the alternative
            elif at == PERMITS:
                claims += [self.permits.claim() for _ in range(n)]  # which are summed
            elif at == LOCK:
                claims.append(self.lock.claim())
            else:
                shared = self.shared
                claims.append(shared.write_claim() if n == WRITING else shared.read_claim())
        return claims

    def enter(self, who: str, wish: Wish, patience: int | None) -> None:
        make = structsync.acquire_all if wish.every else structsync.acquire_any
        block: Any = make(*self.claims(wish.wanted, every=wish.every))
        self.blocks[who] = block

        async def call() -> None:
            claim = await block.__aenter__()
            if not wish.every:
                self.given[who] = self.primitives.index(claim.primitive)

        self.given.pop(who, None)
        self.call(who, call, patience)

    def predict_arrival(self, who: str, wish: Wish) -> None:
        self.arrivals += 1
        try:
            self.tell(self.groups.arrive(who, wish))
        except Refused:
            first = next(at for at in wish.wanted if at in self.errors)
            self.visitors[who].expected = self.errors[first]

    @precondition(lambda self: self.idle())
    @rule(who=one_of(lambda self: self.idle()), wish=WISHES, patience=PATIENCE)
    def arrive(self, who: str, wish: Wish, patience: int | None) -> None:
        self.stepper.step(lambda: self.enter(who, wish, patience))
        self.predict_arrival(who, wish)

    @precondition(lambda self: self.idle())
    @rule(wishes=st.lists(WISHES, min_size=3, max_size=5))
    def several_arrive(self, wishes: list[Wish]) -> None:
        """What takes many steps by chance: some stand behind others, in one line and not in another."""
        for who, wish in zip(self.idle(), wishes, strict=False):
            self.arrive(who, wish, None)

    @precondition(lambda self: self.idle())
    @rule(who=one_of(lambda self: self.idle()), wish=WISHES)
    def arrive_in_a_cancelled_scope(self, who: str, wish: Wish) -> None:
        def start() -> None:
            self.enter(who, wish, None)
            self.visitors[who].actor.scope.cancel()

        self.stepper.step(start)
        self.predict_arrival(who, wish)
        if (
            who in self.groups.holding
        ):  # it would have had to wait for no task: it has not even come
            self.groups.leave(who)
            self.predicted.clear()
            self.visitors[who].expected = "cancelled"
        else:
            self.predict_cancelled_arrival(who)

    @rule(number=st.integers(0, 4))
    def cancel(self, number: int) -> None:
        self.stepper.step(lambda: self.do_cancel("", number))

    def do_cancel(self, me: str, number: int) -> None:
        who = self.pick(number)
        if who is not None and who != me:
            self.visitors[who].actor.scope.cancel()
            self.predict_cancel(who)

    @precondition(lambda self: self.holders())
    @rule(
        who=one_of(lambda self: self.holders()),
        changes=st.lists(HOLDERS_CHANGES, max_size=2),
        also=st.lists(HOLDERS_CHANGES, max_size=1),
    )
    def leave(self, who: str, changes: list[Any], also: list[Any]) -> None:
        """Leave the block, and cancel others in the same step, before and after it."""

        async def call() -> None:
            for _, number in changes:
                self.do_cancel(who, number)
            await self.blocks[who].__aexit__(None, None, None)
            self.groups.leave(who)
            self.serve()
            for _, number in also:
                self.do_cancel(who, number)

        self.stepper.step(lambda: self.call(who, call))
        self.visitors[who].expected = "returned"

    @rule(size=st.integers(0, 3))
    def resize(self, size: int) -> None:
        before = self.permits.statistics().max_value or 0
        self.stepper.step(lambda: self.permits.resize(size))
        self.groups.room[PERMITS] += size - before
        self.serve()

    # ==== ends ====

    def late(self) -> bool:
        """Whether it is time for what ends most of the fun."""
        return self.arrivals > 10

    @precondition(lambda self: self.late())
    @rule(at=st.sampled_from([PERMITS, LOCK, SHARED]))
    def close(self, at: int) -> None:
        self.stepper.step(self.primitives[at].close)
        self.errors.setdefault(at, "ClosedResourceError")
        self.tell(self.groups.end(at))
        self.serve()

    @precondition(lambda self: self.late() and self.holders())
    @rule(who=one_of(lambda self: self.holders()))
    def exit(self, who: str) -> None:
        """A task ends inside its block: what belongs to tasks breaks, permits stay out."""
        self.stepper.step(self.visitors.pop(who).actor.exit)
        # In which order they break nothing promises, so the events say which was the first.
        told = [kind for kind, _ in self.observed if kind.startswith("broken")]
        first = {at: told.index(f"broken {at}") for at in (LOCK, SHARED) if f"broken {at}" in told}
        held = [at for at in self.groups.holding[who] if at != PERMITS]
        for at in sorted(held, key=lambda at: first.get(at, len(told))):
            self.errors.setdefault(at, "BrokenResourceError")
            self.tell(self.groups.end(at))
            self.serve()

    # ==== what holds at quiescence ====

    @invariant()
    def events_are_those_of_the_model(self) -> None:
        self.observed.sort()
        self.predicted.sort()
        super().events_are_those_of_the_model()

    @invariant()
    def every_task_holds_what_the_model_says(self) -> None:
        if not hasattr(self, "groups"):
            return
        held = self.groups.holding
        assert self.permits.statistics().value == self.groups.room[PERMITS]
        if LOCK not in self.errors:
            owner = self.lock.statistics().owner
            assert names(owner) == [who for who in held if LOCK in held[who]]
        if SHARED not in self.errors:
            found = self.shared.statistics()
            readers = [who for who in held if held[who].get(SHARED) == 1]
            assert sorted(names(*found.readers)) == sorted(readers)
            assert names(found.writer) == [who for who in held if held[who].get(SHARED) == WRITING]
        for who in self.holders():
            assert who not in self.given or [self.given[who]] == [*held[who]]

    @invariant()
    def every_task_waits_where_the_model_says(self) -> None:
        if hasattr(self, "groups"):
            for at, primitive in enumerate(self.primitives):
                queue = [one.waiter.name for one in primitive._core.waiting()]
                assert queue == self.groups.queue(at)
