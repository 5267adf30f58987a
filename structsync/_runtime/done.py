"""What a synchronous ``__aexit__`` returns: an awaitable that has nothing left to do.

An ``__aexit__`` that releases in the call, and not when what it returns is awaited, leaves no gap
between the two in which Ctrl-C could lose a permit.
"""

from __future__ import annotations

import types
from collections.abc import Coroutine, Generator
from typing import Any, cast


@types.coroutine
def _nothing() -> Generator[Any, Any, None]:
    yield from ()


_ended = _nothing()
for _ in cast("Generator[Any, Any, None]", _ended):
    pass

#: A generator at its end: unlike a coroutine it may be awaited any number of times, and no Python
#: function runs for that.
DONE = cast("Coroutine[Any, Any, None]", _ended)
