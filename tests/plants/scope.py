"""Faults of scopes."""

from __future__ import annotations

import pytest

from structsync._primitives import scope


def a_scope_leaves_open_what_it_owns(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(scope._Account, "close", lambda self: None)


def a_scope_does_not_look_for_leaks(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(scope._Account, "settle", lambda self: None)
