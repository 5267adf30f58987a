"""What a task is woken with that was granted its request."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from typing import Any, final

from outcome import Outcome


@final
class Woken(Outcome[None]):
    """A ``Value(None)`` that may be unwrapped any number of times.

    trio makes a new ``Value`` for each task that it wakes, which is a tenth of a hand-over; of what it
    is given instead it calls ``unwrap`` and nothing else.
    """

    __slots__ = ()

    # A function in C that takes nothing and returns None: this runs once for each hand-over.
    unwrap: Any = staticmethod([].clear)

    def send(self, gen: Generator[Any, None, Any]) -> Any:
        return gen.send(None)

    async def asend(self, agen: AsyncGenerator[Any, None]) -> Any:
        return await agen.asend(None)


WOKEN = Woken()
