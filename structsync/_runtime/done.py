"""What the methods of a block return where they are no ``async def`` themselves.

:data:`DONE` is what a synchronous ``__aexit__`` returns: an awaitable that has nothing left to do. An ``__aexit__`` that releases in the call, and not when what it returns is awaited, leaves no gap
between the two in which Ctrl-C could lose a permit.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")

# A generator that may be awaited. Unlike a coroutine it may be awaited any number of times once it has
# ended, and no Python function runs for that.
_ended: Any = types.coroutine(cast(Any, lambda: (yield from ())))()
tuple(_ended)

DONE = cast("types.CoroutineType[Any, Any, None]", _ended)


def coroutine_function(
    function: Callable[P, Coroutine[Any, Any, T]],
) -> Callable[P, types.CoroutineType[Any, Any, T]]:
    """Return the ``async def`` as it is, with the type of what a call of it returns.

    pyright wants that very class of the methods of a block, and mypy knows the interface alone.
    """
    return cast("Callable[P, types.CoroutineType[Any, Any, T]]", function)
