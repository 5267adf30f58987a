"""A courier with more to do than can be explored: one schedule, a cancellation at each step."""

from __future__ import annotations

import trio
from courier import Rules, open_courier

from structsync.testing import sweep

LETTERS = [f"letter {number}" for number in range(10)]


@sweep()
async def test_a_busy_courier_loses_nothing_wherever_it_is_cancelled() -> None:
    async def send(letter: str) -> None:
        await trio.lowlevel.checkpoint()

    posted = []
    async with open_courier(send, Rules(workers=4, room=3)) as courier:
        for letter in LETTERS:
            await courier.post(letter)
            posted.append(letter)
    assert sorted([*courier.delivered, *courier.refused, *courier.unsent]) == sorted(posted)
