"""Calls that start together: when they may, and what an oracle takes for a lost wakeup."""

from __future__ import annotations

from structsync._core.entry import EntryCore, Invocation
from structsync._core.monitor import MonitorCore
from structsync._core.synchronizer import Rules, SynchronizerCore
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
    b.enqueue(Invocation(there, "second"))  # and nobody looks
    assert not invariants.nothing_grantable_waits(a)
    assert not invariants.nothing_grantable_waits(b)


def test_a_call_that_starts_takes_its_partner_out_of_the_other_line() -> None:
    (a, b), (here, there) = two()
    first, ended = a.arrive(Invocation(here, "first"))
    assert ended == []
    second, ended = b.arrive(Invocation(there, "second"))
    assert ended == [second]
    assert (first.status, second.status) == ("granted", "granted")
    assert (a.owner, b.owner, len(a.line), len(b.line)) == ("first", "second", 0, 0)
