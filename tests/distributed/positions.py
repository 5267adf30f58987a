"""Where in the log each request is, for a judge of who was granted first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from structsync._core.shared.operations import Key, Verb
from structsync.distributed.engine import Tail
from structsync.distributed.replica import Replica


def noting(asked: dict[Key, int]) -> Callable[..., Any]:
    """Return what takes the place of ``Replica.advance``, and notes a number that grows along the log."""
    advance = Replica.advance

    def advance_and_note(replica: Replica, tail: Tail, *how: Any) -> Any:
        applied = advance(replica, tail, *how)
        for index, (entry, _) in enumerate(applied, replica.position - len(applied)):
            if entry.verb is Verb.ACQUIRE:
                place = tail.stamps[index - tail.start] if tail.stamps else index
                # One that is sent again, because its answer was lost, counts where it came first.
                asked.setdefault((entry.session, entry.number), place)
        return applied

    return advance_and_note
