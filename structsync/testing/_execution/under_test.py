"""Which modules are under test, and which are libraries below it."""

from __future__ import annotations

import functools
import sys

#: Packages whose modules keep no state that a schedule could change, or keep it where a task can be
#: seen to reach it. Those that the explorer itself uses are there in each program.
_TRUSTED = sys.stdlib_module_names | {
    "_pytest",
    "attr",
    "attrs",
    "click",
    "hypothesis",
    "jinja2",
    "markupsafe",
    "outcome",
    "pluggy",
    "pygments",
    "pytest",
    "pytest_trio",
    "rich",
    "sniffio",
    "sortedcontainers",
    "structsync",
    "trio",
    "typing_extensions",
}


@functools.cache
def is_under_test(module: object) -> bool:
    """Return whether a module, by its name, is under test and not a library below it."""
    return str(module).partition(".")[0] not in _TRUSTED
