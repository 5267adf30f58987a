"""Which modules are under test, and which are libraries below it."""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
import sysconfig

#: Packages whose modules keep no state that a schedule could change, or keep it where a task can be
#: seen to reach it. Those that the explorer itself uses are there in each program.
_TRUSTED = {
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
#: What runs and measures tests: whatever it does or remembers, it is no part of the program.
_TOOLS = {"coverage", "execnet", "pytest_cov", "pytest_timeout", "xdist"}
#: Where Python's own modules are; on Windows those written in C are in a folder of their own.
_OF_PYTHON = tuple(
    os.path.join(folder, "")
    for folder in (
        os.path.dirname(os.__file__),
        sysconfig.get_path("platstdlib"),
        os.path.join(sys.base_exec_prefix, "DLLs"),
    )
)
#: What is installed besides stands in the same folder.
_INSTALLED = os.sep + "site-packages" + os.sep


@functools.cache
def is_under_test(module: object) -> bool:
    """Return whether a module, by its name, is under test and not a library below it."""
    package = str(module).partition(".")[0]
    return package not in _TRUSTED and not is_of_a_tool(package) and not _is_of_python(package)


def is_of_a_tool(module: str) -> bool:
    """Return whether a module, by its name, runs or measures tests."""
    return module.partition(".")[0] in _TOOLS


def _is_of_python(package: str) -> bool:
    """Return whether this is a module of Python itself, and not one of the program that has its name."""
    if package not in sys.stdlib_module_names:
        return False
    try:
        spec = importlib.util.find_spec(package)
    except ValueError:  # made by the program, without a file
        return False
    if spec is None:  # of another system, or one that only types say they are from
        return True
    origin = str(spec.origin)
    if origin in ("built-in", "frozen"):
        return True
    return origin.startswith(_OF_PYTHON) and _INSTALLED not in origin
