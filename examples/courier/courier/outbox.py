"""The letters that wait for delivery."""

from __future__ import annotations

from collections import deque

import trio

import structsync


class Outbox:
    """Letters in the order in which they came.

    A letter that was taken keeps its room until it is settled: by ``done()``, or by ``put_back()``,
    which puts it to the front again.
    """

    def __init__(self, room: int) -> None:
        self._letters: deque[str] = deque()
        self._room = structsync.Semaphore(room, max_value=room)
        self._arrived = structsync.WaitQueue()
        self._closed = False

    async def put(self, letter: str) -> None:
        """Add a letter, and wait for room if there is none.

        Raises:
          trio.ClosedResourceError: the outbox takes no letters any more.
        """
        await self._room.acquire()
        if self._closed:
            self._room.release()
            raise trio.ClosedResourceError("the outbox is closed")
        self._letters.append(letter)
        self._arrived.wake()

    async def take(self) -> str:
        """Return the next letter, and wait for it if there is none.

        Raises:
          trio.EndOfChannel: the outbox is closed, and no letter is left in it.
        """
        await trio.lowlevel.checkpoint()  # before it takes anything: nothing is lost if cancelled
        while not self._letters:
            if self._closed:
                raise trio.EndOfChannel
            await self._arrived.wait()
        return self._letters.popleft()

    def done(self) -> None:
        """Settle a letter that was taken."""
        self._room.release()

    def put_back(self, letter: str) -> None:
        """Put a letter that was taken to the front again; never blocks, so it cannot fail."""
        self._letters.appendleft(letter)
        self._arrived.wake()

    def close(self) -> None:
        """Take no more letters; a task that waits for one learns that none will come."""
        self._closed = True
        self._arrived.wake_all()

    def drain(self) -> list[str]:
        """Return the letters that are left, and forget them."""
        left = [*self._letters]
        self._letters.clear()
        if left:
            self._room.release(len(left))
        return left
