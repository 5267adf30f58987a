"""Bugs of what happens when an engine loses its log, planted in ours: each must be found by the named property."""

from __future__ import annotations

from structsync._core.shared.core import SharedCore
from structsync._core.shared.history import Entries, History
from structsync._core.shared.operations import Operation, Outcome
from structsync.checking import fault

from ._restart_world import Client, Engine, World
from .shared_restarts import CompactedLossesSpec, LossesSpec, NewsSpec


@fault(LossesSpec, "core", refuted_by="one_at_a_time")
class GrantsAtOnce(World):
    """An engine that has lost everything grants at once (a lock by SET NX, after a restart without data)."""

    def lose(self, kept: int) -> None:
        super().lose(kept)
        self.engine.grace = False


class TrustingEngine(Engine):
    """Believes that it has all."""

    def has_lost(self, history: History) -> bool:
        return False


@fault(LossesSpec, "core", refuted_by="the_log_is_what_was_read")
class NoSessionLooks(World):
    """A session goes on with what its engine does not know of (a replica that took over without the last grant)."""

    engine_type = TrustingEngine


class DeafEngine(Engine):
    """Takes nothing back."""

    def bring_back(self, history: History) -> None:
        pass


@fault(LossesSpec, "core", refuted_by="a_session_that_returns_keeps_what_it_has")
class NoSessionIsHeard(World):
    """A session that holds what the engine has lost is told that it holds nothing."""

    engine_type = DeafEngine


class HastyEngine(Engine):
    """Takes back what the first session brings, and nothing after that."""

    def bring_back(self, history: History) -> None:
        if not self.entries:
            super().bring_back(history)


@fault(LossesSpec, "core", refuted_by="a_session_that_returns_keeps_what_it_has")
class TheFirstOneIsBelieved(World):
    """A session that had read less comes first, and the one that had read its grant is sent away."""

    engine_type = HastyEngine


class ForgetfulEngine(Engine):
    """Does not know those that took part in what it takes back."""

    def bring_back(self, history: History) -> None:
        before = self.read
        super().bring_back(history)
        self.read = {one: its for one, its in self.read.items() if one in before}


@fault(LossesSpec, "core", refuted_by="every_waiter_is_served")
class TheDeadAreNotBuried(World):
    """A session that died with the engine holds forever what the others have brought back."""

    engine_type = ForgetfulEngine

    def come(self, name: str) -> None:
        self.engine.read.setdefault(name, 0)
        super().come(name)


class ShortHistory(History):
    """Keeps nothing from before the last comparison."""

    def compared(self, state: bytes) -> None:
        super().compared(state)
        assert self.mark is not None, "it was set just now"
        self.base, self.entries, self.mark = self.mark, [], None


@fault(CompactedLossesSpec, "core", refuted_by="a_session_that_returns_keeps_what_it_has")
class WhatOthersNeedIsForgotten(World):
    """The session that brings back the log has dropped what another one has not read."""

    history_type = ShortHistory


class TimesCore(SharedCore):
    """Takes the number of the entry as the token, whatever it has granted before."""

    def apply(self, entry: Operation, stamp: int = 0) -> list[Outcome]:
        self.token = 0
        return super().apply(entry, stamp)


class ForgetsTheTime(Engine):
    """Counts from the start when it has lost its log."""

    def bring_back(self, history: History) -> None:
        super().bring_back(history)
        self.clock = 0


@fault(LossesSpec, "core", refuted_by="tokens_grow")
class TokensStartAgain(World):
    """After a restart without its data an engine hands out tokens again (redisson's RFencedLock)."""

    core_type = TimesCore
    engine_type = ForgetsTheTime


class HearsAll(World):
    """Takes what it hears before it has read."""

    def must_read(self, one: Client) -> bool:
        return False


@fault(NewsSpec, "core", refuted_by="the_log_is_what_was_read")
class WhatIsLostIsHeardAfterwards(HearsAll):
    """A session that has come in the grace period hears what the log has lost, and goes on with that."""


class CountingHistory(History):
    """Takes the position alone for what follows."""

    def continued_by(self, start: int, entries: Entries) -> Entries:
        return entries[self.position - start :] if start <= self.position else ()


@fault(NewsSpec, "core", refuted_by="the_log_is_what_was_read")
class AnotherLogIsTakenForThisOne(World):
    """News of a log that was lost are taken for the next entries of the one that took its place."""

    history_type = CountingHistory


class BoldHistory(History):
    """Takes all that it hears."""

    def continued_by(self, start: int, entries: Entries) -> Entries:
        return entries


@fault(NewsSpec, "core", refuted_by="one_at_a_time")
class NewsAreReadTwice(World):
    """What was read is applied again when it is heard."""

    history_type = BoldHistory
