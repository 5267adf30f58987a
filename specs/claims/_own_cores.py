"""Cores as a user may write them, right and wrong: of the claims about them, and of the tests."""

from __future__ import annotations

from typing import Any

from structsync import Arbiter


class Tank(Arbiter[int]):
    """A core as it should be."""

    litres: int

    def __init__(self, litres: int = 3) -> None:
        super().__init__()
        self.litres = litres

    def admits(self, claim: int) -> bool:
        return claim <= self.litres

    def admit(self, claim: int) -> None:
        self.litres -= claim

    def discharge(self, claim: int) -> None:
        self.litres += claim

    def drain(self) -> None:
        self.litres = 0


class WithState(Tank):
    """Decides by what is in no snapshot."""

    def __init__(self) -> None:
        super().__init__()
        self.turn = 0

    def admit(self, claim: int) -> None:
        super().admit(claim)
        self.turn = 1 - self.turn


class WithIndex(Tank):
    """An index follows from the queue, and is built anew by ``restore``."""

    def __init__(self) -> None:
        super().__init__()
        self.start_index()

    def start_index(self) -> None:
        self.number = 0

    def entered(self, request: Any) -> None:
        self.number += 1

    def left(self, request: Any) -> None:
        self.number -= 1


class WithIndexAndState(WithIndex):
    """What is no part of the index is no part of a snapshot either."""

    def __init__(self) -> None:
        super().__init__()
        self.turn = 0


class Told(WithState):
    """Says itself what is in its snapshots."""

    def snapshot(self) -> Any:
        return (super().snapshot(), self.turn)

    def restore(self, snapshot: Any) -> None:
        rest, self.turn = snapshot
        super().restore(rest)


class OnlyInSnapshot(WithState):
    def snapshot(self) -> Any:
        return super().snapshot()


class OnlyInRestore(WithState):
    def restore(self, snapshot: Any) -> None:
        super().restore(snapshot)


class RestoredByWhatItWas(WithState):
    """What is made anew from itself is known to the core that restores it."""

    def __init__(self) -> None:
        super().__init__()
        self.turns = [0]

    def snapshot(self) -> Any:
        return (super().snapshot(), self.turn, self.turns[0])

    def restore(self, snapshot: Any) -> None:
        rest, self.turn, self.turns[0] = snapshot
        super().restore(rest)


class Unassigned(Tank):
    price: int
