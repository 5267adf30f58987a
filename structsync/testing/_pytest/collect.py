"""Which tests are explored, and what the options of pytest change for them.

Every user who has structsync installed pays for what this module imports, in each run of pytest.
"""

from __future__ import annotations

from typing import Any

import pytest

BOUNDS = ("seconds", "executions")
#: Options that are settings; they win over those of the tests.
_SETTINGS = (*BOUNDS, "order", "seed", "workers")

#: The second item of a test of a suite, which --explore-all has made.
EXISTING = pytest.StashKey[bool]()


def changes(config: pytest.Config) -> dict[str, Any]:
    """Return the settings that the command line and the configuration file change."""
    asked = {name: config.getoption(f"explore_{name}") for name in _SETTINGS}
    changed = {name: value for name, value in asked.items() if value is not None}
    if config.getoption("explore_exhaustive") or config.getini("explore_exhaustive"):
        changed["exhaustive"] = True
    return changed


def is_explored(item: pytest.Item) -> bool:
    """Return whether a test is one that @explore() or @sweep() decorates."""
    return isinstance(item, pytest.Function) and hasattr(item.obj, "__structsync_explored__")


def is_existing(item: pytest.Item) -> bool:
    """Return whether this is the item by which --explore-all explores a test of a suite."""
    return item.stash.get(EXISTING, False)
