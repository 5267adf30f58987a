"""What a synchronous ``__aexit__`` returns: an awaitable that has nothing left to do."""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from typing import Any, NoReturn, final


@final
class Done(Coroutine[Any, Any, None]):
    """A coroutine at its end, for any number of awaits.

    An ``__aexit__`` that releases in the call, and not when what it returns is awaited, leaves no gap
    between the two in which Ctrl-C could lose a permit.
    """

    __slots__ = ()

    def __await__(self) -> Generator[Any, Any, None]:
        return iter(())  # type: ignore[return-value]  # of a generator, await needs the iterator only

    def send(self, value: object) -> NoReturn:
        raise StopIteration

    def throw(self, *error: Any) -> NoReturn:
        raise error[0]

    def close(self) -> None:
        """Do nothing: it is closed."""


DONE = Done()
