"""A call is carried out at most once, and its caller learns what became of it, or that this cannot be known.

Messages go between sessions over an engine, which may lose them, deliver them twice, or let one overtake another.
The host of a name may stop, die and be followed by another one, in its own session or in the second; the
caller may cancel its call at any time, and die. A host keeps the answer to the last call of each slot; a caller
asks again while it has none. Its second call uses the slot of its first one, whose messages may still arrive.

A method that was begun returns eventually, or ends because it was cancelled; what is on its way arrives if it is not
lost; sessions read the log (*fair* actions). Messages go wrong a bounded number of times (more often in a nightly test); sessions die as they like.
"""

from __future__ import annotations

from typing import ClassVar

from structsync._core.shared.calls import CallTable
from structsync.checking import Spec, action, invariant, leads_to, start, terminal

from ._call_messages import CALLER, Message
from ._call_world import HOSTS, Which, World

# ==== Bounds ====

# With one host: a second call in the slot of the first, while messages of that one are still on their way.
# Nothing else happens to the second one: whatever may happen to a call may happen to the first.
CALLS = ("first", "second")
# The first host's token. It is followed by one to which nothing happens: a third is to that one what that is to this.
FIRST = 1


def waits_to_be_sent(spec: CallsSpec) -> bool:
    world = spec.core
    return bool(world.what and world.sent is None and world.believed)


def unanswered(spec: CallsSpec) -> bool:
    """Return whether a call was sent, and nothing about it is on its way; but it may be itself, if it is asked early."""
    world = spec.core
    if world.sent is None:
        return False
    about = [one for one in world.on_way if one.token == world.sent.token]
    told = [one for one in about if one.kind != "call" or not spec.asks_early]
    return not [one for one in told if one.number in (0, world.sent.number)]


def the_dead_have_said_all(spec: CallsSpec) -> bool:
    """Return whether a call is at a session that is over, and nothing that this has said is on its way."""
    world = spec.core
    if world.sent is None or world.sessions[world.sent.token] in world.alive:
        return False
    return not [one for one in world.on_way if one.to == CALLER and one.token == world.sent.token]


def not_begun(spec: CallsSpec) -> list[Which]:
    """Return the calls whose turn may come: those of a caller that is known from the log."""
    if not spec.core.is_caller_known:
        return []
    return [one for one in spec.core.calls if one not in spec.core.begun]


def unwanted(spec: CallsSpec) -> list[Which]:
    return [one for one in spec.core.calls if spec.core.is_unwanted(one)]


class CallsSpec(Spec):
    """A caller with one slot, the hosts of a name, and messages that go wrong."""

    abstract = True
    restored_before_each_step = "messages go through their encoder, as between two processes"

    calls: ClassVar[tuple[str, ...]] = CALLS  # that are made, one after the other
    asks_early: ClassVar[bool] = True
    core: World = start(World)
    trouble: int  # how many messages may still go wrong

    # ==== The caller ====

    @action(when=lambda spec: not spec.core.what and CALLER in spec.core.alive and spec.to_call())
    def call(self) -> None:
        self.core.call(self.to_call()[0])

    def to_call(self) -> list[str]:
        """Return what is still to be called: the second call while there are messages of the first."""
        if self.core.ends and not self.core.on_way:
            return []
        return [what for what in self.calls if what not in self.core.ends]

    @action(when=waits_to_be_sent, fair=True)
    def send(self) -> None:
        self.core.send()

    @action(when=lambda spec: spec.core.what == CALLS[0] and not spec.core.is_cancelled)
    def cancel(self) -> None:
        self.core.cancel()

    @action(when=unanswered, fair=True)
    def ask_again(self) -> None:
        self.core.ask()

    # ==== Messages ====

    @action(when=lambda spec: spec.core.on_way, fair=True)
    def deliver(self) -> None:
        self.core.take(self.core.on_way.pop(0))

    @action(message=lambda spec: spec.core.on_way[1:] if spec.trouble else ())
    def overtake(self, message: Message) -> None:
        self.trouble -= 1
        self.core.on_way.remove(message)
        self.core.take(message)

    @action(message=lambda spec: spec.core.on_way if spec.trouble else ())
    def lose(self, message: Message) -> None:
        self.trouble -= 1
        self.core.on_way.remove(message)

    @action(message=lambda spec: spec.core.on_way if spec.trouble else ())
    def deliver_twice(self, message: Message) -> None:
        """Deliver a message that will arrive once more, sometime."""
        self.trouble -= 1
        self.core.take(message)

    # ==== Hosts ====

    @action(one=not_begun, fair=True)
    def begin(self, one: Which) -> None:
        self.core.begin(one)

    @action(one=lambda spec: sorted(spec.core.begun), fair=True)
    def return_a_result(self, one: Which) -> None:
        self.core.finish(one, is_cancelled=False)

    @action(one=unwanted, fair=True)
    def end_what_was_cancelled(self, one: Which) -> None:
        self.core.finish(one, is_cancelled=True)

    # ==== Where it may end ====

    @terminal
    def all_is_said(self) -> bool:
        """When all calls have ended, or the caller is over, and nothing is on its way, nothing more need happen."""
        has_ended = CALLER not in self.core.alive or not (self.core.what or self.to_call())
        return has_ended and not self.core.on_way and not self.core.calls

    # ==== Invariants ====

    @invariant
    def a_call_is_begun_at_most_once(self) -> bool:
        """However often its messages come, and whichever session hosts the name, the method of a call is called once at most."""
        return all(times <= 1 for times in self.core.times.values())

    @invariant
    def what_has_returned_was_done(self) -> bool:
        """A call that returns has its own result, and its method has returned."""
        return all(
            how == f"returned {what}" and what in self.core.done
            for what, (how, _) in self.core.ends.items()
            if how.startswith("returned")
        )

    @invariant
    def what_was_cancelled_was_not_done(self) -> bool:
        """The method of a call that raises ``Cancelled`` has not returned, and will not (C1)."""
        cancelled = {what for what, (how, _) in self.core.ends.items() if how == "cancelled"}
        return not cancelled & self.core.done

    @invariant
    def no_caller_is_in_doubt_while_all_live(self) -> bool:
        """The end of a call is unknown only if the host that had it, or the caller, is over or was stopped."""
        return all(
            CALLER not in self.core.alive or self.is_over(token)
            for how, token in self.core.ends.values()
            if how == "unknown"
        )

    def is_over(self, token: int) -> bool:
        """Return whether the host of that token has died, or was told to end."""
        world = self.core
        table = world.tables.get(world.sessions[token])
        return token != world.up or table is None or not table.is_open

    @invariant
    def a_host_counts_what_runs(self) -> bool:
        """As many calls run at a host as it counts, and it owes no answer to any other."""
        return all(self.counts(session, table) for session, table in self.core.tables.items())

    def counts(self, session: str, table: CallTable) -> bool:
        owed = [slot for slots in table.callers.values() for slot in slots.values()]
        unanswered = len([slot for slot in owed if slot.result is None]) + len(table.abandoned)
        run = len([one for one in self.core.calls if self.core.sessions[one[0]] == session])
        return table.running == run == unanswered

    # ==== Temporal properties ====

    @leads_to
    def a_call_ends(self) -> tuple[bool, bool]:
        """While there is a host, a call ends: it returns, is cancelled, or its outcome cannot be known."""
        return bool(self.core.what), not self.core.what or not self.core.up

    @leads_to
    def a_call_that_is_cancelled_ends(self) -> tuple[bool, bool]:
        """Whichever session hosts the name, a call that its task has given up ends."""
        return self.core.is_cancelled, not self.core.what


