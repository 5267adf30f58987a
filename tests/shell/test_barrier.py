"""Barrier: rounds of parties, each with a number of its own; what a cancelled party does (B1, B2)."""

from functools import partial

import pytest
import trio
import trio.testing

from structsync import Barrier, PrimitiveEvent, observe, open_scope

settle = trio.testing.wait_all_tasks_blocked


class Parties:
    """Tasks that come to a barrier, and how each wait ended."""

    def __init__(self, barrier: Barrier, nursery: trio.Nursery) -> None:
        self.barrier = barrier
        self.nursery = nursery
        self.ended: dict[str, int | str] = {}
        self.scopes: dict[str, trio.CancelScope] = {}

    async def come(self, *names: str) -> None:
        for name in names:
            self.scopes[name] = trio.CancelScope()
            self.nursery.start_soon(self._wait, name, name=name)
            await settle()

    async def _wait(self, name: str) -> None:
        try:
            with self.scopes[name]:
                self.ended[name] = await self.barrier.wait()
        except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
            self.ended[name] = f"{type(error).__name__}: {error}"
        if self.scopes[name].cancelled_caught:
            self.ended[name] = "cancelled"


async def test_a_round_has_each_number_once_in_the_order_of_arrival(nursery: trio.Nursery) -> None:
    p = Parties(Barrier(3), nursery)
    await p.come("a", "b")
    assert p.ended == {}
    await p.come("c")
    assert p.ended == {"a": 0, "b": 1, "c": 2}


async def test_the_next_round_begins_when_one_is_full(nursery: trio.Nursery) -> None:
    p = Parties(Barrier(2), nursery)
    await p.come("a", "b", "c")
    assert "c" not in p.ended
    await p.come("d")
    assert (p.ended["c"], p.ended["d"]) == (0, 1)


async def test_who_passes_and_comes_again_at_once_is_of_the_next_round() -> None:
    barrier = Barrier(3)
    numbers: list[list[int]] = [[], [], []]

    async def party() -> None:
        for numbers_of_round in numbers:
            numbers_of_round.append(await barrier.wait())

    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(party)
    assert [sorted(one) for one in numbers] == [[0, 1, 2]] * 3


async def test_a_round_of_one_never_waits() -> None:
    barrier = Barrier(1)
    assert [await barrier.wait(), await barrier.wait()] == [0, 0]


@pytest.mark.parametrize("gone", ["a", "b"])
async def test_a_cancelled_party_is_not_counted(gone: str, nursery: trio.Nursery) -> None:
    p = Parties(Barrier(3), nursery)
    await p.come("a", "b")
    p.scopes[gone].cancel()
    await p.come("c")
    assert p.ended == {gone: "cancelled"}
    await p.come("d")
    (stayed,) = {"a", "b"} - {gone}
    assert (p.ended[stayed], p.ended["c"], p.ended["d"]) == (0, 1, 2)


@pytest.mark.parametrize("option", ["leaves", "breaks"])
async def test_a_party_that_is_cancelled_before_it_comes_last_does_not_fill_the_round(
    option: str, nursery: trio.Nursery
) -> None:
    p = Parties(Barrier(2, cancelled=option), nursery)  # type: ignore[arg-type]  # a plain str
    await p.come("a")
    with trio.CancelScope() as scope:
        scope.cancel()
        await p.barrier.wait()
    assert scope.cancelled_caught
    await settle()
    assert p.barrier.broken == ("a" in p.ended) == (option == "breaks")


async def test_who_is_cancelled_after_the_last_has_come_was_in_the_round() -> None:
    barrier = Barrier(2)
    numbers = []

    async def party() -> None:
        numbers.append(await barrier.wait())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(party)
        await settle()
        assert await barrier.wait() == 1
        nursery.cancel_scope.cancel()
    assert numbers == [0]


