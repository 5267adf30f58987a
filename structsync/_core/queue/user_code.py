"""Guards, predicates and triggers: the code of users that a transition runs.

What it raises ends one request (I6), and what our own code raises must never be taken for that; so an
error of a user travels through a transition as :class:`UserCodeFailed`.
"""

from __future__ import annotations


class UserCodeFailed(Exception):
    """A function of the user raised ``error`` inside a transition."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(error)
        self.error = error
