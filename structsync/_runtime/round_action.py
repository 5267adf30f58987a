"""What runs once a round while all parties of a barrier are inside, and what its error is for them."""

from __future__ import annotations

from collections.abc import Callable

from structsync._core.queue.user_code import refuse_coroutine

from .causes import RoundBroken


class RoundAction:
    """One run of an action, inside the transition that lets the round in.

    It never raises: an error breaks the round for the others, and the party that made it full raises it after
    the transition.
    """

    __slots__ = ("_action", "error")

    def __init__(self, action: Callable[[], object]) -> None:
        self._action = action
        self.error: BaseException | None = None

    def __call__(self) -> RoundBroken | None:
        """Run it; return why the round is broken, or None."""
        try:
            refuse_coroutine(self._action(), "barrier's action")
        except BaseException as error:  # noqa: BLE001 - raised in the task that made the round full
            self.error = error
            return RoundBroken(f"its action raised {error!r}; reset() begins a new one")
        return None

    def check(self) -> None:
        """Raise what the action raised."""
        if self.error is not None:
            try:
                raise self.error
            finally:
                self.error = None  # or its traceback would keep itself alive