async def test_a_cancelled_party_breaks_the_round_and_those_who_come_late(
    nursery: trio.Nursery,
) -> None:
    p = Parties(Barrier(3, cancelled="breaks"), nursery)
    await p.come("a", "b")
    p.scopes["b"].cancel()
    assert p.barrier.broken  # in the canceller's own step
    await p.come("c")
    assert p.ended["b"] == "cancelled"
    for name in ("a", "c"):
        assert "round of the Barrier is broken: <Task 'b" in str(p.ended[name])
    assert "broken" in repr(p.barrier)
    p.barrier.reset()
    assert not p.barrier.broken
    await p.come("d", "e", "f")
    assert [p.ended[name] for name in "def"] == [0, 1, 2]


async def test_parties_that_are_cancelled_together_are_cancelled_and_no_error_comes_of_it() -> None:
    barrier = Barrier(4, cancelled="breaks")

    async def party(*, late: bool) -> None:
        with trio.CancelScope(shield=late) as scope:
            if late:
                await trio.lowlevel.checkpoint()
                await settle()
            scope.shield = False
            await barrier.wait()

    async with trio.open_nursery() as nursery:
        for late in (False, False, True):
            nursery.start_soon(partial(party, late=late))
        await trio.lowlevel.checkpoint()
        nursery.cancel_scope.cancel()
    assert nursery.cancel_scope.cancelled_caught
    assert barrier.broken


async def test_aborting_sends_away_who_waits_and_who_comes(nursery: trio.Nursery) -> None:
    p = Parties(Barrier(2), nursery)
    await p.come("a")
    p.barrier.abort()
    p.barrier.abort()
    await p.come("b")
    assert all("abort() was called" in str(one) for one in p.ended.values())
    assert len(p.ended) == 2


async def test_a_reset_sends_away_who_waits_and_begins_anew(nursery: trio.Nursery) -> None:
    p = Parties(Barrier(2), nursery)
    await p.come("a")
    p.barrier.reset()
    await p.come("b", "c")
    assert "reset() began a new one" in str(p.ended["a"])
    assert (p.ended["b"], p.ended["c"]) == (0, 1)


@pytest.mark.parametrize("broken", [False, True])
async def test_a_closed_barrier_stays_closed(broken: bool, nursery: trio.Nursery) -> None:
    p = Parties(Barrier(2), nursery)
    if broken:
        p.barrier.abort()
    else:
        await p.come("a")
    p.barrier.close()
    p.barrier.reset()
    p.barrier.abort()
    await p.come("b")
    assert not p.barrier.broken
    assert {str(one).partition(":")[0] for one in p.ended.values()} == {"ClosedResourceError"}


@pytest.mark.parametrize("broken", [False, True])
def test_closing_is_told_once_though_it_was_broken_before(broken: bool) -> None:
    barrier, told = Barrier(2), []
    if broken:
        barrier.abort()
    with observe(lambda event: told.append(event.kind)):
        barrier.close()
        barrier.close()
    assert told == ["closed"]


async def test_it_says_how_many_wait_and_make_a_round(nursery: trio.Nursery) -> None:
    p = Parties(Barrier(4), nursery)
    await p.come("a")
    numbers = p.barrier.statistics()
    assert (numbers.tasks_waiting, numbers.parties, numbers.broken) == (1, 4, False)
    assert p.barrier.parties == 4
    assert "parties=4, 1 waiting" in repr(p.barrier)


@pytest.mark.parametrize("parties", [0, -1, True, 1.5, None])
def test_parties_must_be_a_positive_int(parties: object) -> None:
    with pytest.raises((TypeError, ValueError), match="parties must be"):
        Barrier(parties)  # type: ignore[arg-type]  # the mistake


def test_what_a_cancelled_party_does_must_be_known() -> None:
    with pytest.raises(ValueError, match="'leaves' or 'breaks', not 'stays'"):
        Barrier(2, cancelled="stays")  # type: ignore[arg-type]  # the mistake


async def test_an_observer_cannot_come_to_a_barrier() -> None:
    barrier, refused = Barrier(1), []

    def intrude(event: PrimitiveEvent) -> None:
        with pytest.raises(RuntimeError, match="must not change") as error:
            barrier.wait().send(None)
        refused.append(error)

    with observe(intrude):
        assert await barrier.wait() == 0
    assert len(refused) == 2


async def test_a_round_leaves_nothing_behind_in_a_scope() -> None:
    async with open_scope() as scope:
        await scope.own(Barrier(1)).wait()
