"""Which tasks wait for what becomes of an operation, and what they are told."""

from __future__ import annotations

import outcome
from trio.lowlevel import enable_ki_protection

from structsync._core.shared.operations import Outcome, Result
from structsync._runtime.outcomes import Pending

from .errors import LeaseLost

ERRORS: dict[str, type[Exception]] = {"ValueError": ValueError, "RuntimeError": RuntimeError}


class Waits:
    """The waits of one session in one log."""

    by_number: dict[int, tuple[str, Pending[Outcome]]]  # of the operations, with what each is about

    def __init__(self) -> None:
        self.by_number = {}

    @enable_ki_protection  # else the waiter could wait forever
    def resolve(self, one: Outcome) -> None:
        """Tell the waiter for an operation what has become of it."""
        _, pending = self.by_number.pop(one.key[1])
        if one.result is Result.WITHDRAWN:
            pending.end_cancelled()
        elif one.result is Result.REFUSED:
            kind, text = one.value
            pending.end(outcome.Error(ERRORS[kind](text)))
        else:
            pending.end(outcome.Value(one))

    def lose(self, why: str) -> None:
        """End all of them: the session is over."""
        waits, self.by_number = self.by_number, {}
        for name, pending in waits.values():
            if pending.is_cancelled and pending.leaves_nothing:
                pending.end_cancelled()
            else:
                pending.end(outcome.Error(LeaseLost(name, why=why)))
