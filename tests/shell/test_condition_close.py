"""A condition whose lock is closed under its owner."""

import pytest
import trio

import structsync


async def test_a_wait_under_a_closed_lock_is_refused_and_keeps_the_lock(
    autojump_clock: trio.testing.MockClock,
) -> None:
    """No task could own the lock again to notify: the wait would never end."""
    lock = structsync.Lock()
    condition = structsync.Condition(lock)
    await lock.acquire()
    lock.close()
    with trio.fail_after(1), pytest.raises(trio.ClosedResourceError):
        await condition.wait()
    assert lock.statistics().owner is trio.lowlevel.current_task()
    lock.release()
