"""A lock of the map is held by the map exactly while it has an owner."""

from __future__ import annotations

from structsync._core.primitives.lock_map import LockMapCore

from ._queue import BOUND, distinct


def a_key_is_held_until_the_last_in_the_queue_has_released(names: list[int]) -> None:
    assert 1 <= len(names) <= BOUND
    assert distinct(names)
    home = LockMapCore({"key": "its lock"})
    lock = home.new_lock("key")
    # Not an index of hashes, for which one number would have to be picked (see lock.py).
    lock.refuse_impossible = lambda claim: None  # type: ignore[method-assign]
    lock.entered = lock.left = lambda request: None  # type: ignore[method-assign]
    for who in names:
        lock.submit(who)
    for who in names:
        assert home.held == {"key": "its lock"}
        lock.release(who)
    assert home.held == {}
