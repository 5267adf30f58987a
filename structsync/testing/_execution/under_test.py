"""Which modules are under test, and which are libraries below it."""

from __future__ import annotations

import functools
import sys

#: Packages whose modules keep no state that a schedule could change, or keep it where a task can be
#: seen to reach it.
_TRUSTED = sys.stdlib_module_names | {
    "_pytest",
    "attr",
    "attrs",
    "hypothesis",
    "outcome",
    "pluggy",
    "pytest",
    "pytest_trio",
    "sniffio",
    "sortedcontainers",
    "structsync",
    "trio",
}


@functools.cache
def is_under_test(module: object) -> bool:
    """Return whether a module, by its name, is under test and not a library below it."""
    return str(module).partition(".")[0] not in _TRUSTED
