"""What is promised of everything that several processes share, whichever session dies and whatever comes twice.

The processes replay one log of operations; what it decides is decided by the cores that ship (`semaphore.py`
and the others). Here is what `SharedCore` adds to them: sessions with several requests each, which may
die at any point; entries that are delivered twice; and tokens that grow. That the log is the same for all, also where
an engine has lost it, is in `shared_restarts.py`.

A session that has died holds nothing and waits nowhere, and all that it held is handed on in the same
step. What is promised to waiters needs holders that release or die (*fair* actions).

The state is a replica of the log, with what its clients believe (`_shared.py`). A specification adds what each asks for,
and what is promised of it beside this.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar

from structsync._core.shared.core import SharedCore
from structsync._core.shared.operations import Operation, Result, Verb, Want
from structsync.checking import Spec, action, implies, invariant, invariants, leads_to, step

from ._shared import Replica

# ==== Bounds ====

# The clients that make requests, and their sessions. Two sessions, because a third does nothing that a second does
# not; one of them with two requests, so that it can hold and wait, hold twice and wait twice when it dies.
PEOPLE = {"a": "s", "b": "s", "c": "t"}

# A fourth where a queue of three behind one holder shows more.
FOUR = PEOPLE | {"d": "t"}


# ==== Which client may do what ====


def waiting(spec: SharedSpec) -> list[str]:
    return [who for who in spec.core.keys if spec.waits(who)]


def holding(spec: SharedSpec) -> list[str]:
    return [*spec.core.tokens]


def idle(spec: SharedSpec) -> list[str]:
    """Return which clients have no request, in a session that is alive."""
    in_session = [who for who, session in spec.core.people.items() if session in alive(spec)]
    return [who for who in in_session if who not in spec.core.keys]


def alive(spec: SharedSpec) -> list[str]:
    return [*spec.shared_core.sessions]


def dead(spec: SharedSpec) -> list[str]:
    return sorted({*spec.core.people.values()} - {*alive(spec)})


class SharedSpec(Spec):
    """A replica."""

    abstract = True
    restored_before_each_step = "a replica goes through its encoder, as between two processes"

    wants: ClassVar[Mapping[str, Sequence[Want]]]  # what each asks for
    core: Replica

    # ==== Views ====

    @property
    def shared_core(self) -> SharedCore:
        """What the replica has made of the log."""
        return self.core.core

    def cores(self) -> Sequence[Any]:
        """Return what is known by a name, each with its core."""
        return [*self.shared_core.named.values()]

    def waits(self, who: str) -> bool:
        """Return whether a request is in a queue: it holds nothing, and is not that of a lock released in a wait."""
        return who not in self.core.tokens and f"{who} waits" not in self.core.keys

    def believed(self, name: str) -> list[str]:
        """Return which clients hold what has this name, by what was told."""
        return [who for who in self.core.tokens if any(one.name == name for one in self.wants[who])]

    # ==== Actions ====

    @action(session=dead)
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

    # ==== Invariants ====

    @invariant
    def nothing_grantable_waits(self) -> bool:
        """No lost wakeup, in any queue, also not after a death (I3)."""
        return all(invariants.nothing_grantable_waits(one.core) for one in self.cores())

    @invariant
    def waiters_are_in_a_queue(self) -> bool:
        """Those in the queues are exactly those that wait: neither dead sessions nor holders."""
        queues = [one.core.queue for one in self.cores()]
        queued = {self.core.client_of(request.waiter) for queue in queues for request in queue}
        return queued == {who for who in self.core.keys if self.waits(who)}

    @invariant
    def what_no_session_uses_is_forgotten(self) -> bool:
        """When no request is left, no name is kept, and each is free for another use."""
        unused = not self.core.keys and not self.keeps()
        return implies(unused, not self.shared_core.named)

    def keeps(self) -> bool:
        """Return whether a name has to be kept although no request is left."""
        return False

    @invariant
    def the_dead_change_nothing(self) -> bool:
        """An operation of a session that has ended has no outcome and leaves no trace."""
        before = self.shared_core.encode()
        wants = tuple(self.wants["a"])
        outcomes = [
            self.shared_core.apply(Operation(verb, session, 99, details))
            for session in dead(self)
            for verb, details in ((Verb.ACQUIRE, (wants,)), (Verb.END, ()))
        ]
        return not any(outcomes) and self.shared_core.encode() == before

    # ==== Step properties ====

    @step
    def a_snapshot_is_everything(self, before: Any) -> bool:
        """A replica that begins with the snapshot of another has the same state."""
        return self.twin().encode() == self.shared_core.encode()

    def twin(self) -> SharedCore:
        """Return another replica that begins with the snapshot of this one."""
        twin = self.core.shared()
        twin.restore(self.shared_core.snapshot())
        return twin

    def refuses(self, *requests: tuple[Want, ...]) -> bool:
        """Return whether each of these requests of a newcomer is refused and leaves no trace."""
        twin = self.twin()
        twin.apply(Operation(Verb.JOIN, "u"))
        before, number_before = twin.encode(), twin.sessions["u"]
        for number, wants in enumerate(requests):
            outcomes = twin.apply(Operation(Verb.ACQUIRE, "u", number, (wants,)))
            if [one.result for one in outcomes] != [Result.REFUSED]:
                return False
        twin.sessions["u"] = number_before  # its operations are counted; nothing else may differ
        return twin.encode() == before

    @step
    def an_entry_that_comes_twice_counts_once(self, before: Any) -> bool:
        """The last entry, delivered a second time, had no outcome and changed nothing."""
        return self.core.repeat_changed_nothing

    @step
    def tokens_grow(self, before: Any) -> bool:
        """Each grant has a larger token than all before it of any session."""
        tokens = [before.core.highest, *[token for _, token in self.core.granted]]
        return all(earlier < later for earlier, later in pairwise(tokens))

    @step
    def grants_follow_the_queue(self, before: Any) -> bool:
        """First come, first served at each queue (I2)."""
        granted = {name: self.granted_at(name) for name in self.shared_core.named}
        return all(
            invariants.served_in_queue(before.core.queue(name), those, self.core.queue(name))
            for name, those in granted.items()
            if those
        )

    def granted_at(self, name: str) -> list[str]:
        """Return the clients that the last entry granted what has this name, in this order."""
        granted = [who for who, _ in self.core.granted]
        return [
            who
            for who in granted
            if any(want.name == name for want in self.wants[who.removesuffix(" waits")])
        ]


class HoldersSpec(SharedSpec):
    """What is granted must be released."""

    abstract = True

    # ==== Actions ====

    @action(who=holding, fair=True)
    def release(self, who: str) -> None:
        self.core.release(who)

    # ==== Properties ====

    @step
    def a_preview_names_what_is_granted(self, before: Any) -> bool:
        """A release lets in those that its preview told, in this order, where it told any."""
        foreseen = self.core.foreseen
        return foreseen is None or foreseen == [who for who, _ in self.core.granted]

    @invariant
    def holders_are_in_the_core(self) -> bool:
        """The holders in the core of each name are exactly those that believe to hold it (I1)."""
        named = self.shared_core.named
        what_is_held_is_named = all(name in named for name in self.names() if self.believed(name))
        return what_is_held_is_named and all(
            self.agrees(name, one.core) for name, one in named.items()
        )

    def names(self) -> set[str]:
        return {want.name for wants in self.wants.values() for want in wants}

    def agrees(self, name: str, core: Any) -> bool:
        """Return whether the holders in a core are exactly those that believe so."""
        raise NotImplementedError

    def keys_of(self, name: str) -> list[Any]:
        """Return the requests of those that believe to hold what has this name."""
        return [self.core.keys[who] for who in self.believed(name)]

    @leads_to(who=tuple(PEOPLE))
    def a_queued_request_is_served(self, who: str) -> tuple[bool, bool]:
        """If holders release, every session that waits is granted eventually, or withdraws, or dies."""
        waits = who in self.core.keys and self.waits(who)
        return waits, not waits
