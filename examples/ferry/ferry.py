"""A ferry between two banks: a primitive that is not structsync's, in some twenty lines.

It boards people of one bank at a time, up to its seats. Once the first of them steps off, it has
landed on the other side, and boards no passenger until all have stepped off.

Prints::

    Ann boards on the left bank
    Cy boards on the left bank
    Bo boards on the right bank
    Di boards on the left bank
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

import trio

import structsync


class FerryCore(structsync.Arbiter[str]):
    """Decides which passengers may board. A claim is the bank that a passenger comes from."""

    seats: int
    bank: str | None  # where those aboard came from
    aboard: int
    landed: bool  # one has stepped off, and others have not yet

    def __init__(self, seats: int) -> None:
        super().__init__(policy="eligible")  # the oldest that may board does
        self.seats = seats
        self.bank, self.aboard, self.landed = None, 0, False

    def admits(self, claim: str) -> bool:
        if self.aboard == 0:
            return True
        return claim == self.bank and self.aboard < self.seats and not self.landed

    def admit(self, claim: str) -> None:
        self.bank = claim
        self.aboard += 1

    def discharge(self, claim: str) -> None:
        if self.aboard == 0 or claim != self.bank:
            raise RuntimeError(f"no passenger from the {claim} bank is aboard")
        self.aboard -= 1
        self.landed = self.aboard > 0


class Ferry(structsync.Primitive[str]):
    """Carries tasks from one bank to the other: ``async with ferry.crossing("left"): ...``."""

    def __init__(self, seats: int) -> None:
        super().__init__(FerryCore(seats))

    def crossing(self, bank: str) -> AbstractAsyncContextManager[None]:
        """Return an async context manager: board on entry, step off on exit."""
        return self._held(bank)


# ==== a program ====


async def cross(name: str, bank: str, ferry: Ferry) -> None:
    async with ferry.crossing(bank):
        print(f"{name} boards on the {bank} bank")
        await trio.sleep(0.1)  # the river is wide


async def main() -> None:
    ferry = Ferry(seats=2)
    async with trio.open_nursery() as nursery:
        for name, bank in [("Ann", "left"), ("Bo", "right"), ("Cy", "left"), ("Di", "left")]:
            nursery.start_soon(cross, name, bank, ferry)
            await trio.sleep(0.01)  # they come one after the other


if __name__ == "__main__":
    trio.run(main)
