"""What host and caller know of a call: it begins at most once, and the first that is known of its end counts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from structsync._core.shared.calls import Attempt, CallTable, End, Slot, Ticket, Verdict

FIRST, NEXT = Ticket("caller", 0, 1), Ticket("caller", 0, 2)


def opened(table: CallTable, limit: int = 10) -> CallTable:
    table.open(limit)
    return table


def running(*tickets: Ticket) -> CallTable:
    """Return the table of a host at which these calls run."""
    table = opened(CallTable())
    for ticket in tickets:
        assert table.take(ticket)
    return table


def test_a_call_is_taken_once() -> None:
    table = running(FIRST)
    assert not table.take(FIRST)
    assert table.answer_to(FIRST) is None
    assert table.end(FIRST, b"done") == b"done"
    assert not table.take(FIRST)
    assert table.answer_to(FIRST) == b"done"
    assert table.running == 0


def test_the_next_call_in_a_slot_says_that_the_one_before_is_known() -> None:
    table = running(FIRST)
    assert not table.take(NEXT), "no task has an answer to the first one yet"
    table.end(FIRST, b"done")
    assert table.take(NEXT)
    assert not table.take(FIRST)
    assert table.answer_to(FIRST) is Verdict.STOPPED


def test_what_is_asked_for_before_it_comes_is_never_taken() -> None:
    table = running()
    table.ask(FIRST)
    assert not table.take(FIRST)
    assert table.answer_to(FIRST) is Verdict.NOT_TAKEN
    assert not table.cancel(NEXT)
    assert not table.take(NEXT)
    assert table.answer_to(NEXT) is Verdict.CANCELLED


@pytest.mark.parametrize("why", ["is full", "is closed", "has the name no more"])
def test_a_host_that_cannot_take_a_call_says_so(why: str) -> None:
    table = opened(CallTable(), 0 if why == "is full" else 10)
    table.is_open = why != "is closed"
    assert not table.take(FIRST, is_hosted=why != "has the name no more")
    assert table.answer_to(FIRST) is Verdict.NOT_TAKEN


@pytest.mark.parametrize(
    ("result", "is_cancelled", "is_begun", "answer"),
    [
        (b"done", True, True, b"done"),
        (None, True, True, Verdict.CANCELLED),
        (None, False, True, Verdict.STOPPED),
        (None, False, False, Verdict.NOT_TAKEN),
    ],
)
def test_a_call_ends_as_its_method_has(
    result: bytes | None, is_cancelled: bool, is_begun: bool, answer: bytes | Verdict
) -> None:
    table = running(FIRST)
    if is_cancelled:
        assert table.cancel(FIRST)
    assert table.end(FIRST, result, is_begun=is_begun) == answer == table.answer_to(FIRST)
    assert not table.cancel(FIRST)


def test_a_caller_that_is_gone_has_no_calls_but_those_that_run_until_they_end() -> None:
    other = Ticket("caller", 1, 1)
    table = running(FIRST, other)
    table.end(other, b"done")
    assert table.forget("caller") == [FIRST]
    assert (table.running, table.callers) == (1, {})
    assert table.forget("caller") == []
    for _ in range(2):
        assert not table.take(FIRST), "it still runs, although its caller was forgotten"
        assert table.answer_to(FIRST) is None
        assert not table.cancel(FIRST)
    assert table.end(FIRST, b"too late") is None
    assert (table.running, table.callers, table.abandoned) == (0, {}, set())


def test_the_first_that_is_known_of_a_call_counts() -> None:
    known = [Attempt(7, 0, 1) for _ in range(3)]
    assert known[0].hear(7, 1, None)
    assert known[1].lose(7)
    assert known[2].was_not_sent()
    ends = [End.ANSWERED, End.UNKNOWN, End.AGAIN]
    for one in known:
        assert not one.hear(7, 1, None)
        assert not one.lose()
        assert not one.was_not_sent()
    assert [one.ended for one in known] == ends


def test_what_is_said_of_another_call_says_nothing_of_this() -> None:
    call = Attempt(7, 0, 1)
    assert not call.hear(7, 2, None)
    assert not call.hear(8, 1, None)
    assert not call.lose(8)
    assert call.ended is None


@pytest.mark.parametrize(
    ("said", "is_cancelled", "end"),
    [
        (Verdict.NOT_TAKEN, True, End.AGAIN),
        (Verdict.CANCELLED, True, End.CANCELLED),
        (Verdict.CANCELLED, False, End.UNKNOWN),
        (Verdict.STOPPED, True, End.UNKNOWN),
        (None, True, End.ANSWERED),
    ],
)
def test_a_caller_takes_an_answer_for_what_it_says(
    said: Verdict | None, is_cancelled: bool, end: End
) -> None:
    call = Attempt(7, 0, 1)
    call.is_cancelled = is_cancelled
    assert call.hear(7, 1, said)
    assert call.ended is end


class Twice(CallTable):
    """A fault: a number that has come is new again when it was answered."""

    def _is_new(self, ticket: Ticket) -> bool:
        slot = self._slot_of(ticket)
        return super()._is_new(ticket) or (slot is not None and slot.result is not None)


class Backwards(CallTable):
    """A fault: a smaller number counts as a new one."""

    def _is_new(self, ticket: Ticket) -> bool:
        slot: Slot | None = self.callers.get(ticket.caller, {}).get(ticket.slot)
        return slot is None or slot.number != ticket.number


Messages = st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=12)


def begun(table: CallTable, messages: list[tuple[int, bool]]) -> list[int]:
    """Return which calls of one slot begin, of these messages, after each of which the call may end."""
    numbers = []
    for number, ends in messages:
        ticket = Ticket("caller", 0, number)
        if table.take(ticket):
            numbers.append(number)
        if ends and table.running:
            table.end(Ticket("caller", 0, numbers[-1]), b"done")
    return numbers


@given(Messages)
def test_calls_begin_in_the_order_of_their_numbers_and_never_again(
    messages: list[tuple[int, bool]],
) -> None:
    table = running()
    numbers = begun(table, messages)
    assert numbers == sorted({*numbers})
    assert table.running in (0, 1)


@pytest.mark.parametrize("fault", [Twice, Backwards])
def test_a_table_that_forgets_is_noticed(fault: type[CallTable]) -> None:
    numbers = begun(opened(fault()), [(1, True), (1, True), (2, True), (1, True)])
    assert numbers != sorted({*numbers})
