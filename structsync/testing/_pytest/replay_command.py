"""The command that runs one schedule of one test again, with what pytest needs to find the test."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest


def replay_command(item: pytest.Item, token: str) -> str:
    """Return the command, for the folder where pytest was started."""
    path = os.path.relpath(item.path, item.config.invocation_params.dir)
    test = "::".join([Path(path).as_posix(), *item.nodeid.split("::")[1:]])
    words = ["pytest", *_options(item.config), test, "--explore-replay", token]
    return " ".join(map(shlex.quote, words))


def _options(config: pytest.Config) -> Iterator[str]:
    """Yield what was given on the command line and decides which tests there are, and of what plugin.

    As they stand in the configuration, which pytest-xdist hands on to its workers.
    """
    yield "--explore-all"
    given = config.getoption("plugins") or ()
    for plugin in [one for one in given if one != "no:terminal"]:  # in a worker of pytest-xdist
        yield from ("-p", plugin)
    for value in config.getoption("override_ini") or ():
        yield from ("-o", value)
    for option, name in (("-c", "inifilename"), ("--rootdir", "rootdir")):
        if value := config.getoption(name):
            yield from (option, str(value))
    if (mode := config.getoption("importmode")) != "prepend":
        yield f"--import-mode={mode}"
