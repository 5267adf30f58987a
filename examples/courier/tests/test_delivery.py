"""Every letter ends up in one place: in every schedule, with a cancellation at any moment."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import trio
from courier import Courier, Rules, open_courier
from first_version import FirstCourier

from structsync.testing import ExploredRun, explore

LETTERS: tuple[str, ...] = ("to Ada", "to Ben")

#: A small instance finds what a large one would, and all of it can be seen: as many workers as
#: letters, so that both orders of delivery exist, and room for one, so that posting has to wait.
SMALL = Rules(workers=2, room=1, attempts=2)


async def at_once(letter: str) -> None:
    pass


async def post_two(x: ExploredRun, kind: type[Courier] = Courier, fails: bool = False) -> None:
    attempts = dict.fromkeys(LETTERS, 0)
    accepted: list[str] = []

    async def send(letter: str) -> None:
        attempts[letter] += 1
        with x.exclusive(f"sending {letter}"):
            await trio.lowlevel.checkpoint()
        if fails and attempts[letter] == 1:
            raise ConnectionError("not at home")
        accepted.append(letter)

    posted: list[str] = []
    couriers: list[Courier] = []

    def everything_is_kept() -> bool:
        for courier in couriers:
            places = [*courier.delivered, *courier.refused, *courier.unsent]
            assert sorted(courier.delivered) == sorted(accepted), "what arrived counts as delivered"
            assert sorted(places) == sorted(posted), f"posted {posted}, but found {places}"
        return True

    # Not behind the block, which is never reached if the whole test is cancelled.
    x.finally_(everything_is_kept, "every letter ends up in one place")
    async with open_courier(send, SMALL, kind=kind) as courier:
        couriers.append(courier)
        for letter in LETTERS:
            await courier.post(letter)
            posted.append(letter)


@explore()
async def test_every_letter_ends_up_in_one_place(x: ExploredRun) -> None:
    await post_two(x)


@explore()
async def test_a_letter_whose_first_attempt_fails_is_not_lost(x: ExploredRun) -> None:
    await post_two(x, fails=True)


def test_the_first_version_lost_a_letter() -> None:
    failure = explore(partial(post_two, kind=FirstCourier)).failure
    assert failure is not None
    assert "posted ['to Ada', 'to Ben'], but found ['to Ada']" in failure.message


@explore()
async def test_waiting_for_letters_ends_when_none_will_come() -> None:
    start = trio.current_time()  # of a clock that stands still while a task can run
    async with open_courier(at_once, SMALL):
        await trio.lowlevel.checkpoint()
    assert trio.current_time() == start, "a worker waited until the end of the grace period"


@explore(cancels=0)
async def test_a_letter_whose_addressee_is_never_at_home_is_given_up() -> None:
    async def not_at_home(letter: str) -> None:
        raise ConnectionError

    async with open_courier(not_at_home, SMALL) as courier:
        for letter in LETTERS:
            await courier.post(letter)
    assert sorted(courier.refused) == sorted(LETTERS)


@explore(cancels=0)
async def test_what_takes_too_long_is_unsent() -> None:
    async def never_ends(letter: str) -> None:
        await trio.sleep_forever()

    async with open_courier(never_ends, replace(SMALL, grace=5)) as courier:
        await courier.post("to Ada")
    assert courier.unsent == ["to Ada"]
