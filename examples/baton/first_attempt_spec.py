"""The ring as it was written at first: refuted, so `structsync check` ends with exit code 1 here."""

from __future__ import annotations

from structsync.checking import start

from .baton_spec import BatonSpec, Ring


class KeepingRing(Ring):
    """The holder keeps the baton while it wants to work."""

    def work(self) -> None:
        self.wants -= {self.holder}


class FirstAttempt(BatonSpec):
    """The same actions and properties as those of the finished ring."""

    ring: Ring = start(KeepingRing)
