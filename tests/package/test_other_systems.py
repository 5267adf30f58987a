"""No module of structsync needs, to be imported, a name that Python has on Linux or on Unix alone.

It says nothing of what happens when such a module is *used* there: that is untried.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import structsync
from tests.public_names import PACKAGE

# Modules that are not on Windows, and names that are not on Windows or not on macOS.
MODULES = ("fcntl", "grp", "posix", "pty", "pwd", "resource", "termios", "tty")
NAMES = {
    "os": (
        *("fork", "getuid", "getpgid", "killpg", "mkfifo", "pidfd_open", "setsid", "eventfd"),
        *("sched_getaffinity", "sched_setaffinity", "sched_yield", "WNOHANG", "posix_spawn"),
    ),
    "select": ("epoll", "poll", "EPOLLIN", "kqueue"),
    "signal": ("SIGALRM", "SIGHUP", "SIGKILL", "SIGUSR1", "SIGUSR2", "SIGQUIT", "pthread_kill"),
    "socket": ("AF_UNIX", "SCM_RIGHTS", "SO_PEERCRED", "socketpair"),
}

# What structsync stands on is loaded before anything is hidden: whether *that* runs elsewhere is its own affair.
HIDING = f"""if True:
    import asyncio, importlib, multiprocessing.connection, multiprocessing.shared_memory, subprocess, sys
    import tempfile, trio, click, rich.progress, rich.live, rich.console, jinja2
    for package in ("hypothesis.stateful", "pytest", "trio_parallel", "opentelemetry.sdk.trace", "hiredis"):
        try:
            importlib.import_module(package)
        except ImportError:
            pass

    class Absent:
        def find_spec(self, name, path, target=None):
            if name in {MODULES!r}:
                raise ModuleNotFoundError(f"there is no module {{name}} on this system", name=name)
    sys.meta_path.insert(0, Absent())
    for name in {MODULES!r}:
        sys.modules.pop(name, None)
    for module, names in {NAMES!r}.items():
        for name in names:
            if hasattr(sys.modules[module], name):
                delattr(sys.modules[module], name)
"""


def importable() -> list[str]:
    """Return every module of the package that is no program and needs no extra."""
    paths = [p.relative_to(PACKAGE.parent).with_suffix("") for p in sorted(PACKAGE.rglob("*.py"))]
    names = [".".join(path.parts).removesuffix(".__init__") for path in paths]
    return [name for name in names if not name.endswith("__main__") and ".specs" not in name]


def imported(*names: str) -> list[str]:
    """Import modules where those names are absent; return what could not be imported, and why."""
    program = f"""{HIDING}
    for name in {names!r}:
        try:
            importlib.import_module(name)
        except (AttributeError, ImportError) as error:
            print(name, type(error).__name__, error)
    print("tried", len({names!r}))
    """
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    *found, last = ran.stdout.splitlines()
    assert last == f"tried {len(names)}"
    return found


def test_every_module_can_be_imported_where_there_are_no_names_of_unix() -> None:
    names = importable()
    assert len(names) > 200
    assert structsync.__name__ in names
    assert imported(*names) == []


NEEDY = {
    "import fcntl": "ModuleNotFoundError",
    "from resource import getrusage": "ModuleNotFoundError",
    "import os; CPUS = os.sched_getaffinity(0)": "AttributeError",
    "from select import epoll": "ImportError",
    "import signal; END = signal.SIGKILL": "AttributeError",
}


def test_modules_that_need_such_names_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"of_unix_{number}" for number in range(len(NEEDY))]
    for name, line in zip(names, NEEDY, strict=True):
        (tmp_path / f"{name}.py").write_text(line)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    found = [one.split()[:2] for one in imported(*names)]
    assert found == [[name, why] for name, why in zip(names, NEEDY.values(), strict=True)]
