"""Faults of keyed locks, each for one claim."""

from __future__ import annotations

from collections.abc import Hashable

from structsync._core.primitives.lock import LockCore
from structsync._core.primitives.lock_map import KeyedLockCore

from ._planting import fault


@fault(
    KeyedLockCore,
    "give_back",
    refuted_by="lock_map.a_key_is_held_until_the_last_in_line_has_released",
)
def a_key_stays(core: KeyedLockCore, claim: Hashable) -> None:
    LockCore.give_back(core, claim)
