"""The courier as it was at first. It lost letters, and the explored test found out how."""

from __future__ import annotations

import trio
from courier import Courier


class FirstCourier(Courier):
    async def work(self) -> None:
        while True:
            try:
                letter = await self.outbox.take()
            except trio.EndOfChannel:
                return
            try:
                await self.deliver(letter)
            except BaseException:
                self.outbox.done()
                await self.outbox.put(letter)  # cancelled, so it raises at once: the letter is gone
                raise
            self.outbox.done()
