"""What a server is like: its configuration, its clock, and how far away it is."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import hiredis
import trio

from structsync.distributed.errors import DeliveryFailed
from structsync.distributed.findings import Finding, Verdict, latency, measure

from .address import Address, parse
from .connection import Command, Connection
from .server import OLDEST, login_of

#: What is lost in any case.
UNREAD = "what no surviving session has read is lost"

#: What a server is queried for, of itself.
CONFIGURED = ("appendfsync", "min-replicas-to-write", "min-replicas-max-lag")
LOCAL = ("localhost", "127.0.0.1", "::1")
#: In seconds: how long a connection may take to be made, and each answer to come.
ANSWERING = 10


async def examine_server(url: str, ttl: float) -> AsyncIterator[Finding]:
    """Connect to a server, and yield what is found."""
    address = parse(url)
    yield _encryption(address)
    found: list[Finding] = []
    try:
        with trio.fail_after(ANSWERING):
            stream = await address.connect()
        connection = Connection(stream, lambda said: None)
        try:
            found = await _look(connection, address, ttl)
        finally:
            await connection.close()
    except trio.TooSlowError:
        found.append(_no_connection(address, f"no answer within {ANSWERING} seconds"))
    except (OSError, DeliveryFailed) as error:
        found.append(_no_connection(address, str(error)))
    for one in found:
        yield one


def _no_connection(address: Address, reason: str) -> Finding:
    return Finding("connection", "does not hold", f"{address.place}: {reason}")


async def _answers(connection: Connection, *commands: Command) -> list[Any]:
    with trio.fail_after(ANSWERING):
        return await connection.exchange(*commands)


def _encryption(address: Address) -> Finding:
    if address.tls is not None:
        return Finding("encryption", "holds", "TLS, and the certificate is checked")
    if address.path is not None or address.host in LOCAL:
        return Finding("encryption", "holds", "not needed on this machine")
    return Finding("encryption", "note", "none: the network sees names and password; use rediss://")


async def _look(connection: Connection, address: Address, ttl: float) -> list[Finding]:
    (about,) = await _answers(connection, ("HELLO", 3, *login_of(address)))
    if isinstance(about, hiredis.ReplyError):
        return [Finding("login", "does not hold", str(about))]
    its = {bytes(name).decode(): value for name, value in about.items()}
    found = [*_kind(its)]
    info, *replies = await _answers(
        connection, ("INFO", "everything"), *(("CONFIG", "GET", name) for name in CONFIGURED)
    )
    if isinstance(info, hiredis.ReplyError):
        found.append(Finding("configuration", "does not hold", f"INFO is not allowed: {info}"))
    else:
        configured: dict[str, str | None] = {
            name: None
            if isinstance(reply, hiredis.ReplyError)
            else bytes(reply[name.encode()]).decode()
            for name, reply in zip(CONFIGURED, replies, strict=True)
        }
        found += _configuration(_fields(bytes(info).decode()), configured, ttl)
    found.append(await _clock(connection))
    p50, p99 = await measure(lambda: _answers(connection, ("PING",)))
    return [*found, latency(p50, p99, ttl)]


def _fields(info: str) -> dict[str, str]:
    pairs = [line.partition(":") for line in info.splitlines()]
    return {name: value for name, _, value in pairs}


def _kind(its: dict[str, Any]) -> Iterator[Finding]:
    version = bytes(its["version"]).decode()
    is_new = int(version.partition(".")[0]) >= OLDEST
    text = version if is_new else f"{version}; it takes Redis {OLDEST} or Valkey"
    yield Finding("version", "holds" if is_new else "does not hold", text)
    mode, role = bytes(its["mode"]).decode(), bytes(its["role"]).decode()
    if mode == "cluster":
        yield Finding("mode", "does not hold", "a node of a cluster may give a log away")
    elif role != "master":
        yield Finding("mode", "does not hold", "a replica; use the address of the primary")
    else:
        yield Finding("mode", "holds", f"{mode}, primary")


def _configuration(
    info: dict[str, str], configured: dict[str, str | None], ttl: float
) -> Iterator[Finding]:
    policy = info["maxmemory_policy"]
    right = policy == "noeviction"
    why = "" if right else ": a lock that is forgotten is granted twice; set noeviction"
    yield Finding("maxmemory-policy", "holds" if right else "does not hold", policy + why)
    yield _persistence(info, configured["appendfsync"])
    yield _replicas(info, configured, ttl)


def _persistence(info: dict[str, str], fsync: str | None) -> Finding:
    what = "persistence"
    if info["aof_enabled"] != "1":
        return Finding(
            what, "note", f"no appendonly: the sessions bring back what a restart loses; {UNREAD}"
        )
    if fsync is None:
        return Finding(what, "unknown", "appendonly; CONFIG GET appendfsync is not allowed")
    if fsync != "always":
        return Finding(
            what,
            "note",
            f"appendfsync {fsync}: the sessions bring back its last moments after a restart; {UNREAD}",
        )
    return Finding(what, "holds", "appendfsync always: a restart costs nothing but time")


def _replicas(info: dict[str, str], configured: dict[str, str | None], ttl: float) -> Finding:
    what, count = "replicas", int(info["connected_slaves"])
    needed, lag = configured["min-replicas-to-write"], configured["min-replicas-max-lag"]
    if needed is None or lag is None:
        return Finding(what, "unknown", f"{count}; CONFIG GET min-replicas-to-write is not allowed")
    if count == 0 and needed == "0":
        return Finding(what, "holds", "none")
    if needed == "0":
        return Finding(
            what,
            "does not hold",
            f"{count}, and min-replicas-to-write is 0: a primary that is cut off keeps granting",
        )
    if float(lag) >= ttl:
        return Finding(
            what, "does not hold", f"min-replicas-max-lag {lag} is not less than ttl={ttl:g}"
        )
    if count < int(needed):
        return Finding(
            what, "does not hold", f"{count} of {needed} that it needs to accept a write"
        )
    return Finding(what, "holds", f"{count}, of which {needed} must follow within {lag} s")


async def _clock(connection: Connection) -> Finding:
    """Compare the clocks; leases are counted by that of the server alone, tokens grow by it."""
    before = time.time()
    (reply,) = await _answers(connection, ("TIME",))
    here = (before + time.time()) / 2
    if isinstance(reply, hiredis.ReplyError):
        return Finding("clock", "does not hold", f"TIME is not allowed: {reply}")
    difference = int(reply[0]) + int(reply[1]) / 1_000_000 - here
    verdict: Verdict = "note" if abs(difference) > 1 else "holds"
    return Finding("clock", verdict, f"{difference:+.3f} s from ours")
