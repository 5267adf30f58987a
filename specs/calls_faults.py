"""Bugs of calls between processes, planted in ours: each must be found by the named property."""

from __future__ import annotations

from structsync._core.shared.calls import Attempt, CallTable, End, Result, Slot, Ticket, Verdict
from structsync.checking import fault

from ._call_world import World
from .calls import OneHostSpec, SeveralHostsSpec

# ==== The host ====


class ForgetfulTable(CallTable):
    """Forgets a call when it has answered it."""

    def end(self, ticket: Ticket, result: bytes | None, *, is_begun: bool = True) -> Result | None:
        answer = super().end(ticket, result, is_begun=is_begun)
        if ticket.caller in self.callers:
            del self.callers[ticket.caller][ticket.slot]
        return answer


@fault(OneHostSpec, "core", refuted_by="a_call_is_begun_at_most_once")
class WhatComesTwiceRunsTwice(World):
    """A request that is delivered again after its answer is carried out again (coredis sends again by default)."""

    table = ForgetfulTable


class AnyNumberTable(CallTable):
    """Takes any number but the last one for a new call."""

    def _is_new(self, ticket: Ticket) -> bool:
        slot: Slot | None = self.callers.get(ticket.caller, {}).get(ticket.slot)
        return slot is None or (slot.number != ticket.number and slot.result is not None)


@fault(OneHostSpec, "core", refuted_by="a_call_is_begun_at_most_once", max_trace=16)
class WhatIsOvertakenRunsTwice(World):
    """A message that was overtaken by the next call in its slot is carried out after it, again."""

    table = AnyNumberTable


class CarelessTable(CallTable):
    """Keeps no note of a call that it has not taken."""

    def ask(self, ticket: Ticket) -> None:
        pass

    def answer_to(self, ticket: Ticket) -> Result | None:
        is_known = self._slot_of(ticket) is not None or ticket in self.abandoned
        return super().answer_to(ticket) if is_known else Verdict.NOT_TAKEN


@fault(OneHostSpec, "core", refuted_by="a_call_is_begun_at_most_once", max_trace=14)
class WhatWasNotTakenIsTaken(World):
    """A caller is told that its call was not taken, sends it again, and then the first message arrives."""

    table = CarelessTable


class HastyTable(CallTable):
    """Says at once that a call is cancelled."""

    def cancel(self, ticket: Ticket) -> bool:
        if not super().cancel(ticket):
            return False
        self._slots_of(ticket)[ticket.slot].result = Verdict.CANCELLED
        return False

    def _slots_of(self, ticket: Ticket) -> dict[int, Slot]:
        return self.callers[ticket.caller]

    def end(self, ticket: Ticket, result: bytes | None, *, is_begun: bool = True) -> Result | None:
        self._slots_of(ticket)[ticket.slot].result = None
        return super().end(ticket, result, is_begun=is_begun)


@fault(OneHostSpec, "core", refuted_by="what_was_cancelled_was_not_done")
class ACancellationIsAnsweredAtOnce(World):
    """The caller is told that its call was cancelled, and then the method returns."""

    table = HastyTable


class DeafTable(CallTable):
    """Notices no cancellation of what it does not know."""

    def cancel(self, ticket: Ticket) -> bool:
        return not self._is_new(ticket) and super().cancel(ticket)

    def answer_to(self, ticket: Ticket) -> Result | None:
        is_known = ticket.slot in self.callers.get(ticket.caller, {})
        return super().answer_to(ticket) if is_known else Verdict.CANCELLED


@fault(OneHostSpec, "core", refuted_by="what_was_cancelled_was_not_done")
class ACancellationThatComesFirstIsForgotten(World):
    """A cancellation overtakes its call, is answered, and then the call is carried out."""

    table = DeafTable


class LeakingTable(CallTable):
    """Counts what runs for a caller that is gone as ended, and its end too."""

    def forget(self, caller: str) -> list[Ticket]:
        gone = super().forget(caller)
        self.running -= len(gone)
        return gone


@fault(OneHostSpec, "core", refuted_by="a_host_counts_what_runs")
class WhatTheDeadCalledIsNotCounted(World):
    """Callers that die leave a host that takes more than it may."""

    table = LeakingTable


class FaithfulTable(CallTable):
    """Keeps what it has answered to a caller that is gone."""

    def forget(self, caller: str) -> list[Ticket]:
        return []


@fault(OneHostSpec, "core", refuted_by="nothing_is_left_of_a_caller_that_is_over")
class AHostRemembersTheDead(World):
    """Each caller that there ever was takes memory in the host."""

    table = FaithfulTable


class TrustingTable(CallTable):
    """Drops what runs for a caller that is gone at once."""

    def forget(self, caller: str) -> list[Ticket]:
        gone = super().forget(caller)
        self.abandoned.clear()
        return gone


@fault(OneHostSpec, "core", refuted_by="no_action_fails")
class WhatRunsIsForgotten(World):
    """A call ends of which the host knows nothing any more."""

    table = TrustingTable


# ==== Hosts that follow each other ====


@fault(SeveralHostsSpec, "core", refuted_by="a_call_is_begun_at_most_once", max_trace=16)
class AHostStartsAnew(World):
    """A session that hosts a name again has forgotten what it did, and is asked for it once more."""

    def host(self, session: str) -> None:
        self.tables.pop(session, None)
        super().host(session)


class RepeatingAttempt(Attempt):
    """Sends again what a host had when it died."""

    def lose(self, token: int | None = None) -> bool:
        return self.hear(self.token, self.number, Verdict.NOT_TAKEN)


@fault(SeveralHostsSpec, "core", refuted_by="a_call_is_begun_at_most_once", max_trace=13)
class WhatADeadHostHadIsSentAgain(World):
    """A call whose answer never came is repeated at the next host (as by clients that retry after a timeout)."""

    attempt = RepeatingAttempt


class DoubtfulAttempt(Attempt):
    """Takes any answer but a result for a reason to doubt."""

    def hear(self, token: int, number: int, said: Verdict | None) -> bool:
        return super().hear(token, number, said and Verdict.STOPPED)


@fault(OneHostSpec, "core", refuted_by="no_caller_is_in_doubt_while_all_live")
class ACallerDoubtsWhatItIsTold(World):
    """A caller that was told that its call was not taken says that its outcome cannot be known."""

    attempt = DoubtfulAttempt


# ==== The caller ====


class AnyAnswerAttempt(Attempt):
    """Takes an answer to any call in the slot."""

    def hear(self, token: int, number: int, said: Verdict | None) -> bool:
        return super().hear(token, self.number, said)


@fault(OneHostSpec, "core", refuted_by="what_has_returned_was_done")
class AnAnswerOfAnotherCallCounts(World):
    """An answer that comes twice is taken for that to the next call in the slot (off-by-one replies, redis-py #2624)."""

    attempt = AnyAnswerAttempt


@fault(OneHostSpec, "core", refuted_by="a_call_ends")
class NoTaskAsksAgain(World):
    """A message is lost, and its call waits forever."""

    def ask(self) -> None:
        pass


@fault(OneHostSpec, "core", refuted_by="a_call_that_is_cancelled_ends")
class NothingIsSaidToTheHost(World):
    """A cancellation reaches only the task, which waits for the host that continues."""

    def conclude(self, result: str = "") -> None:
        if self.sent is not None and self.sent.ended is End.CANCELLED:
            self.sent.ended = None
        else:
            super().conclude(result)
