"""Faults of keyed locks, each for one claim."""

from __future__ import annotations

from ...plants import lock_map  # noqa: TID252 - the one home of the faults
from ._planting import Shared

a_key_stays = Shared(
    lock_map.a_key_that_was_released_stays,
    "lock_map.a_key_is_held_until_the_last_in_the_queue_has_released",
)
