"""Interpreters that tests start, with structsync as it is imported here."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

import structsync

HOME = Path(structsync.__file__).parents[1]
PLUGIN = "structsync.testing._pytest.plugin"


def environment(*plugins: str, autoload: bool = False) -> dict[str, str]:
    """Return the environment of such an interpreter, with a terminal of one width.

    Args:
      plugins: modules of pytest's, besides ours and pytest-trio.
      autoload: pytest imports every plugin that is installed, as a user's does. It takes half a
          second more.
    """
    ours = {
        "COLUMNS": "120",
        "PYTHONPATH": os.pathsep.join([str(HOME), *filter(None, [os.environ.get("PYTHONPATH")])]),
        "PYTEST_ADDOPTS": "",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTEST_PLUGINS": ",".join([PLUGIN, "pytest_trio.plugin", *plugins]),
    }
    if autoload:
        installed = entry_points(group="pytest11", name="structsync")
        ours |= {
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "",
            "PYTEST_PLUGINS": "" if installed else PLUGIN,
        }
    return {name: value for name, value in {**os.environ, **ours}.items() if value}


_FORKS = """
import json, os, sys
import structsync.cli

for line in sys.stdin:
    asked = json.loads(line)
    child = os.fork()
    if not child:
        os.chdir(asked["cwd"])
        os.environ.clear()
        os.environ.update(asked["env"])
        sys.path[0] = asked["cwd"]
        sys.argv[:] = ["structsync", *asked["arguments"]]
        for number, file in enumerate([os.devnull, asked["out"], asked["err"]]):
            os.dup2(os.open(file, os.O_RDWR), number)
        sys.exit(structsync.cli.main())
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), flush=True)
"""


@cache
def _forking() -> subprocess.Popen[str]:
    started = subprocess.Popen(
        [sys.executable, "-c", _FORKS],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )

    def end() -> None:
        with started:  # which waits until it has written what it has measured
            pass

    atexit.register(end)
    return started


def structsync_command(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the command `structsync` in a process of its own, forked from one that has it imported.

    An import for each run would take ten times as long as most of them do.
    """
    forking = _forking()
    assert forking.stdin is not None
    assert forking.stdout is not None
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        out.touch()
        err.touch()
        asked = {
            "arguments": arguments,
            "cwd": str(cwd),
            "env": environment(),
            "out": str(out),
            "err": str(err),
        }
        forking.stdin.write(json.dumps(asked) + "\n")
        forking.stdin.flush()
        code = int(forking.stdout.readline())
        return subprocess.CompletedProcess(arguments, code, out.read_text(), err.read_text())
