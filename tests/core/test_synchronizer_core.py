"""Calls that start together: when they may, and what an oracle takes for a lost wakeup."""

from __future__ import annotations

from collections.abc import Iterator

from structsync._core.monitors.entry import EntryCore, Invocation
from structsync._core.monitors.monitor import MonitorCore
from structsync._core.monitors.synchronizer import Rules, SynchronizerCore
from structsync.checking import invariants


def two() -> tuple[list[MonitorCore], list[EntryCore]]:
    """Return two monitors and an entry of each, which start together."""
    monitors, entries = [MonitorCore(), MonitorCore()], [EntryCore("a"), EntryCore("b")]
    pairs = zip(entries, monitors, strict=True)
    SynchronizerCore().atomic([Rules(entry, monitor, None) for entry, monitor in pairs])
    return monitors, entries


def test_a_call_that_waits_for_another_is_not_a_lost_wakeup() -> None:
    (a, b), (here, there) = two()
    a.arrive(Invocation(here, "first"))
    assert invariants.nothing_grantable_waits(a)
    b.enqueue(Invocation(there, "second"))  # and no task looks
    assert not invariants.nothing_grantable_waits(a)
    assert not invariants.nothing_grantable_waits(b)


def test_a_call_that_starts_takes_its_partner_out_of_the_other_queue() -> None:
    (a, b), (here, there) = two()
    first, ended = a.arrive(Invocation(here, "first"))
    assert ended == []
    second, ended = b.arrive(Invocation(there, "second"))
    assert ended == [second]
    assert (first.status, second.status) == ("granted", "granted")
    assert (a.owner, b.owner, len(a.queue), len(b.queue)) == ("first", "second", 0, 0)


class Walked(list[Rules]):
    """A group that counts how often it is walked through."""

    times = 0

    def __iter__(self) -> Iterator[Rules]:
        self.times += 1
        return super().__iter__()


def test_to_know_who_starts_together_a_group_is_walked_once() -> None:
    """Once for each of its members, each looked for among all, would be the cube of its size."""
    rules = Walked(Rules(EntryCore(name), MonitorCore(), None) for name in "abcd")
    SynchronizerCore().atomic(rules)
    rules.times = 0
    assert rules[2].bonded() == [rules[2], rules[0], rules[1], rules[3]]
    assert rules.times == 1
