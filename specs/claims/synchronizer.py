"""Rules add up, calls that start together do or do not, and triggers run up to the one that raises."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from structsync import Status
from structsync._core.monitors.entry import Call, EntryCore, Guard, Invocation, Trigger
from structsync._core.monitors.monitor import MonitorCore
from structsync._core.monitors.synchronizer import Rules, SynchronizerCore
from structsync._core.queue.arbiter import EndedForGood

from ._queue import BOUND, all_are, waiters_of


def ruled(guard: Guard | None = None) -> Rules:
    """An entry of a monitor of its own, which rules may concern."""
    return Rules(EntryCore("x", guard), MonitorCore(), None)


def call(rules: Rules, who: int = 0) -> Invocation:
    return Invocation(rules.entry, who)


def answer(what: bool, asked: list[str], who: str) -> bool:
    """Answer for a guard, and note that it was evaluated."""
    asked.append(who)
    return what


def failing() -> bool:
    raise LookupError("of the user")


def a_call_is_permitted_if_no_synchronizer_disables_it(level: int, one: int, other: int) -> None:
    assert one <= BOUND  # any number would do; a claim begins with what it takes for granted
    rules = ruled()
    for least in (one, other):
        SynchronizerCore().disable(rules, Guard(lambda least=least: level >= least))
    permitted = rules.entry.permits(call(rules))
    assert permitted == (level < one and level < other)


def the_guard_of_the_entry_is_evaluated_first(is_open: bool, disabled: bool) -> None:
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
        # Those that have started do not point at each other any more.
        assert all(cast(Call, request).partners == () for request in requests)
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


def a_call_that_starts_with_others_is_refused_where_one_of_them_is_closed(
    which: int, closes_entry: bool, is_closed: bool
) -> None:
    assert 0 <= which <= 1
    one, other = ruled(), ruled()
    SynchronizerCore().atomic([one, other])
    gone = (one, other)[which]
    if is_closed and closes_entry:
        gone.arbiter.remove(gone.entry, "closed")
    elif is_closed:
        gone.arbiter.end("closed")
    cause: object = "closed"
    try:
        one.arbiter.arrive(call(one))
    except EndedForGood as error:
        cause = error.cause
        assert is_closed
        assert not one.arbiter.queue
    else:
        assert not is_closed
        assert len(one.arbiter.queue) == 1
    assert cause == "closed"


def entries_of_one_monitor_do_not_start_together(is_one: bool, is_through_another: bool) -> None:
    assert is_one in (False, True)
    first, partner = ruled(), ruled()
    second = Rules(EntryCore("second"), first.arbiter if is_one else MonitorCore(), None)
    synchronizer = SynchronizerCore()
    if is_through_another:
        synchronizer.atomic([partner, second])
    group = [first, partner if is_through_another else second]
    words = ""
    try:
        synchronizer.atomic(group)
    except ValueError as error:
        words = str(error)
        assert is_one
        assert not first.bonds
    else:
        assert not is_one
        assert first.bonded()[0] is first
        assert len(first.bonded()) == 2 + is_through_another
    assert ("two of x, x, second are" in words) == (is_one and is_through_another)
    assert ("two of x, second are" in words) == (is_one and not is_through_another)


def the_error_of_a_trigger_is_told_to_each_in_its_own_words(raising: int) -> None:
    assert 0 <= raising <= 1
    ours, theirs = ruled(), ruled()
    theirs.primitive = "its monitor"
    SynchronizerCore().atomic([ours, theirs])
    SynchronizerCore().trigger((ours, theirs)[raising], Trigger(failing))
    requests = [rules.arbiter.arrive(call(rules))[0] for rules in (ours, theirs)]
    assert all_are(Status.BROKEN, requests)
    own, other = requests[raising], requests[1 - raising]
    assert isinstance(own.cause, LookupError)
    assert isinstance(other.cause, RuntimeError)
    assert other.cause.__cause__ is own.cause
    assert "raised LookupError('of the user'), and this call of x" in str(other.cause)
    assert ours.arbiter.owner is theirs.arbiter.owner is None
    assert Rules(ours.entry, ours.arbiter, "its monitor").primitive == theirs.primitive


def a_partner_is_next_although_the_guard_of_another_fails(first: int, is_bonded: bool) -> None:
    assert (
        0 <= first <= 2
    )  # the call that is older than the partner: its guard fails, or not, or it is bonded
    one = ruled()
    other = ruled()
    older = EntryCore("older", Guard(lambda: failing() if first == 0 else first == 1))
    if is_bonded:
        SynchronizerCore().atomic([Rules(older, other.arbiter, None), ruled()])
    other.arbiter.enqueue(Invocation(older, "older"))
    SynchronizerCore().atomic([one, other])
    other.arbiter.enqueue(call(other))
    request, _ = one.arbiter.arrive(call(one))
    is_passed = first != 1 or is_bonded  # where it could start alone, it is next there
    assert (request.status is Status.GRANTED) == is_passed
    assert other.arbiter.owner == (0 if is_passed else None)


def what_reads_a_call_is_known(guard_reads: bool, rule_reads: bool, is_ruled: bool) -> None:
    assert guard_reads in (False, True)
    rules = ruled(Guard(lambda *_: True, reads_request=guard_reads))
    if is_ruled:
        SynchronizerCore().disable(rules, Guard(lambda *_: False, reads_request=rule_reads))
        SynchronizerCore().trigger(rules, Trigger(lambda: None))
    assert rules.entry.reads_request == (guard_reads or (is_ruled and rule_reads))
    assert rules.reads_request == (is_ruled and rule_reads)


class Walked(list[Rules]):
    """A group that counts how often it is walked through."""

    walks = 0

    def __iter__(self) -> Iterator[Rules]:
        self.walks += 1
        return super().__iter__()


def to_know_which_calls_start_together_a_group_is_walked_once(entries: int) -> None:
    assert 2 <= entries <= BOUND
    group = Walked([ruled() for _ in range(entries)])
    members = list.copy(group)
    SynchronizerCore().atomic(group)
    group.walks = 0
    assert members[0].bonded() == members
    assert group.walks == 1
