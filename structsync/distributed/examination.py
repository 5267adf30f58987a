"""Whether what is promised holds where sessions are to meet: the engine is looked at, and tried."""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import trio

from .errors import DeliveryFailed, LeaseLost
from .findings import Finding, in_ms, measure
from .session import open_session
from .urls import SERVERS, engine_of, lease_of, path_of, scheme_of

#: A name that is locked to see whether that works.
LOCK = "structsync doctor/lock"
#: In seconds, beyond a lease: how long that may take.
PATIENCE: float = 10
#: File systems of a network, on which neither SQLite's locks nor its log are to be trusted.
NETWORK = ("nfs", "nfs4", "cifs", "smb3", "9p", "ceph", "glusterfs", "fuse.sshfs", "lustre", "afs")
#: What stands for a character that would be misread in the system's list of mounts.
ESCAPED = re.compile(r"\\([0-7]{3})")


async def examine(url: str, namespace: str, ttl: float | None) -> AsyncIterator[Finding]:
    """Look at the engine of a URL, and yield what is found, as soon as it is.

    Raises:
      ValueError: if the URL leads to no engine.
    """
    scheme = scheme_of(url)
    missing = None
    if scheme in SERVERS:
        try:
            from .redis.findings import examine_server
        except ImportError:
            pass  # no hiredis, as the session will say
        else:
            async for one in examine_server(url, lease_of(url, ttl)):
                yield one
    elif scheme == "sqlite":
        path = path_of(url)
        missing = None if path.exists() else path
        yield _file_system(path)
    else:
        engine_of(url, namespace, lease_of(url, ttl), None)
        yield Finding("processes", "note", "memory:// is one process; nothing is shared")
    yield await _try_session(url, namespace, ttl)
    if missing is not None and missing.exists():
        text = f"{missing} was not there, and has been made; if programs use it already, the path is another one"
        yield Finding("file", "note", text)


async def _try_session(url: str, namespace: str, ttl: float | None) -> Finding:
    """Open a session and take a lock, with all the rights that takes."""
    what = f"a session in the namespace {namespace!r}"
    # in a new namespace nothing is granted before the server has run for so long
    lease = lease_of(url, ttl)
    patience = PATIENCE + (0 if lease == math.inf else lease)
    try:
        with trio.move_on_after(patience):
            async with open_session(url, namespace=namespace, ttl=ttl) as session:
                lock = session.lock(LOCK)
                async with lock:
                    pass

                async def acquire() -> None:
                    async with lock:
                        pass

                p50, p99 = await measure(acquire)
                await session._engine.send(session.identity, b"")  # a right of its own
            return Finding(
                what, "holds", f"a lock is acquired and released in {in_ms(p50)}; p99 {in_ms(p99)}"
            )
    except LeaseLost:
        text = (
            f"its lease has ended meanwhile: ttl={lease:g} is too short for the way to the engine"
        )
        return Finding(what, "does not hold", text)
    except (OSError, RuntimeError, ValueError, DeliveryFailed) as error:
        return Finding(what, "does not hold", str(error))
    return Finding(what, "does not hold", f"no lock was granted in {patience:g} s")


# ==== Files ====


def _file_system(path: Path) -> Finding:
    if sys.platform != "linux":
        return Finding("file system", "does not hold", f"sqlite:// needs Linux, not {sys.platform}")
    mounts = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="surrogateescape")
    return _verdict_on_file_system(path, mounts)


def _verdict_on_file_system(path: Path, mounts: str) -> Finding:
    what = "file system"
    kind = file_system_of(path, mounts)
    if kind is None:
        return Finding(what, "unknown", f"none of the mounts of /proc/self/mounts has {path}")
    if kind in NETWORK:
        return Finding(
            what,
            "does not hold",
            f"{kind} is a network file system; put the file on a disk of this machine",
        )
    if kind.startswith("fuse."):
        text = f"{kind} may be a network file system, on which the file is not to be trusted"
        return Finding(what, "unknown", text)
    return Finding(what, "holds", kind)


def file_system_of(path: Path, mounts: str) -> str | None:
    """Return the kind of file system to which a path leads, by the system's list of them; None if it has none."""
    path = Path(os.path.realpath(path))
    found, kind = -1, None
    for line in mounts.splitlines():
        _, where, its, *_ = line.split(" ")
        folder = Path(ESCAPED.sub(lambda code: chr(int(code[1], 8)), where))
        if path.is_relative_to(folder) and len(folder.parts) >= found:
            found, kind = len(folder.parts), its
    return kind
