"""A pipeline of a thousand tasks, cancelled at random, ends with every item and permit accounted for.

Two seconds here; ``tox run -e soak`` takes two minutes, or ``SOAK_SECONDS``.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable

import pytest
import trio

from tests.plants import buffer, semaphore

from .pipeline import Pipeline, Unaccounted

SECONDS = float(os.environ.get("SOAK_SECONDS", "2"))
SEED = int(os.environ.get("SOAK_SEED", "0")) or random.SystemRandom().randrange(1, 2**32)

#: After the end of the sources everything is over in a moment, unless something waits for what is lost.
TO_THE_END = 30


async def soak(seconds: float, to_the_end: float, at_least: int) -> Pipeline:
    pipeline = Pipeline(SEED)
    try:
        with trio.fail_after(seconds + to_the_end):
            await pipeline.run(seconds, at_least)
    except trio.TooSlowError:
        raise Unaccounted("a task waits for what is lost") from None
    return pipeline


def test_every_item_and_permit_is_accounted_for() -> None:
    pipeline = trio.run(soak, SECONDS, TO_THE_END, round(100 * SECONDS))
    books = pipeline.books
    print(f"{books.done:,} items, {books.cancelled:,} cancellations, seed {SEED}")  # noqa: T201 - it is new each time


@pytest.mark.parametrize(
    "plant",
    [
        buffer.the_item_of_a_cancelled_task_is_lost,
        semaphore.a_permit_leaks_when_a_waiter_is_granted,
    ],
)
def test_a_planted_loss_is_noticed(
    plant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    with pytest.RaisesGroup(Unaccounted, allow_unwrapped=True, flatten_subgroups=True):
        trio.run(soak, 0.3, 2, 300)
