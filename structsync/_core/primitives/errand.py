"""What a thread requests of a run, as far as it can be interrupted: what ends it, and when."""

from __future__ import annotations

ASKED, BEGUN, ENDED = "asked", "begun", "ended"


class ErrandCore:
    """The state of one errand; a thread waits until it has ended.

    A grant beats an interrupt: once it is ended, an interrupt changes nothing. An errand that is
    interrupted before it has begun does not begin, unless it is one that *must* be done: a release.
    """

    __slots__ = ("interrupted", "must", "stage")
    stage: str
    interrupted: bool
    must: bool

    def __init__(self, *, must: bool = False) -> None:
        self.stage = ASKED
        self.interrupted = False
        self.must = must

    def begin(self) -> bool:
        """Begin it, if it has neither begun nor ended yet; return whether to go on with it."""
        if self.stage != ASKED:
            return False
        self.stage = BEGUN
        return True

    def interrupt(self) -> bool:
        """Interrupt it; return whether that has ended it.

        What has begun must still come to its end; only then is it known which of the two was first.
        """
        if self.stage == ENDED:
            return False
        self.interrupted = True
        if self.stage == BEGUN or self.must:
            return False
        self.stage = ENDED
        return True

    def end(self) -> bool:
        """End it; return whether it had not ended before."""
        if self.stage == ENDED:
            return False
        self.stage = ENDED
        return True

    def snapshot(self) -> tuple[str, bool]:
        """Return what decides its future."""
        return self.stage, self.interrupted

    def restore(self, snapshot: tuple[str, bool]) -> None:
        """Become what it was when the snapshot was taken."""
        self.stage, self.interrupted = snapshot
