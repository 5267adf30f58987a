"""Primitives that several processes share keep their promises, whoever dies and whatever comes twice.

The processes replay one log of operations; what it decides is decided by the cores that ship (`semaphore.py`
and the others). Here is what `SharedCore` adds to them: sessions with several requests each, which may
die at any point; entries that are delivered twice; tokens that grow; and an engine that loses its log, after
which those who hold something reclaim it before anybody else is let in.

A session that has died holds nothing and waits nowhere, and all that it held is handed on in the same
step. What is promised to those who wait needs holders that give back or die (*fair* actions).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from structsync._core.shared.operations import Operation, Result, Verb, Want
from structsync.checking import Spec, action, invariant, invariants, leads_to, start, step

from ._shared import Replica

# ==== Bounds ====

# Two sessions, because a third one does nothing that a second does not; one of them with two requests,
# so that it can hold and wait, hold twice and wait twice when it dies.
PEOPLE = {"a": "s", "b": "s", "c": "t"}

# A fourth where a queue of three behind one holder shows more.
FOUR = PEOPLE | {"d": "t"}


def waiting(spec: SharedSpec) -> list[str]:
    return [] if spec.to_reclaim else [who for who in spec.core.keys if spec.waits(who)]


def holding(spec: SharedSpec) -> list[str]:
    return [who for who in spec.core.tokens if not spec.to_reclaim]


def idle(spec: SharedSpec) -> list[str]:
    return [who for who, its in spec.core.people.items() if spec.may_ask(who, its)]


def alive(spec: SharedSpec) -> list[str]:
    return [*spec.core.core.sessions]


def dead(spec: SharedSpec) -> list[str]:
    return sorted({*spec.core.people.values()} - {*alive(spec)})


class SharedSpec(Spec):
    """A replica, who has still to reclaim what the engine forgot, and what the last entry did."""

    abstract = True
    forgets = ("refused",)
    restored_before_each_step = "a replica goes through its encoder, as between two processes"

    wants: ClassVar[Mapping[str, Sequence[Want]]]  # what each person asks for
    core: Replica
    to_reclaim: tuple[str, ...] = start(tuple)
    refused: tuple[str, ...] = start(tuple)  # whom the last entry refused; then forgotten

    def may_ask(self, who: str, session: str) -> bool:
        return (
            session in self.core.core.sessions and who not in self.core.keys and not self.to_reclaim
        )

    def believed(self, name: str) -> list[str]:
        """Return who holds some of what has this name, as far as the log knows of it."""
        return [
            who
            for who in self.core.tokens
            if who not in self.to_reclaim and any(one.name == name for one in self.wants[who])
        ]

    # ==== Actions ====

    @action(session=dead, when=lambda spec, session: not spec.to_reclaim)
    def join(self, session: str) -> None:
        self.core.deliver(Verb.JOIN, session)

    @action(who=idle)
    def ask(self, who: str) -> None:
        self.core.ask(who, self.wants[who])

    @action(who=waiting)
    def withdraw(self, who: str) -> None:
        self.core.withdraw(who)

    @action(session=alive)
    def die(self, session: str) -> None:
        self.core.end(session)
        self.to_reclaim = tuple([who for who in self.to_reclaim if who in self.core.keys])

    # ==== Invariants ====

    @invariant
    def nothing_grantable_waits(self) -> bool:
        """No lost wakeup, in any queue (I3); also not after a death."""
        return all(invariants.nothing_grantable_waits(one.core) for one in self.cores())

    @invariant
    def those_who_wait_are_in_a_queue(self) -> bool:
        """Whoever waits stands in a queue; the dead and those who hold do not."""
        queued = {
            self.core.who_has(request.waiter) for one in self.cores() for request in one.core.queue
        }
        return queued == {who for who in self.core.keys if self.waits(who)}

    @invariant
    def what_nobody_uses_is_forgotten(self) -> bool:
        """A name that nobody waits for or holds takes no memory, and is free for another use."""
        return bool(self.core.keys) or self.keeps() or not self.core.core.named

    def keeps(self) -> bool:
        """Return whether a name says something although nobody uses it."""
        return False

    @invariant
    def the_dead_change_nothing(self) -> bool:
        """What a session sends after its end has come too late."""
        before = self.core.core.encode()
        wants = tuple(self.wants["a"])
        outcomes = [
            self.core.core.apply(Operation(verb, session, 99, details))
            for session in dead(self)
            for verb, details in ((Verb.ACQUIRE, (wants,)), (Verb.END, ()))
        ]
        return not any(outcomes) and self.core.core.encode() == before

    def cores(self) -> Sequence[Any]:
        return [*self.core.core.named.values()]

    def waits(self, who: str) -> bool:
        return who not in self.core.tokens and f"{who} waits" not in self.core.keys

    # ==== Step properties ====

    @step
    def a_snapshot_is_everything(self, before: Any) -> bool:
        """A replica that begins with the snapshot of another is like it."""
        twin = self.core.shared()
        twin.restore(self.core.core.snapshot())
        return twin.encode() == self.core.core.encode()

    @step
    def an_entry_that_comes_twice_counts_once(self, before: Any) -> bool:
        """Whoever got no answer may send the operation again."""
        return self.core.harmless

    @step
    def tokens_grow(self, before: Any) -> bool:
        """Each grant has a larger token than all before it, also than those that the engine forgot."""
        tokens = [token for _, token in self.core.granted]
        return all(
            later > earlier
            for earlier, later in zip([before.core.highest, *tokens], tokens, strict=False)
        )

    @step
    def grants_follow_the_queue(self, before: Any) -> bool:
        """First come, first served at each queue (I2)."""
        return all(
            invariants.served_in_queue(before.core.queue(name), granted, self.core.queue(name))
            for name in self.core.core.named
            if (granted := self.granted_at(name))
        )

    def granted_at(self, name: str) -> list[str]:
        granted = [who for who, _ in self.core.granted]
        return [
            who
            for who in granted
            if any(want.name == name for want in self.wants[who.removesuffix(" waits")])
        ]


class HoldersSpec(SharedSpec):
    """What is granted must be given back, and is reclaimed where the engine has lost its log."""

    abstract = True

    # ==== Actions ====

    @action(who=holding, fair=True)
    def release(self, who: str) -> None:
        self.core.release(who)

    @action(when=lambda spec: spec.core.tokens and not spec.to_reclaim)
    def lose_the_log(self) -> None:
        self.core.lose_everything()
        self.to_reclaim = tuple(self.core.tokens)

    @action(who=lambda spec: spec.to_reclaim, fair=True)
    def reclaim(self, who: str) -> None:
        self.core.reclaim(who, self.wants[who])
        self.to_reclaim = tuple([one for one in self.to_reclaim if one != who])
        self.refused = tuple([who for one in self.core.outcomes if one.result is Result.REFUSED])

    # ==== Properties ====

    @step
    def what_is_reclaimed_is_kept(self, before: Any) -> bool:
        """Nobody else was let in before, so that whoever held something holds it still."""
        return not self.refused and all(
            self.core.tokens[who] == before.core.tokens[who]
            for who in before.to_reclaim
            if who in self.core.tokens
        )

    @step
    def a_preview_tells_who_is_let_in(self, before: Any) -> bool:
        """Before something is given back it is known whom that lets in."""
        foreseen = self.core.foreseen
        return foreseen is None or foreseen == [who for who, _ in self.core.granted]

    @invariant
    def those_who_hold_are_in_the_core(self) -> bool:
        """The core of each name says of it what those believe who hold it, and no more (I1)."""
        return all(
            self.agrees(name, one.core) for name, one in self.core.core.named.items()
        ) and all(
            self.believed(name) == [] or name in self.core.core.named for name in self.names()
        )

    def names(self) -> set[str]:
        return {want.name for wants in self.wants.values() for want in wants}

    def agrees(self, name: str, core: Any) -> bool:
        """Return whether a core says that exactly those hold it who believe so."""
        raise NotImplementedError

    def keys_of(self, name: str) -> list[Any]:
        return [self.core.keys[who] for who in self.believed(name)]

    @leads_to(who=tuple(PEOPLE))
    def who_stays_in_queue_is_served(self, who: str) -> tuple[bool, bool]:
        """If holders give back or die, whoever waits is granted eventually, or gives up, or dies."""
        waits = who in self.core.keys and self.waits(who)
        return waits, not waits


# ==== A semaphore ====

PERMITS = 2


class SharedSemaphoreSpec(HoldersSpec):
    """Two permits; one of those who ask wants both."""

    wants: ClassVar = {
        who: [Want("db", "semaphore", PERMITS, permits)]
        for who, permits in {"a": 1, "b": 2, "c": 1, "d": 1}.items()
    }
    core: Replica = start(Replica, FOUR)

    def agrees(self, name: str, core: Any) -> bool:
        out: int = sum(self.wants[who][0].amount for who in self.believed(name))
        return bool(core.value == PERMITS - out >= 0)

    @invariant
    def one_name_is_one_semaphore(self) -> bool:
        """Another definition, or more permits than there are, is refused and changes nothing (I7)."""
        if not self.core.core.named:
            return True
        before = self.core.snapshot()
        twin = self.core.shared()
        twin.restore(self.core.core.snapshot())
        twin.apply(Operation(Verb.JOIN, "u"))
        others = [
            Want("db", "semaphore", PERMITS + 1, 1),
            Want("db", "semaphore", PERMITS, PERMITS + 1),
            Want("db", "lock"),
        ]
        for number, want in enumerate(others):
            outcomes = twin.apply(Operation(Verb.ACQUIRE, "u", number, ((want,),)))
            if [one.result for one in outcomes] != [Result.REFUSED]:
                return False
        return self.core.snapshot() == before


# ==== A read-write lock ====


class SharedRWLockSpec(HoldersSpec):
    """Two who read and two who write."""

    wants: ClassVar = {
        who: [Want("page", "rwlock", None, mode)]
        for who, mode in {"a": "write", "b": "read", "c": "read", "d": "write"}.items()
    }
    core: Replica = start(Replica, FOUR)

    def agrees(self, name: str, core: Any) -> bool:
        inside = [*core.readers, *([] if core.writer is None else [core.writer])]
        return sorted(inside) == sorted(self.keys_of(name))


# ==== Several things at once ====


class SharedGroupsSpec(HoldersSpec):
    """A lock and a semaphore of one permit; two want both, and each of them is wanted alone."""

    wants: ClassVar = {
        "a": [Want("l", "lock"), Want("s", "semaphore", 1, 1)],
        "b": [Want("s", "semaphore", 1, 1)],
        "c": [Want("l", "lock")],
        "d": [Want("s", "semaphore", 1, 1), Want("l", "lock")],
    }
    core: Replica = start(Replica, FOUR)

    def agrees(self, name: str, core: Any) -> bool:
        if name == "l":
            return self.keys_of(name) == ([] if core.owner is None else [core.owner])
        return bool(core.value == 1 - len(self.believed(name)))

    @invariant
    def what_a_group_cannot_be_is_refused(self) -> bool:
        """The same thing twice, or what is waited for and not held (I7)."""
        twin = self.core.shared()
        twin.restore(self.core.core.snapshot())
        twin.apply(Operation(Verb.JOIN, "u"))
        before = twin.encode()
        twice, odd = Want("s", "semaphore", 1, 1), Want("start", "latch", 1)
        outcomes = [
            twin.apply(Operation(Verb.ACQUIRE, "u", number, (wants,)))
            for number, wants in enumerate([(twice, twice), (twice, odd)])
        ]
        twin.sessions["u"] = -1
        return [one.result for entry in outcomes for one in entry] == [
            Result.REFUSED
        ] * 2 and twin.encode() == before
