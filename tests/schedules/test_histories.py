"""The check of histories accepts what is linearizable and nothing else."""

from __future__ import annotations

import pytest

from .histories import CANCELLED, GRANTED, WOULD_BLOCK, History
from .sequential import Items, Permits


def history(*events: tuple[object, ...]) -> History:
    """Return a history of calls, `(kind, what)`, and of returns, `(number, how, result)`."""
    made = History()
    for event in events:
        if isinstance(event[0], str):
            made.called(event[0], event[1])
        else:
            made.returned(*event)  # type: ignore[arg-type]
    return made


def is_linearizable(made: History, at_the_call: bool = False) -> bool:
    return made.not_linearizable(Permits(1), at_the_call=at_the_call) is None


def test_one_after_the_other_is_linearizable() -> None:
    made = history(("wait", 1), (0, GRANTED), ("do", 1), (1, GRANTED), ("try", 1), (2, GRANTED))
    assert is_linearizable(made, at_the_call=True)


def test_two_that_hold_what_is_there_once_are_not() -> None:
    made = history(("wait", 1), ("wait", 1), (0, GRANTED), (1, GRANTED))
    assert not is_linearizable(made)


def test_a_nowait_that_fails_though_no_task_holds_anything_is_not() -> None:
    made = history(("wait", 1), (0, GRANTED), ("do", 1), (1, GRANTED), ("try", 1), (2, WOULD_BLOCK))
    why = made.not_linearizable(Permits(1), at_the_call=False)
    assert why == (
        "try 1 -> would block None cannot return here: 0 calls wait 1 -> granted None; 0 returns; "
        "1 calls do 1 -> granted None; 1 returns; 2 calls try 1 -> would block None; 2 returns"
    )


def test_an_operation_that_has_not_returned_may_have_had_its_point_or_not() -> None:
    for how in GRANTED, WOULD_BLOCK:
        assert is_linearizable(history(("wait", 1), ("try", 1), (1, how)))


def test_at_the_call_it_has_had_it() -> None:
    assert is_linearizable(history(("wait", 1), ("try", 1), (1, WOULD_BLOCK)), at_the_call=True)
    assert not is_linearizable(history(("wait", 1), ("try", 1), (1, GRANTED)), at_the_call=True)


def test_what_overtakes_a_waiter_is_seen_at_the_call_alone() -> None:
    made = history(
        ("try", 1), (0, GRANTED), ("wait", 1), ("wait", 1), ("do", 1), (3, GRANTED), (2, GRANTED)
    )  # fmt: skip
    assert is_linearizable(made)
    assert not is_linearizable(made, at_the_call=True)


@pytest.mark.parametrize("at_the_call", [False, True])
def test_a_cancelled_task_lets_in_those_behind_it(at_the_call: bool) -> None:
    sequential = Permits(2)
    made = history(
        ("try", 1), (0, GRANTED), ("wait", 2), ("wait", 1), (1, CANCELLED), (2, GRANTED)
    )  # fmt: skip
    assert made.not_linearizable(sequential, at_the_call=at_the_call) is None
    # and not before it is cancelled, if it has joined the queue
    made = history(("try", 1), (0, GRANTED), ("wait", 2), ("wait", 1), (2, GRANTED))
    assert (made.not_linearizable(sequential, at_the_call=at_the_call) is None) is not at_the_call


def test_a_granted_task_is_not_cancelled() -> None:
    made = history(("wait", 1), (0, CANCELLED), ("try", 1), (1, WOULD_BLOCK))
    assert not is_linearizable(made)


@pytest.mark.parametrize("at_the_call", [False, True])
def test_items_are_got_in_the_order_in_which_they_were_put(at_the_call: bool) -> None:
    """As in the queue of Herlihy and Wing's paper."""
    put = (("wait", "a"), (0, GRANTED), ("wait", "b"), (1, GRANTED))
    right = history(*put, ("wait", None), (2, GRANTED, "a"))
    wrong = history(*put, ("wait", None), (2, GRANTED, "b"))
    assert right.not_linearizable(Items(2), at_the_call=at_the_call) is None
    assert wrong.not_linearizable(Items(2), at_the_call=at_the_call) is not None


def test_puts_at_the_same_time_may_have_happened_in_either_order() -> None:
    put = (("wait", "a"), ("wait", "b"), (0, GRANTED), (1, GRANTED))
    for first in "ab":
        made = history(*put, ("wait", None), (2, GRANTED, first))
        assert made.not_linearizable(Items(2), at_the_call=False) is None
