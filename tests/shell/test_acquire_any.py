"""acquire_any holds exactly one of its claims, and gives up the other places in the same step."""

from __future__ import annotations

import pytest
import trio
import trio.testing

from structsync import Lock, PrimitiveEvent, RWLock, Semaphore, acquire_all, acquire_any, observe

from .test_acquire_all import Tasks, settle, waiting


async def test_the_first_that_is_free_is_taken_and_named() -> None:
    a, b, c = Semaphore(0), Semaphore(1), Semaphore(1)
    claims = [each.claim() for each in (a, b, c)]
    with trio.testing.assert_checkpoints():
        async with acquire_any(*claims) as claim:
            assert claim is claims[1]
            assert claim.primitive is b
            assert [each.value for each in (a, b, c)] == [0, 0, 1]
    assert [each.value for each in (a, b, c)] == [0, 1, 1]


async def test_the_first_that_becomes_free_is_taken_and_the_other_places_are_given_up() -> None:
    a, b = Semaphore(0), Lock()
    async with trio.open_nursery() as nursery:
        tasks = Tasks(nursery)
        await tasks.start("holder of b", b)
        await tasks.start("either", acquire_any(a.claim(), b.claim()))
        await tasks.start("behind at b", b)
        assert waiting(a, b) == [1, 2]
        a.release()
        assert waiting(a, b) == [0, 1]
        await settle()
        assert tasks.holding == ["holder of b", "either"]
        await tasks.leave("holder of b")
        assert tasks.holding == ["either", "behind at b"]
        nursery.cancel_scope.cancel()
    assert a.value == 1


async def test_giving_up_a_place_lets_in_who_stood_behind_it() -> None:
    a, b = Semaphore(0), Semaphore(2, max_value=2)
    b.acquire_nowait()
    async with trio.open_nursery() as nursery:
        tasks = Tasks(nursery)
        await tasks.start("either", acquire_any(a.claim(), b.claim(2)))
        await tasks.start("behind at b", b)
        a.release()
        await settle()
        assert sorted(tasks.holding) == ["behind at b", "either"]
        nursery.cancel_scope.cancel()


async def test_two_that_come_in_one_step_are_one_commit() -> None:
    a, b = Semaphore(0), Semaphore(0)
    async with trio.open_nursery() as nursery:
        tasks = Tasks(nursery)
        await tasks.start("either", acquire_any(a.claim(), b.claim()))
        b.release()
        a.release()
        await settle()
        assert (a.value, b.value) == (1, 0)
        nursery.cancel_scope.cancel()
    assert (a.value, b.value) == (1, 1)


async def test_closing_any_of_them_ends_the_wait() -> None:
    a, b = Semaphore(0), Semaphore(0)
    async with trio.open_nursery() as nursery:
        tasks = Tasks(nursery)
        await tasks.start("either", acquire_any(a.claim(), b.claim()))
        a.close()
        await settle()
        assert isinstance(tasks.errors["either"], trio.ClosedResourceError)
        assert waiting(a, b) == [0, 0]


@pytest.mark.parametrize("amounts", [(2, 1), (1, 1)])
def test_two_claims_on_one_semaphore_are_refused_with_the_repair(amounts: tuple[int, int]) -> None:
    a, b = Semaphore(3), Semaphore(3)
    with pytest.raises(ValueError, match=r"alternatives.*two on <Semaphore.*use acquire_all"):
        acquire_any(a.claim(amounts[0]), b.claim(), a.claim(amounts[1]))
    assert (a.value, b.value) == (3, 3)


def test_to_read_and_to_write_are_two_claims_on_one_lock() -> None:
    lock = RWLock()
    with pytest.raises(ValueError, match="two on <RWLock"):
        acquire_any(lock.read_claim(), lock.write_claim())


async def test_an_impossible_claim_is_refused_though_another_is_free() -> None:
    a, b = Semaphore(1), Semaphore(1, max_value=1)
    with pytest.raises(ValueError, match="cannot acquire 2"):
        async with acquire_any(a.claim(), b.claim(2)):
            raise AssertionError
    assert a.value == 1


async def test_the_places_given_up_are_told_with_their_primitive() -> None:
    a, b = Semaphore(0), Semaphore(0)
    told: list[tuple[str, object]] = []

    def note(event: PrimitiveEvent) -> None:
        told.append((event.kind, event.primitive))

    async with trio.open_nursery() as nursery:
        tasks = Tasks(nursery)
        with observe(note):
            await tasks.start("either", acquire_any(a.claim(), b.claim()))
            b.release()
        nursery.cancel_scope.cancel()
    assert told == [
        ("requested", a),
        ("requested", b),
        ("released", b),
        ("granted", b),
        ("withdrawn", a),
    ]


async def test_all_and_any_stand_in_the_same_queues() -> None:
    """A choice that commits elsewhere lets in the group behind it, in the same step."""
    a, b, c = Lock(), Semaphore(0), Semaphore(1)
    async with trio.open_nursery() as nursery:
        tasks = Tasks(nursery)
        await tasks.start("holder of a", a)
        await tasks.start("either", acquire_any(a.claim(), b.claim()))
        await tasks.start("both", acquire_all(a.claim(), c.claim()))
        await tasks.leave("holder of a")
        assert tasks.holding == ["either"]
        await tasks.leave("either")
        assert tasks.holding == ["both"]
        nursery.cancel_scope.cancel()
