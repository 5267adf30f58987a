"""Which process one is, and whether it is alive: on Linux, within one container."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NamedTuple

#: When a process was started that ``/proc`` does not show: it may be mounted so that it hides those of other users.
HIDDEN = "hidden"


class Process(NamedTuple):
    """A process of this machine, told apart from a later one that has its number.

    Attributes:
      pid: its number.
      started: when it was started, in ticks since the boot, and which boot that was.
      container: the namespace in which the number means something.
      network: the namespace in which it is heard.
    """

    pid: int
    started: str
    container: str
    network: str

    @property
    def boot(self) -> str:
        return self.started.partition(" ")[2]


def this_process() -> Process:
    """Return which process this is.

    Raises:
      RuntimeError: if that cannot be known here.
    """
    if sys.platform != "linux":
        raise RuntimeError(
            f"sqlite:// needs Linux to notice dead processes, not {sys.platform}; use memory://"
        )
    pid = os.getpid()
    return Process(pid, _started(pid) or "", container(), network())


def container() -> str:
    """Return the namespace of process numbers in which we are."""
    return os.readlink("/proc/self/ns/pid")


def network() -> str:
    """Return the namespace of sockets in which we are."""
    return os.readlink("/proc/self/ns/net")


def is_alive(process: Process) -> bool:
    """Return whether a process of this container still runs; if it is hidden, whether any has its number."""
    return _started(process.pid) in (process.started, HIDDEN)


def is_running(pid: int) -> bool:
    """Return whether any process of this container has a number, and has not ended."""
    return _started(pid) is not None


def _started(pid: int) -> str | None:
    """Return when a process was started; None if it runs no more, and ``HIDDEN`` if that is not for us to know."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return HIDDEN if _is_used(pid) else None
    # Its name, in parentheses, may contain anything. The state is field 3, the start field 22.
    state, *fields = stat.rpartition(")")[2].split()
    if state in "ZX":
        return None  # it has ended, and its parent has not looked yet
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return f"{fields[18]} {boot}"


def _is_used(pid: int) -> bool:
    """Return whether a process has this number."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # it is that of another user
    return True
