"""What a server is queried for when a connection to it begins, and which servers are refused."""

from __future__ import annotations

from typing import Any

import hiredis

from .address import Address
from .connection import Command, Connection

#: In a script: what a run of the server calls itself, which is different each time.
RUN = "<run>"
#: The oldest version that is spoken to; Valkey began with 7.2.
OLDEST = 7

EVICTS = """\
{place} may evict what it keeps: its maxmemory-policy is {policy}, and a lock that is forgotten is granted twice; \
set maxmemory-policy to noeviction, or use another server for locks"""


async def greet(connection: Connection, address: Address, channel: str, script: str) -> str:
    """Log in, listen to a channel, and load the script; return the name under which it is called.

    Raises:
      ConnectionError: if the server is still loading its data.
      RuntimeError: if the server refuses the login, or cannot do what a log needs.
      DeliveryFailed: if the connection ends before.
    """
    place = address.place
    hello: Command = ("HELLO", 3, *login_of(address))
    about, info = await connection.exchange(hello, ("INFO", "server", "memory"))
    if isinstance(about, hiredis.ReplyError):
        raise RuntimeError(f"{place} refuses the login: {about}")
    _check(place, about)
    _check_reply(place, info)
    policy = value_of("maxmemory_policy", info)
    if policy != "noeviction":
        raise RuntimeError(EVICTS.format(place=place, policy=policy))
    replies = await connection.exchange(
        ("SELECT", address.db),
        ("SUBSCRIBE", channel),
        ("SCRIPT", "LOAD", script.replace(RUN, value_of("run_id", info))),
    )
    for reply in replies:
        _check_reply(place, reply)
    return bytes(replies[-1]).decode()


def login_of(address: Address) -> list[str]:
    """Return what HELLO is told of the user that logs in."""
    if address.user is None and address.password is None:
        return []
    return ["AUTH", address.user or "default", address.password or ""]


def _check(place: str, about: Any) -> None:
    its = {bytes(name).decode(): value for name, value in about.items()}
    version = bytes(its["version"]).decode()
    if int(version.partition(".")[0]) < OLDEST:
        raise RuntimeError(f"{place} is version {version}; it takes Redis {OLDEST} or Valkey")
    if its["mode"] == b"cluster":
        raise RuntimeError(
            f"{place} is a node of a cluster, which may give a log away; use one primary, with replicas"
        )
    if its["role"] != b"master":
        raise RuntimeError(f"{place} is a replica; use the address of the primary")


def _check_reply(place: str, reply: Any) -> None:
    if isinstance(reply, hiredis.ReplyError):
        if str(reply).startswith("LOADING"):
            raise ConnectionError(f"{place} was started just now: {reply}")
        raise RuntimeError(f"{place} refuses what a session needs: {reply}")


def value_of(name: str, info: bytes) -> str:
    """Return one value of what a server says of itself."""
    return info.decode().partition(f"{name}:")[2].partition("\r\n")[0]
