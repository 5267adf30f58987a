"""What a synchronous ``__aexit__`` returns: an awaitable that has nothing left to do.

An ``__aexit__`` that releases in the call, and not when what it returns is awaited, leaves no gap
between the two in which Ctrl-C could lose a permit.
"""

from __future__ import annotations

import types
from collections.abc import Coroutine
from typing import Any, cast

# A generator that may be awaited. Unlike a coroutine it may be awaited any number of times once it has
# ended, and no Python function runs for that.
_ended: Any = types.coroutine(cast(Any, lambda: (yield from ())))()
tuple(_ended)

DONE = cast("Coroutine[Any, Any, None]", _ended)
