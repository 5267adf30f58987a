"""What is left of a search, in lanes: so many at any number of processes, so that these decide nothing."""

from __future__ import annotations

from typing import Generic, TypeVar

#: A multiple of the usual numbers of processors, and more than most of them.
LANES = 16

Part = TypeVar("Part")


class Frontier(Generic[Part]):
    """Lanes of parts that have not been searched yet."""

    def __init__(self, parts: list[Part]) -> None:
        self.lanes: list[list[Part]] = [parts, *([] for _ in range(LANES - 1))]

    def __bool__(self) -> bool:
        return any(self.lanes)

    def share(self) -> None:
        """Let lanes that have nothing steal half of what the longest has."""
        for lane in self.lanes:
            if not lane:
                donor = max(self.lanes, key=len)
                # Every other one: the shallow ones, which stand last, are the large ones.
                lane[:], donor[:] = donor[1::2], donor[::2]

    def allot(self, each: int, most: int | None) -> list[tuple[int, int]]:
        """Return the lanes that have something to do, each with how many executions it may make."""
        found = []
        for number, lane in enumerate(self.lanes):
            may = each if most is None else min(each, most)
            if lane and may:
                found.append((number, may))
                most = None if most is None else most - may
        return found
