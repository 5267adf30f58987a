"""The ring with a counter that its snapshot leaves out: `structsync check` refuses it."""

from __future__ import annotations

from structsync.checking import start

from .baton_spec import BatonSpec, Ring


class CountingRing(Ring):
    """Counts how often the baton was passed on, and stops at a thousand."""

    def __init__(self) -> None:
        super().__init__()
        self.passed = 0

    def pass_on(self) -> None:
        self.passed += 1
        if self.passed <= 1000:
            super().pass_on()


class ForgetfulSpec(BatonSpec):
    """The same actions and properties."""

    ring: Ring = start(CountingRing)
