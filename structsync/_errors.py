"""The errors of structsync's own; for everything else trio's and Python's are used."""

from __future__ import annotations


class RequestWithdrawn(Exception):
    """The request that was waited for is withdrawn."""


class PermitLeakError(Exception):
    """A scope ended, and something that it owned was not given back."""
