"""What a host knows of calls: each begins at most once, and its answer is kept until the slot is used again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from structsync._core.shared.calls import CallTable, Seen, Ticket

FIRST, NEXT = Ticket("caller", 0, 1), Ticket("caller", 0, 2)


def test_a_call_is_new_once() -> None:
    table = CallTable()
    assert table.arrive(FIRST) is Seen.NEW
    assert table.arrive(FIRST) is Seen.RUNNING
    assert table.finish(FIRST, b"done")
    assert table.arrive(FIRST) is Seen.ANSWERED
    assert table.answer_to(FIRST) == b"done"
    assert table.running == 0


def test_the_next_call_in_a_slot_makes_the_one_before_stale() -> None:
    table = CallTable()
    table.arrive(FIRST)
    assert table.arrive(NEXT) is Seen.STALE, "nobody has an answer to the first one yet"
    table.finish(FIRST, b"done")
    assert table.arrive(NEXT) is Seen.NEW
    assert table.arrive(FIRST) is Seen.STALE


def test_a_call_has_one_answer() -> None:
    table = CallTable()
    table.arrive(FIRST)
    assert table.finish(FIRST, b"one")
    assert not table.finish(FIRST, b"two")
    assert not table.finish(NEXT, b"of no call")
    assert not table.finish(Ticket("nobody", 0, 1), b"of nobody")
    assert table.answer_to(FIRST) == b"one"


def test_a_caller_that_is_gone_has_no_calls() -> None:
    table = CallTable()
    other = Ticket("caller", 1, 1)
    table.arrive(FIRST)
    table.arrive(other)
    table.finish(other, b"done")
    assert table.forget("caller") == [FIRST]
    assert (table.running, table.callers) == (0, {})
    assert table.forget("caller") == []
    assert not table.finish(FIRST, b"too late")


class Twice(CallTable):
    """A fault: a number that has come is new again when it was answered."""

    def arrive(self, ticket: Ticket) -> Seen:
        seen = super().arrive(ticket)
        return Seen.NEW if seen is Seen.ANSWERED else seen


class Backwards(CallTable):
    """A fault: a smaller number counts as a new one."""

    def arrive(self, ticket: Ticket) -> Seen:
        if super().arrive(ticket) is Seen.STALE:
            self.callers[ticket.caller].pop(ticket.slot)
            return super().arrive(ticket)
        return Seen.RUNNING


Messages = st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=12)


def begun(table: CallTable, messages: list[tuple[int, bool]]) -> list[int]:
    """Return which calls of one slot begin, of these messages, after each of which a call may end."""
    numbers = []
    for number, ends in messages:
        ticket = Ticket("caller", 0, number)
        if table.arrive(ticket) is Seen.NEW:
            numbers.append(number)
        if ends:
            for one in numbers:
                table.finish(Ticket("caller", 0, one), b"done")
    return numbers


@given(Messages)
def test_calls_begin_in_the_order_of_their_numbers_and_never_again(
    messages: list[tuple[int, bool]],
) -> None:
    table = CallTable()
    numbers = begun(table, messages)
    assert numbers == sorted({*numbers})
    assert table.running in (0, 1)


@pytest.mark.parametrize("fault", [Twice, Backwards])
def test_a_table_that_forgets_is_noticed(fault: type[CallTable]) -> None:
    numbers = begun(fault(), [(1, True), (1, True), (2, True), (1, True)])
    assert numbers != sorted({*numbers})
