"""The one error of a specification that cannot be checked as it stands."""

from __future__ import annotations


class SpecError(Exception):
    """A specification breaks a rule of the language; the message says rule, values and repair."""
