"""Guards, predicates and triggers: the code of users that a transition runs.

What it raises ends one request (I6), and what our own code raises must never be taken for that; so an
error of a user travels through a transition as :class:`UserCodeFailed`.
"""

from __future__ import annotations

from types import CoroutineType


class UserCodeFailed(Exception):
    """A function of the user raised ``error`` inside a transition."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(error)
        self.error = error


def refuse_coroutine(answer: object, what: str) -> None:
    """Raise TypeError if a function that should have been sync returned a coroutine."""
    if isinstance(answer, CoroutineType):
        answer.close()
        raise TypeError(
            f"a {what} must be a sync function, but it returned a coroutine: {answer!r}"
        )
