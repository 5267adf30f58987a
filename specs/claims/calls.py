"""A call of another process runs at most once, whatever becomes of its messages; the first answer counts.

A slot in which there was a call is one of four: none yet, one that runs, one that has an answer, one that is cancelled.
"""

from __future__ import annotations

from structsync._core.shared.calls import Attempt, CallTable, End, Slot, Ticket, Verdict

NOTHING, RUNS, ANSWERED = range(3)
SAID = (None, Verdict.NOT_TAKEN, Verdict.CANCELLED, Verdict.STOPPED)


def table(there: int, last: int, limit: int, running: int) -> CallTable:
    """Return what a host knows of one caller, in whose only slot the last call had this number."""
    core = CallTable()
    core.open(limit)
    core.running = running
    if there != NOTHING:
        core.callers["caller"] = {0: Slot(last, None if there == RUNS else b"answer")}
    return core


def a_call_is_begun_once_and_while_there_is_room(
    there: int, last: int, number: int, limit: int, running: int, is_open: bool, is_hosted: bool
) -> None:
    assert 0 <= there <= 2
    assert running >= 0
    core = table(there, last, limit, running)
    core.is_open = is_open
    ticket = Ticket("caller", 0, number)
    is_new = there == NOTHING or (there == ANSWERED and last < number)
    begins = core.take(ticket, is_hosted=is_hosted)
    assert begins == (is_new and is_open and is_hosted and running < limit)
    assert core.running == running + begins
    assert not core.take(ticket)
    if begins:
        assert core.answer_to(ticket) is None
    elif is_new:
        assert core.answer_to(ticket) is Verdict.NOT_TAKEN
    elif last == number:
        assert core.answer_to(ticket) == (None if there == RUNS else b"answer")
    else:
        assert core.answer_to(ticket) is Verdict.STOPPED


def a_new_host_takes_calls_up_to_its_limit(limit: int) -> None:
    assert 0 <= limit <= 2
    core = CallTable()
    assert not core.take(Ticket("caller", 3, 1))  # it is not open yet
    core.open(limit)
    tickets = [Ticket("caller", slot, 1) for slot in range(3)]
    assert [core.take(one) for one in tickets] == [number < limit for number in range(3)]
    assert core.running == limit
    assert core.answer_to(Ticket("stranger", 0, 1)) is Verdict.STOPPED
    if limit:
        assert core.end(tickets[0], None) is Verdict.STOPPED
        assert core.running == limit - 1


def what_is_asked_about_first_is_never_taken(there: int, last: int, number: int) -> None:
    assert 0 <= there <= 2
    core = table(there, last, 1, 0)
    ticket = Ticket("caller", 0, number)
    core.ask(ticket)
    assert not core.take(ticket)
    if there == NOTHING or (there == ANSWERED and last < number):
        assert core.answer_to(ticket) is Verdict.NOT_TAKEN
    else:
        assert core.callers["caller"][0].number == last


def a_cancellation_ends_only_the_call_that_runs(there: int, last: int, number: int) -> None:
    assert 0 <= there <= 2
    core = table(there, last, 1, 0)
    ticket = Ticket("caller", 0, number)
    assert core.cancel(ticket) == (there == RUNS and last == number)
    if there == NOTHING or (there == ANSWERED and last < number):
        assert core.answer_to(ticket) is Verdict.CANCELLED
        assert not core.take(ticket)
    assert core.callers["caller"][0].is_cancelled == (there == RUNS and last == number)


def the_end_of_a_call_is_kept(
    running: int, returns: bool, is_cancelled: bool, is_begun: bool
) -> None:
    assert running >= 1
    core = table(RUNS, 7, running, running)
    core.callers["caller"][0].is_cancelled = is_cancelled
    ticket = Ticket("caller", 0, 7)
    kept = core.end(ticket, b"result" if returns else None, is_begun=is_begun)
    if returns:
        assert kept == b"result"
    elif is_cancelled:
        assert kept is Verdict.CANCELLED
    else:
        assert kept is (Verdict.STOPPED if is_begun else Verdict.NOT_TAKEN)
    assert core.answer_to(ticket) == kept
    assert core.running == running - 1


def a_caller_that_is_gone_is_forgotten_but_for_what_runs(
    there: int, last: int, running: int
) -> None:
    assert 0 <= there <= 2
    assert running >= 1
    core = table(there, last, 2, running)
    ticket = Ticket("caller", 0, last)
    assert core.forget("another") == []
    assert core.forget("caller") == ([ticket] if there == RUNS else [])
    assert core.callers == {}
    if there == RUNS:
        assert not core.take(ticket)
        assert core.answer_to(ticket) is None
        assert core.end(ticket, b"result") is None
        assert core.running == running - 1
    assert not core.abandoned


def the_first_answer_of_its_host_is_the_end(
    token: int, number: int, said: int, is_cancelled: bool, is_over: bool
) -> None:
    assert 0 <= said <= 3
    attempt = Attempt(5, 0, 8)
    attempt.is_cancelled = is_cancelled
    if is_over:
        attempt.ended = End.ANSWERED
    hears = attempt.hear(token, number, SAID[said])
    assert hears == (token == 5 and number == 8 and not is_over)
    if hears:
        cancelled = End.CANCELLED if is_cancelled else End.UNKNOWN
        assert attempt.ended is (End.ANSWERED, End.AGAIN, cancelled, End.UNKNOWN)[said]
    else:
        assert attempt.ended is (End.ANSWERED if is_over else None)


def what_is_lost_is_unknown_and_what_was_not_sent_is_sent_again(
    token: int, is_named: bool, is_lost: bool, is_over: bool
) -> None:
    assert is_over in (False, True)
    attempt = Attempt(5, 3, 8)
    assert (attempt.slot, attempt.is_cancelled) == (3, False)
    if is_over:
        attempt.ended = End.ANSWERED
    if is_lost:
        ends = attempt.lose(token) if is_named else attempt.lose()
        assert ends == (not is_over and (not is_named or token == 5))
    else:
        ends = attempt.was_not_sent()
        assert ends == (not is_over)
    if ends:
        assert attempt.ended is (End.UNKNOWN if is_lost else End.AGAIN)
    else:
        assert attempt.ended is (End.ANSWERED if is_over else None)
