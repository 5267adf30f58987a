"""What a group holds: given back early, one by one, or taken out of the block."""

from typing import Any

import pytest
import trio
import trio.testing

from structsync import (
    Lock,
    Primitive,
    RWLock,
    Semaphore,
    acquire_all,
    acquire_any,
    lowlevel,
    open_scope,
)
from structsync._core.primitives.semaphore import SemaphoreCore

settle = trio.testing.wait_all_tasks_blocked


@pytest.mark.parametrize("has_hash", [True, False])
async def test_primitives_that_are_equal_are_several_all_the_same(has_hash: bool) -> None:
    """A class may define equality, and a dataclass has no hash then."""
    body = {
        "__eq__": lambda self, other: True,
        **({"__hash__": lambda self: 1} if has_hash else {}),
    }
    make: Any = type("Bay", (Primitive,), body)
    left, right = make(SemaphoreCore(3)), make(SemaphoreCore(3))
    early = lowlevel.claim(left, lambda task: 1)
    claims = early, lowlevel.claim(left, lambda task: 1), lowlevel.claim(right, lambda task: 1)
    async with acquire_all(*claims) as held:
        assert (left._core.value, right._core.value) == (1, 2)
        held.release(early)
        assert (left._core.value, right._core.value) == (2, 2)
    assert (left._core.value, right._core.value) == (3, 3)
    async with acquire_any(claims[0], claims[2]) as granted:
        assert granted is claims[0]
        assert (left._core.value, right._core.value) == (2, 3)
    async with open_scope() as scope:
        assert scope.own(left) is left
        assert scope.own(right) is right
    assert left.closed
    assert right.closed


async def test_one_claim_given_back_early_lets_others_in_at_once() -> None:
    narrow, wide = Semaphore(1), Semaphore(2)
    early = narrow.claim()
    async with acquire_all(wide.claim(2), early) as held:
        waiting = narrow.request()
        held.release(early)
        assert waiting.status == "granted"
        assert (wide.value, len(held.claims)) == (0, 1)
    assert (narrow.value, wide.value) == (0, 2)


async def test_one_of_two_claims_on_a_semaphore_is_given_back_alone() -> None:
    semaphore = Semaphore(3)
    two, one = semaphore.claim(2), semaphore.claim()
    async with acquire_all(two, one) as held:
        held.release(two)
        assert semaphore.value == 2
    assert semaphore.value == 3


async def test_a_claim_that_is_used_twice_is_given_back_twice() -> None:
    semaphore = Semaphore(2)
    claim = semaphore.claim()
    async with acquire_all(claim, claim) as held:
        held.release(claim)
        assert semaphore.value == 1
        held.release(claim)
        with pytest.raises(ValueError, match="not held by this group"):
            held.release(claim)
    assert semaphore.value == 2


async def test_a_claim_of_another_group_is_refused() -> None:
    semaphore = Semaphore(2)
    async with acquire_all(semaphore.claim()) as held:
        with pytest.raises(ValueError, match="the claim that the group was made of"):
            held.release(semaphore.claim())
        assert semaphore.value == 1


async def test_what_is_kept_stays_held_when_the_block_ends() -> None:
    semaphore, lock = Semaphore(1), Lock()
    async with acquire_all(semaphore.claim(), lock.claim()) as held:
        assert held.keep() is held
    assert semaphore.value == 0
    assert lock.locked()
    with held:
        pass
    held.close()
    assert semaphore.value == 1
    assert not lock.locked()


async def test_what_is_kept_is_held_also_where_the_block_ends_with_an_error() -> None:
    semaphore = Semaphore(1)
    with pytest.raises(KeyError):
        async with acquire_all(semaphore.claim()) as held:
            held.keep()
            raise KeyError
    assert semaphore.value == 0
    held.close()


async def test_what_is_kept_may_be_given_back_by_another_task(nursery: trio.Nursery) -> None:
    semaphore = Semaphore(1)
    async with acquire_all(semaphore.claim()) as held:
        held.keep()

    async def other() -> None:
        held.close()

    nursery.start_soon(other)
    await semaphore.acquire()


async def test_closing_inside_the_block_leaves_nothing_to_its_end() -> None:
    semaphore = Semaphore(1, max_value=1)
    async with acquire_all(semaphore.claim()) as held:
        held.close()
        assert (semaphore.value, held.claims) == (1, ())


async def test_a_claim_that_cannot_be_given_back_is_still_held() -> None:
    lock = Lock()
    claim = lock.claim()
    async with acquire_all(claim) as held:
        lock.release()
        with pytest.raises(RuntimeError, match="don't own"):
            held.release(claim)
        assert held.claims == (claim,)
        await lock.acquire()


async def test_the_others_are_given_back_if_one_cannot_be() -> None:
    lock, semaphore = Lock(), Semaphore(1)
    with pytest.raises(RuntimeError, match="don't own"):
        async with acquire_all(lock.claim(), semaphore.claim()):
            lock.release()
    assert semaphore.value == 1


async def test_a_writer_that_became_a_reader_gives_back_what_it_has() -> None:
    lock = RWLock()
    claim = lock.write_claim()
    async with acquire_all(claim) as held:
        lock.downgrade()
        held.release(claim)
        assert not lock.locked()


async def test_a_block_may_be_entered_again_after_what_it_held_was_kept() -> None:
    semaphore = Semaphore(2)
    block = acquire_all(semaphore.claim())
    async with block as first:
        first.keep()
    async with block as second:
        assert second is not first
    assert semaphore.value == 1
    first.close()


async def test_it_shows_how_much_it_holds() -> None:
    async with acquire_all(Semaphore(1).claim()) as held:
        assert repr(held) == "<Holding of 1 claims>"
        held.keep()
        assert "kept" in repr(held)
    with held as itself:
        assert itself is held
    assert repr(held) == "<Holding of 0 claims>"


async def test_leaving_a_block_that_no_task_entered_gives_nothing_back() -> None:
    semaphore = Semaphore(1, max_value=1)
    await acquire_all(semaphore.claim()).__aexit__(None, None, None)
    assert semaphore.value == 1
