"""What is promised where an engine loses its log: the sessions bring it back, and nothing is granted twice.

An engine may start again with nothing, with older state, or as a replica that lacks the last entries. Then a *grace
period* begins, in which nothing is appended: each session that is alive renews its lease, and where the log lacks what
it has read, it brings that back. When the period is over, a session that has not come has lost its lease, and
knows it by its own clock; the engine buries it.

All of this concerns one lock: what a log means is specified in `shared_sessions.py`, and here only whether the log is
what the sessions have read. Sessions may die at any time, answers are lost, and the log may be compacted.

What is promised to waiters needs sessions that send, read, release and come, and a grace period that ends
(*fair* actions).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, ClassVar

from structsync.checking import Spec, action, invariant, leads_to, start, step, terminal

from ._restart_world import Client, Entries, World

# ==== Bounds ====

# One that holds, one that waits, and each may have read more than the other.
SESSIONS = ("s", "t")
# News are for a session that is let in, by the one that did so.
TELLER, HEARER = SESSIONS
# Of the first two entries, by which one of them holds, all or nothing is left.
FIRST = 2
RESTARTS = 1


# ==== Which session may do what ====


def alive(spec: RestartSpec) -> list[str]:
    return [name for name, one in spec.core.clients.items() if one.is_alive]


def mortal(spec: RestartSpec) -> list[str]:
    """Return which sessions may die: before the grace period and in it; afterwards it is a death like any other."""
    return alive(spec) if spec.core.engine.grace or not spec.restarts else []


def connected(spec: RestartSpec) -> list[str]:
    """Return which sessions can append and read."""
    return [] if spec.core.engine.grace else alive(spec)


def idle(spec: RestartSpec) -> list[str]:
    if spec.restarts:
        return []
    return [
        name for name in connected(spec) if name in spec.asking and not spec.client(name).number
    ]


def holding(spec: RestartSpec) -> list[str]:
    return [name for name in connected(spec) if spec.core.token(name)]


def behind(spec: RestartSpec) -> list[str]:
    engine = spec.core.engine
    return [
        name
        for name in connected(spec)
        if spec.client(name).outbox or spec.client(name).replica.position < engine.position
    ]


def at_the_end(spec: RestartSpec) -> list[str]:
    """Return which sessions may offer a snapshot."""
    engine = spec.core.engine
    return [
        name
        for name in connected(spec)
        if spec.compactions < spec.most_compactions
        and not spec.restarts
        and engine.offer is None
        and spec.client(name).replica.position == engine.position > 0
    ]


def absent(spec: RestartSpec) -> list[str]:
    if not spec.core.engine.grace:
        return []
    return [name for name in alive(spec) if not spec.client(name).has_come]


def dead(spec: RestartSpec) -> list[str]:
    engine = spec.core.engine
    return [] if engine.grace else [name for name in engine.read if name not in alive(spec)]


def lengths(spec: RestartSpec) -> list[int]:
    """Return how much of the log may be left: nothing, all but the last entry, or all."""
    engine = spec.core.engine
    if spec.restarts == RESTARTS:
        return []
    return [
        0,
        *range(max(engine.base.position + 1, FIRST, engine.position - 1), engine.position + 1),
    ]


def agree(one: Entries, other: Entries) -> bool:
    """Return whether two pieces of a log are the same where both have something."""
    both = {stamp for stamp, _ in one} & {stamp for stamp, _ in other}
    if not both:
        return not one or not other or one[-1][0] < other[0][0]
    first, last = min(both), max(both)
    return [each for each in one if first <= each[0] <= last] == [
        each for each in other if first <= each[0] <= last
    ] and not any(last < stamp for stamp, _ in one)


class RestartSpec(Spec):
    """An engine, sessions that want one lock, and how much of the bounds is used up."""

    abstract = True

    # The sessions that ask for the lock, once; the first one holds it already.
    asking: ClassVar[Sequence[str]]
    most_compactions: ClassVar[int]

    core: World
    restarts: int = start(int)
    compactions: int = start(int)

    restored_before_each_step = "a replica goes through its encoder, as between two processes"

    def client(self, name: str) -> Client:
        return self.core.clients[name]

    # ==== Actions of sessions ====

    @action(who=holding, fair=True)
    def release(self, who: str) -> None:
        self.core.release(who)

    @action(who=behind, fair=True)
    def read(self, who: str) -> None:
        self.core.read(who)

    # ==== Actions of the engine ====

    @action(kept=lengths)
    def restart(self, kept: int) -> None:
        self.restarts += 1
        self.core.lose(kept)

    @action(who=absent, fair=True)
    def come(self, who: str) -> None:
        self.core.come(who)

    @action(when=lambda spec: spec.core.engine.grace, fair=True)
    def end_grace(self) -> None:
        self.core.end_grace()

    @terminal
    def all_requests_are_over(self) -> bool:
        return all(self.client(name).wants is None for name in alive(self))

    # ==== Properties ====

    @invariant
    def one_at_a_time(self) -> bool:
        """No two sessions that are alive believe to hold the lock."""
        return sum(1 for name in alive(self) if self.core.token(name)) <= 1

    @invariant
    def the_log_is_what_was_read(self) -> bool:
        """Every session that is alive has read what is in the log, and has lost nothing of what was confirmed to it."""
        engine = self.core.engine
        return engine.grace or all(
            engine.base.position <= self.client(name).history.position <= engine.position
            and agree(self.client(name).history.entries, engine.entries)
            for name in alive(self)
        )

    @step
    def a_session_that_returns_keeps_what_it_has(self, before: Any) -> bool:
        """A session that renews its lease in the grace period is not refused: it continues to hold and to wait."""
        return not self.core.refused

    @step
    def tokens_grow(self, before: Any) -> bool:
        """Each grant has a larger token than all that a session was told before, whatever the engine has lost."""
        tokens = [before.core.told, *self.core.fresh]
        return all(earlier < later for earlier, later in pairwise(tokens))


class OneAsksSpec(RestartSpec):
    """One holds, and the other one may ask."""

    abstract = True

    asking = ("t",)
    most_compactions = 0
    core: World = start(World, SESSIONS, SESSIONS[:1])

    @action(who=idle)
    def acquire(self, who: str) -> None:
        self.core.acquire(who)

    @action(who=dead, fair=True)
    def bury(self, who: str) -> None:
        self.core.bury(who)


class LossesSpec(OneAsksSpec):
    """One holds and one may wait; each may die, and the last entry is lost, or all of them."""

    @action(who=mortal)
    def die(self, who: str) -> None:
        self.core.die(who)

    @leads_to(who=("t",))
    def every_waiter_is_served(self, who: str) -> tuple[bool, bool]:
        """A session that has asked for the lock holds it eventually, or dies, or comes too late."""
        waits = who in alive(self) and self.client(who).wants is not None
        return waits, who not in alive(self) or self.core.token(who) > 0


class CompactedLossesSpec(RestartSpec):
    """The log is compacted, twice at most, while one of two sessions has read more of it than the other."""

    asking = ()
    most_compactions = 2
    core: World = start(World, SESSIONS, SESSIONS)

    @action(who=at_the_end)
    def compact(self, who: str) -> None:
        self.compactions += 1
        self.core.compact(who)


class NewsSpec(OneAsksSpec):
    """The holder tells the waiter what is in the log; that comes late, twice or never, or when the log has lost it."""

    @action(when=lambda spec: TELLER in mortal(spec))
    def die(self) -> None:
        self.core.die(TELLER)

    @action(when=lambda spec: TELLER in alive(spec) and spec.core.knows_of(TELLER, HEARER))
    def tell(self) -> None:
        self.core.tell(TELLER, HEARER)

    @action(when=lambda spec: spec.client(HEARER).news is not None)
    def hear(self) -> None:
        self.core.hear(HEARER)
