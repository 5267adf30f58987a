"""LockMap: a lock for each key, which is gone with its last user."""

from __future__ import annotations

import gc
import re
import weakref
from typing import Any

import pytest
import trio
import trio.testing

from structsync import Condition, LockMap, PermitLeakError, acquire_all, open_scope, trace_waits

settle = trio.testing.wait_all_tasks_blocked


async def test_one_task_holds_a_key_and_another_one_another() -> None:
    locks = LockMap[str]()
    order: list[str] = []

    async def work(key: str) -> None:
        async with locks[key]:
            order.append(f"{key} in")
            await settle()
            order.append(f"{key} out")

    async with trio.open_nursery() as nursery:
        for key in ("a", "a", "b"):
            nursery.start_soon(work, key)
    assert order.index("b in") < order.index("a out")
    assert [one for one in order if one[0] == "a"] == ["a in", "a out"] * 2
    assert len(locks) == 0


async def test_an_entry_is_gone_with_its_last_user() -> None:
    locks = LockMap[int]()
    async with locks[1]:
        reference = weakref.ref(locks[1])
        assert (1 in locks, 2 in locks, [*locks], len(locks)) == (True, False, [1], 1)
    assert (1 in locks, len(locks)) == (False, 0)
    gc.collect()
    assert reference() is None


async def test_a_lock_that_is_held_stays_though_no_task_has_it() -> None:
    locks = LockMap[int]()
    await locks[1].acquire()
    gc.collect()
    assert locks[1].locked()
    with pytest.raises(RuntimeError, match="already held"):
        locks[1].acquire_nowait()
    locks[1].release()
    assert not locks[1].locked()


async def test_a_lock_that_a_task_has_is_the_lock_of_the_key() -> None:
    locks = LockMap[int]()
    claim, lock = locks.claim(1), locks[1]
    async with lock:
        pass
    gc.collect()
    assert locks[1] is lock is claim.primitive


async def test_equal_keys_are_one_key() -> None:
    locks = LockMap[float]()
    async with locks[1]:
        assert locks[1.0].locked()


def test_a_key_must_be_hashable() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        LockMap[Any]()[[]]


async def test_several_keys_are_locked_in_one_step() -> None:
    locks = LockMap[str]()

    async def work(first: str, second: str) -> None:
        async with acquire_all(locks.claim(first), locks.claim(second)):
            assert len(locks) == 2
            await settle()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(work, "a", "b")
        nursery.start_soon(work, "b", "a")
    assert len(locks) == 0


async def test_a_cancelled_waiter_leaves_nothing_behind() -> None:
    locks = LockMap[int]()
    async with locks[1], trio.open_nursery() as nursery:
        nursery.start_soon(locks[1].acquire)
        await settle()
        assert locks.statistics().tasks_waiting == 1
        nursery.cancel_scope.cancel()
    assert locks.statistics().tasks_waiting == 0
    assert len(locks) == 0


async def test_a_condition_may_be_on_the_lock_of_a_key() -> None:
    locks = LockMap[int]()
    condition = Condition(locks[1])
    async with condition:
        assert 1 in locks
    assert 1 not in locks


async def test_an_owner_that_ends_breaks_its_key_alone_and_for_good() -> None:
    locks = LockMap[str]()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(locks["a"].acquire)
    gc.collect()
    with pytest.raises(trio.BrokenResourceError):
        await locks["a"].acquire()
    assert locks["a"].broken
    assert [*locks] == ["a"]
    async with locks["b"]:
        pass


async def test_closing_closes_the_locks_that_are_there_and_those_to_come() -> None:
    locks = LockMap[str](name="accounts")

    async def closed(key: str) -> None:
        with pytest.raises(trio.ClosedResourceError):
            await locks[key].acquire()

    await locks["a"].acquire()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(closed, "a")
        await settle()
        assert not locks.closed
        locks.close()
        locks.close()
    assert locks.closed
    assert "closed" in repr(locks)
    await closed("b")
    locks["a"].release()
    assert len(locks) == 0


async def test_a_scope_closes_the_locks_of_a_map_that_it_owns() -> None:
    locks = LockMap[str](name="accounts")
    async with open_scope() as scope:
        assert scope.own(locks) is locks
        async with locks["a"]:
            pass
    assert locks.closed
    with pytest.raises(trio.ClosedResourceError, match="this LockMap 'accounts' was closed"):
        await locks["a"].acquire()


async def test_a_scope_reports_a_key_that_was_not_given_back() -> None:
    locks = LockMap[str]()
    with pytest.raises(PermitLeakError, match="1 not returned to <LockMap at"):
        async with open_scope() as scope:
            await scope.own(locks)["a"].acquire()


async def test_a_leak_of_a_map_names_the_keys_their_owners_and_the_lines() -> None:
    locks = LockMap[str](name="accounts")

    async def lock(key: str) -> None:
        await locks[key].acquire()

    await locks["before"].acquire()
    with trace_waits(), pytest.raises(PermitLeakError) as caught:
        async with open_scope() as scope:
            scope.own(locks)
            async with locks["returned"]:
                pass
            for key in ("alice", "bob"):
                scope.start_soon(lock, key, name=f"clerk of {key}")
    said = str(caught.value)
    assert said.startswith("2 not returned to <LockMap 'accounts'")
    for key in ("alice", "bob"):
        assert re.search(
            rf"<Task 'clerk of {key}' at \w+> has locked '{key}', acquired at test_lock_map\.py:\d+ in lock",
            said,
        )
    assert "before" not in said
    assert "returned'" not in said
    locks["before"].release()


async def test_a_map_of_which_another_run_uses_a_lock_stays_open_as_a_whole() -> None:
    locks = LockMap[str]()
    kept = locks["b"]

    def close() -> None:
        with pytest.raises(RuntimeError, match="in use by another trio run"):
            locks.close()

    async with locks["a"]:
        await trio.to_thread.run_sync(close)
        async with kept:
            assert not locks.closed


@pytest.mark.parametrize("attempt", ["submit", "admit", "release"])
def test_no_task_queues_for_a_map_itself(attempt: str) -> None:
    core = LockMap[str]()._core
    before = core.snapshot()
    with pytest.raises(NotImplementedError, match=r"by its lock: \w+ locks\[key\]"):
        getattr(core, attempt)("a")
    assert (core.snapshot(), core.is_idle) == (before, True)


async def test_repr_and_names_of_the_locks() -> None:
    locks = LockMap[str](name="accounts")
    assert locks.name == "accounts"
    assert repr(locks["a"]).startswith("<Lock \"accounts['a']\" at 0x")
    assert LockMap[str]()["a"].name is None
    async with locks["a"]:
        assert repr(locks).startswith("<LockMap 'accounts' at 0x")
        assert repr(locks).endswith(": 1 locked, 0 waiting>")
        assert locks.statistics().locks_held == 1
    assert repr(LockMap[str]()).startswith("<LockMap at 0x")


async def test_a_key_that_a_finalizer_asks_for_meanwhile_has_one_lock() -> None:
    """The finalizer runs while the lock is made, and what it took stays."""
    taken: list[object] = []

    class Key:
        def __hash__(self) -> int:
            return 1

        def __eq__(self, other: object) -> bool:
            return True

        def __repr__(self) -> str:
            if not taken:
                taken.append(None)
                taken[0] = locks[self]
            return "key"

    locks = LockMap[Key](name="named")
    lock = locks[Key()]
    assert lock is taken[0]
