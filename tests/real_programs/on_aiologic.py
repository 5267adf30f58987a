"""aiologic: its primitives, used by the tasks of one thread."""

from __future__ import annotations

from functools import partial
from typing import Any

import aiologic

from ._rows import SLOW, Row
from ._shared import no_more_than, notification_goes_to_who_is_left


class Condition:
    """A condition of aiologic by the names that others give to its methods."""

    def __init__(self) -> None:
        self._condition = aiologic.Condition()

    async def __aenter__(self) -> None:
        await self._condition.__aenter__()

    async def __aexit__(self, *exc_info: Any) -> None:
        await self._condition.__aexit__(*exc_info)

    async def wait(self) -> None:
        await self._condition

    def notify(self) -> None:
        self._condition.notify()


Library = partial(Row, library="aiologic")
ROWS = [
    Library(
        what="Lock",
        holds="one of two workers is inside, and none is left behind",
        program=no_more_than(1, aiologic.Lock, 2),
    ),
    Library(
        what="Semaphore",
        holds="one of two workers is inside, and none is left behind",
        program=no_more_than(1, partial(aiologic.Semaphore, 1), 2),
    ),
    Library(
        what="CapacityLimiter",
        holds="one of two workers is inside, and none is left behind",
        program=no_more_than(1, partial(aiologic.CapacityLimiter, 1), 2),
    ),
    Library(
        what="Condition",
        holds="a notification is not lost with the task that it was for",
        program=notification_goes_to_who_is_left(Condition),
        options={"cancels": 0},
        verdict="not finished",
        judgement=SLOW,
    ),
]
