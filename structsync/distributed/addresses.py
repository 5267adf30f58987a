"""Where the sessions of a file are heard: at Unix sockets that are in no file system.

They also tell which sessions exist. An address is free again once its session has been closed, its process has died,
or another program has taken the place of that process, which keeps its number (``exec``).
"""

from __future__ import annotations

import socket
from pathlib import Path


def base_of(path: Path) -> str:
    """Return what all addresses of a file begin with, by whichever path it is reached."""
    found = path.stat()
    return f"\0structsync-{found.st_dev:x}-{found.st_ino:x}-"


def take(address: str) -> socket.socket:
    receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        receiver.bind(address)
    except OSError:
        receiver.close()
        raise
    return receiver


def is_taken(address: str) -> bool:
    """Return whether a process of this network namespace is heard there."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as one:
        try:
            one.connect(address)
        except ConnectionRefusedError:
            return False
    return True
