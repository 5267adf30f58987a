"""Where an item of a buffer that was lent goes back: the end of a block that failed."""

from __future__ import annotations

from functools import partial
from typing import Any

from trio.lowlevel import enable_ki_protection

from structsync._core.primitives.sides import Lend

from .live import Live
from .releasing import change
from .runs import transitions_of


@enable_ki_protection
def put_back(live: Live[Any], claim: Lend) -> None:
    """Put an item where it was, and wake the next; if a transition runs, right after it."""
    transitions = transitions_of(live)
    if transitions.running:
        transitions.later.append(partial(put_back, live, claim))
        return
    core: Any = live._core
    change(live, partial(core.put_back, claim), events=[("released", claim)])