class OneHostSpec(CallsSpec):
    """Two calls in one slot of one host, and a caller that may die; two messages go wrong."""

    trouble: int = start(lambda: 2)

    @action(when=lambda spec: spec.core.what == CALLS[0] and CALLER in spec.core.alive)
    def the_caller_dies(self) -> None:
        self.core.die(CALLER)

    @action(when=lambda spec: spec.is_haunted(), fair=True)
    def read_that_the_caller_is_gone(self) -> None:
        self.core.forget()

    def is_haunted(self) -> bool:
        """Return whether a host keeps something for a caller that is over, or has not read that it is."""
        tables = self.core.tables.values()
        is_kept = self.core.is_caller_known or any(table.callers for table in tables)
        return CALLER not in self.core.alive and is_kept

    @leads_to
    def nothing_is_left_of_a_caller_that_is_over(self) -> tuple[bool, bool]:
        """No host keeps answers of a caller that is over, and what it called ends."""
        return CALLER not in self.core.alive, not self.is_haunted() and not self.core.calls


class SeveralHostsSpec(CallsSpec):
    """One call, and a host that stops or dies, followed by one in the same session or in another; one message goes wrong."""

    calls = CALLS[:1]
    asks_early = False  # which the specification above has looked at
    trouble: int = start(lambda: 1)

    @action(
        is_stopped=(False, True),
        when=lambda spec, is_stopped: spec.core.up == FIRST and not spec.is_over(FIRST),
    )
    def close(self, is_stopped: bool) -> None:
        self.core.close(is_stopped=is_stopped)

    @action(when=lambda spec: spec.has_drained(), fair=True)
    def leave(self) -> None:
        self.core.up = 0

    def has_drained(self) -> bool:
        """Return whether the host's block has ended, and all its calls."""
        up = self.core.up
        return up == FIRST and self.is_over(up) and not self.core.tables[HOSTS[0]].running

    @action(
        session=HOSTS,
        when=lambda spec, session: not spec.core.up and session in spec.core.alive,
    )
    def host(self, session: str) -> None:
        self.core.host(session)

    @action(when=lambda spec: HOSTS[0] in spec.core.tables)
    def the_host_dies(self) -> None:
        self.core.die(HOSTS[0])

    @action(when=the_dead_have_said_all, fair=True)
    def give_up_what_the_dead_have(self) -> None:
        self.core.bury()

    @action(when=lambda spec: spec.core.believed != spec.core.up, fair=True)
    def read_which_session_hosts(self) -> None:
        self.core.believed = self.core.up
