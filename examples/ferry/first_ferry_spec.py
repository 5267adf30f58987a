"""The ferry as it was written at first: refuted, so `structsync check` ends with exit code 1 here."""

from __future__ import annotations

from structsync.checking import start

from .ferry import FerryCore
from .ferry_spec import SEATS, FerrySpec


class FirstFerryCore(FerryCore):
    """Boards people of one bank at a time, as long as there are seats."""

    def admits(self, claim: str) -> bool:
        return self.aboard == 0 or (claim == self.bank and self.aboard < self.seats)


class FirstFerrySpec(FerrySpec):
    """The same actions; two promises are broken."""

    core: FerryCore = start(FirstFerryCore, SEATS)
