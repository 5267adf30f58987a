"""Interpreters that tests start, with structsync as it is imported here."""

from __future__ import annotations

import atexit
import json
import os
import signal
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
import gc, json, os, runpy, sys
import trio
import {imported}
from structsync.testing._search.engine_choice import chosen

chosen()  # half a second, once for all
gc.freeze()
for line in sys.stdin:
    asked = json.loads(line)
    child = os.fork()
    if not child:
        os.chdir(asked["cwd"])
        os.environ.clear()
        os.environ.update(asked["env"])
        sys.path[0] = asked["cwd"]
        sys.argv[:] = asked["command"]
        for number, file in enumerate([os.devnull, asked["out"], asked["err"]]):
            os.dup2(os.open(file, os.O_RDWR), number)
        trio._core._run._r.seed()  # or all would shuffle alike
        {main}
        sys.exit()
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), flush=True)
"""
# Of pytest's own all that it imports in any case; not the plugins, whose asserts it rewrites as it imports them.
_PYTEST = "pytest, hypothesis, trio.testing, structsync.testing._explore"
_SERVERS = {
    "structsync": _FORKS.format(imported="structsync.cli", main="sys.exit(structsync.cli.main())"),
    "pytest": _FORKS.format(
        imported=_PYTEST, main='runpy.run_module("pytest", run_name="__main__", alter_sys=True)'
    ),
}


@cache
def _forking(program: str) -> subprocess.Popen[str]:
    started = subprocess.Popen(
        [sys.executable, "-c", _SERVERS[program]],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        process_group=0,  # to be ended together with a child that hangs
    )

    def end() -> None:
        with started:  # which waits until it has written what it has measured
            pass

    atexit.register(end)
    return started


def _forked(program: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own, forked from one that has it imported.

    An import for each run would take ten times as long as most of them do.
    """
    forking = _forking(program)
    assert forking.stdin is not None
    assert forking.stdout is not None
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        out.touch()
        err.touch()
        asked = {
            "command": [program, *arguments],
            "cwd": str(cwd),
            # Hypothesis takes the folder of the server, once and for all, unless it is told another.
            "env": environment() | {"HYPOTHESIS_STORAGE_DIRECTORY": str(cwd / ".hypothesis")},
            "out": str(out),
            "err": str(err),
        }
        try:
            forking.stdin.write(json.dumps(asked) + "\n")
            forking.stdin.flush()
            code = forking.stdout.readline()
        except BaseException:
            # Of a child that hangs, the next test would wait for the end, and take its exit code.
            _forking.cache_clear()
            os.killpg(forking.pid, signal.SIGKILL)
            raise
        assert code, f"the process that forks {program} has died"
        return subprocess.CompletedProcess(arguments, int(code), out.read_text(), err.read_text())


def structsync_command(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the command `structsync` in a process of its own."""
    return _forked("structsync", *arguments, cwd=cwd)


def pytest_command(
    *arguments: str, cwd: Path, autoload: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run pytest in a process of its own, with its plugins ours and pytest-trio, and no cache.

    Args:
      autoload: in an interpreter that has imported nothing yet, with every plugin that is installed.
    """
    without_cache = ["-p", "no:cacheprovider", *arguments]
    if not autoload:
        return _forked("pytest", *without_cache, cwd=cwd)
    return subprocess.run(
        [sys.executable, "-m", "pytest", *without_cache],
        cwd=cwd,
        env=environment(autoload=True),
        capture_output=True,
        text=True,
        check=False,
    )
