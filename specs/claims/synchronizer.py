"""Rules add up, those who start together do or do not, and triggers run up to the one that raises."""

from __future__ import annotations

from structsync import Status
from structsync._core.monitors.entry import EntryCore, Guard, Invocation, Trigger
from structsync._core.monitors.monitor import MonitorCore
from structsync._core.monitors.synchronizer import Rules, SynchronizerCore

from ._queue import BOUND, all_are, waiters_of


def ruled(guard: Guard | None = None) -> Rules:
    """An entry of a monitor of its own, which rules may concern."""
    return Rules(EntryCore("x", guard), MonitorCore(), None)


def call(rules: Rules, who: int = 0) -> Invocation:
    return Invocation(rules.entry, who)


def answer(what: bool, asked: list[str], who: str) -> bool:
    """Answer for a guard, and take down that it was asked."""
    asked.append(who)
    return what


def a_call_is_permitted_if_no_synchronizer_disables_it(level: int, one: int, other: int) -> None:
    assert one <= BOUND  # any number would do; a claim begins with what it takes for granted
    rules = ruled()
    for least in (one, other):
        SynchronizerCore().disable(rules, Guard(lambda least=least: level >= least))
    permitted = rules.entry.permits(call(rules))
    assert permitted == (level < one and level < other)


def the_guard_of_the_entry_is_asked_first(is_open: bool, disabled: bool) -> None:
    assert isinstance(is_open, bool)
    asked: list[str] = []
    rules = ruled(Guard(lambda: answer(is_open, asked, "entry")))
    SynchronizerCore().disable(rules, Guard(lambda: answer(disabled, asked, "synchronizer")))
    assert rules.entry.permits(call(rules)) == (is_open and not disabled)
    assert asked == (["entry", "synchronizer"] if is_open else ["entry"])


def triggers_run_in_order_up_to_the_one_that_raises(triggers: int, raising: int) -> None:
    assert 0 <= triggers <= BOUND
    assert 0 <= raising <= triggers  # the number of it; none of them if it is behind the last
    ran: list[int] = []

    def run(number: int) -> None:
        if number == raising:
            raise LookupError
        ran.append(number)

    rules = ruled()
    synchronizer = SynchronizerCore()
    for number in range(triggers):
        synchronizer.trigger(rules, Trigger(lambda number=number: run(number)))
    request, _ = rules.arbiter.arrive(call(rules))
    assert ran == [*range(raising)]
    assert (request.status is Status.BROKEN) == (raising < triggers)
    assert (rules.arbiter.owner is None) == (raising < triggers)


def all_of_a_group_start_or_none_does(here: bool, there: bool, occupied: bool) -> None:
    assert isinstance(here, bool)
    one, other = ruled(Guard(lambda: here)), ruled(Guard(lambda: there))
    SynchronizerCore().atomic([one, other])
    if occupied:
        other.arbiter.admit(Invocation(EntryCore("y"), "inside"))
    requests = [rules.arbiter.arrive(call(rules))[0] for rules in (one, other)]
    if here and there and not occupied:
        assert all_are(Status.GRANTED, requests)
        assert (one.arbiter.owner, other.arbiter.owner) == (0, 0)
    else:
        assert all_are(Status.PENDING, requests)
        assert one.arbiter.owner is None
        assert other.arbiter.owner == ("inside" if occupied else None)


def of_the_partners_the_oldest_that_could_start_is_taken(waiting: int, first: int) -> None:
    assert 0 <= waiting <= BOUND
    assert 0 <= first <= BOUND  # the oldest that is permitted, if it is there
    one = ruled()
    other = ruled(Guard(lambda request: request.task >= first, reads_request=True))
    SynchronizerCore().atomic([one, other])
    for who in range(waiting):
        other.arbiter.arrive(call(other, who), who)
    request, _ = one.arbiter.arrive(call(one))
    assert other.arbiter.owner == (first if first < waiting else None)
    assert (request.status is Status.GRANTED) == (first < waiting)
    assert first not in waiters_of(other.arbiter.waiting())


def the_end_takes_back_its_own_rules_and_no_others(own: int, others: int) -> None:
    assert 0 <= own <= BOUND
    assert 0 <= others <= BOUND
    rules = ruled()
    ending, lasting = SynchronizerCore(), SynchronizerCore()
    for synchronizer, count in ((ending, own), (lasting, others)):
        for _ in range(count):
            synchronizer.disable(rules, Guard(lambda: True))
    assert ending.end() == ([rules] if own else [])
    assert [one for one, _ in rules.disabling] == [lasting] * others
    assert (rules.entry.rules is None) == (others == 0)
    assert (rules in rules.arbiter.rules) == (others > 0)
