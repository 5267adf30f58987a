"""Faults of calls between processes, each for one claim."""

from __future__ import annotations

from typing import Any

from structsync._core.shared.calls import Attempt, CallTable, End, Result, Ticket, Verdict

from ._planting import fault


@fault(CallTable, "_is_new", refuted_by="calls.a_call_is_begun_once_and_while_there_is_room")
def a_late_message_begins_its_call_again(table: CallTable, ticket: Ticket) -> bool:
    slot = table.callers.get(ticket.caller, {}).get(ticket.slot)
    return slot is None or slot.result is not None


@fault(CallTable, "take", refuted_by="calls.a_new_host_takes_calls_up_to_its_limit")
def one_more_than_the_limit_runs(
    table: CallTable, ticket: Ticket, *, is_hosted: bool = True
) -> bool:
    if table.is_open and is_hosted and table.running <= table.limit and table._is_new(ticket):
        table._note(ticket, None)
        table.running += 1
        return True
    table.ask(ticket)
    return False


@fault(CallTable, "ask", refuted_by="calls.what_is_asked_about_first_is_never_taken")
def a_question_leaves_no_trace(table: CallTable, ticket: Ticket) -> None: ...


@fault(CallTable, "cancel", refuted_by="calls.a_cancellation_ends_only_the_call_that_runs")
def what_is_cancelled_before_it_comes_is_forgotten(table: CallTable, ticket: Ticket) -> bool:
    slot = table._slot_of(ticket)
    if slot is None or slot.result is not None:
        return False
    slot.is_cancelled = True
    return True


@fault(CallTable, "end", refuted_by="calls.the_end_of_a_call_is_kept")
def what_ended_without_a_result_was_cancelled(
    table: CallTable, ticket: Ticket, result: bytes | None, *, is_begun: bool = True
) -> Result:
    table.running -= 1
    slot = table.callers[ticket.caller][ticket.slot]
    slot.result = Verdict.CANCELLED if result is None else result
    return slot.result


@fault(CallTable, "forget", refuted_by="calls.a_caller_that_is_gone_is_forgotten_but_for_what_runs")
def what_runs_is_forgotten_with_its_caller(table: CallTable, caller: str) -> list[Ticket]:
    table.callers.pop(caller, None)
    return []


@fault(Attempt, "hear", refuted_by="calls.the_first_answer_of_its_host_is_the_end")
def any_answer_is_believed(attempt: Attempt, token: int, number: int, said: Any) -> bool:
    return attempt.ended is None and intact_hear(attempt, attempt.token, attempt.number, said)


@fault(
    Attempt,
    "was_not_sent",
    refuted_by="calls.what_is_lost_is_unknown_and_what_was_not_sent_is_sent_again",
)
def what_was_answered_is_sent_again(attempt: Attempt) -> bool:
    attempt.ended = End.AGAIN
    return True


intact_hear = Attempt.hear
