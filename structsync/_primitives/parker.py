"""Blocks and unblocks that may come in any order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import trio
from trio.lowlevel import enable_ki_protection

from structsync._core.primitives.parker import Busy, ParkerCore
from structsync._runtime import parking, releasing
from structsync._runtime.live import PrimitiveStatistics
from structsync._runtime.primitive import Primitive


@final
@dataclass(frozen=True, slots=True)
class ParkerStatistics(PrimitiveStatistics):
    """The state of a :class:`Parker`, for debugging.

    Attributes:
      unblocks: those that no block has used yet.
    """

    unblocks: int


@final
class Parker(Primitive[None]):
    """One task blocks here until it is unblocked; an unblock that comes first is kept.

    Each block uses exactly one unblock: n unblocks let n blocks pass, whatever the order.

    Fairness: one task blocks at a time. Cancellation: a cancelled block has used no unblock.

    Args:
      name: its name in ``repr``, errors, leaks and reports.

    Source: ``Context::Block`` and ``Unblock`` of Microsoft 2010.
    """

    __slots__ = ()
    _core: ParkerCore

    def __init__(self, *, name: str | None = None) -> None:
        super().__init__(ParkerCore(), name=name)

    @enable_ki_protection
    async def block(self) -> None:
        """Use one unblock, waiting for it if necessary.

        Raises:
          trio.BusyResourceError: if another task blocks here already.
          trio.ClosedResourceError: if the parker is closed, before or meanwhile.
        """
        try:
            await parking.acquire(self, None)
        except Busy:
            raise trio.BusyResourceError("another task already blocks on this Parker") from None

    @enable_ki_protection
    def unblock(self) -> None:
        """Let one block pass, the current one or a later one."""
        releasing.release(self, None)

    def statistics(self) -> ParkerStatistics:
        """Return the state of this parker, for debugging."""
        return ParkerStatistics(len(self._core.queue), self._core.unblocks)

    def _balance(self) -> int:
        return 0  # a wake or an unblock is spent, not lent
