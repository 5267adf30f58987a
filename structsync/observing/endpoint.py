"""Where an inspector listens: a socket that its owner alone can open, or loopback with a token."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import stat
from pathlib import Path

import trio

#: A shorter token could be guessed.
LEAST_TOKEN = 16


async def listen_on_path(path: Path) -> trio.SocketListener:
    """Listen on a unix socket that the owner of this process alone can open.

    Raises:
      RuntimeError: if there are no unix sockets here.
      PermissionError: if another user could put another socket in its place.
      FileExistsError: if there is something already, other than a socket on which no process listens.
    """
    family = getattr(socket, "AF_UNIX", None)
    if family is None or not hasattr(os, "geteuid"):
        raise RuntimeError(
            "there are no unix sockets here; give port= and token= instead of a path"
        )
    check_folder(path.parent)
    remove_if_abandoned(path, family)
    sock = trio.socket.socket(family, socket.SOCK_STREAM)
    try:
        await sock.bind(os.fspath(path))
        # Before it listens, so that no process can have connected while its mode was that of the umask.
        os.chmod(path, 0o600)
        sock.listen(8)
    except BaseException:
        sock.close()
        raise
    return trio.SocketListener(sock)


def check_folder(folder: Path) -> None:
    """Raise PermissionError if another user could replace a file in a folder, or the folder itself."""
    here = folder.resolve()
    for each in (here, *here.parents):
        found = os.stat(each)
        is_open = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        if found.st_uid not in (0, os.geteuid()):
            problem = "belongs to another user"
        elif is_open and (each == here or not found.st_mode & stat.S_ISVTX):
            problem = "can be written by others"
        else:
            continue
        raise PermissionError(
            f"the socket of an inspector must be where only its owner can write, and {each} {problem}: "
            f"choose another folder, or make one with mode 0700"
        )


def remove_if_abandoned(path: Path, family: int) -> None:
    """Remove the socket of a program that has ended.

    Raises:
      FileExistsError: if a program listens there, or it is not a socket.
    """
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return
    if stat.S_ISSOCK(found.st_mode):
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setblocking(False)
            if probe.connect_ex(os.fspath(path)) == errno.ECONNREFUSED:
                os.unlink(path)
                return
    raise FileExistsError(
        errno.EEXIST, "a program listens there already, or it is no socket", os.fspath(path)
    )


def remove_own(path: Path, made: os.stat_result) -> None:
    """Remove the socket that was made here, if it is still the same."""
    with contextlib.suppress(FileNotFoundError):
        found = os.lstat(path)
        if (found.st_dev, found.st_ino) == (made.st_dev, made.st_ino):
            os.unlink(path)


async def listen_on_loopback(port: int, token: object) -> trio.SocketListener:
    """Listen where programs of this machine alone can connect.

    Raises:
      TypeError: if the token is not a text.
      ValueError: if it is short, or not printable ASCII.
    """
    if not isinstance(token, str):
        raise TypeError(f"an inspector on a port needs token=, a str, not {token!r}")
    if len(token) < LEAST_TOKEN or not (token.isascii() and token.isprintable()):
        raise ValueError(
            f"token must be at least {LEAST_TOKEN} printable ASCII characters, such as those of "
            "secrets.token_urlsafe()"
        )
    (listener,) = await trio.open_tcp_listeners(port, host="127.0.0.1")
    return listener
