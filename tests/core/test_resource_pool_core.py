"""The core of a pool of items: what a snapshot holds, and what another clock changes."""

from __future__ import annotations

import pytest

from structsync._core.primitives.resource_pool import Kept, ResourcePoolCore


def used_core() -> ResourcePoolCore:
    """One item is lent that was idle before, one is made, one is idle, and one to be closed."""
    core = ResourcePoolCore(4, max_idle=60)
    for who in ("a", "b", "c"):
        core.submit(who)
        core.put_in(who, f"item of {who}")
    core.discard("a")
    for time, who in enumerate(("a", "b", "c")):
        core.put_back(who, time)
    core.submit("d")
    core.loans["e"] = None
    return core


def test_what_is_restored_is_what_was_there() -> None:
    core, restored = used_core(), ResourcePoolCore(1)
    restored.restore(core.snapshot())
    assert restored.snapshot() == core.snapshot()
    assert (restored.loans, restored.idle, restored.max_size) == (core.loans, core.idle, 4)


def test_another_clock_makes_nothing_older_and_nothing_fit() -> None:
    core = ResourcePoolCore(4, max_idle=60)
    for who in ("old", "unfit", "new", "empty"):
        core.submit(who)
        core.put_in(who, who)
    core.put_back("old", 0)
    core.submit("again")
    core.discard("unfit")
    core.take_out("empty")
    core.change_clock(1_000)
    assert core.loans["again"] == Kept("old", 1_000)
    assert not core.is_fit("unfit", 1_000)
    assert core.is_fit("new", 2_000)
    assert core.loans["empty"] is None
    assert not core.is_fit("empty", 1_000)


def test_a_place_is_given_back_once() -> None:
    core = ResourcePoolCore(1)
    core.submit("a")
    core.release("a")
    with pytest.raises(RuntimeError, match="this place in the pool was released already"):
        core.release("a")


def test_it_is_idle_while_nothing_is_lent() -> None:
    core = ResourcePoolCore(1)
    assert core.is_idle
    core.submit("a")
    assert not core.is_idle
    core.put_in("a", "item")
    core.put_back("a", 0)
    assert core.is_idle
