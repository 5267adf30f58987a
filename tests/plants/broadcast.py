"""Faults of broadcasts."""

from __future__ import annotations

from contextlib import suppress

import pytest
import trio

from structsync import Broadcast, acquire_all


def a_task_that_comes_while_a_put_waits_is_handed_its_item(patch: pytest.MonkeyPatch) -> None:
    """Not always: only where another one leaves meanwhile, so that the put asks again."""

    async def put(self: Broadcast[object], item: object) -> None:
        while asked := self.subscriptions:
            claims = [one._buffer.put_claim(item) for one in asked]
            with suppress(trio.ClosedResourceError):
                async with acquire_all(*claims):
                    return

    patch.setattr(Broadcast, "put", put)
