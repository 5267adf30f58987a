"""A session, and how it is opened."""

from __future__ import annotations

import logging
import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import final
from urllib.parse import unquote, urlsplit

import trio

from structsync._core.shared.operations import Want
from structsync._runtime.arguments import check_count

from .blocks import Block
from .engine import Engine
from .membership import Membership, SharedEvent
from .memory import Deliveries, MemoryEngine, hub_of
from .primitives import (
    SharedBarrier,
    SharedCondition,
    SharedLatch,
    SharedLock,
    SharedRWLock,
    SharedSemaphore,
)
from .sqlite import SQLiteEngine

#: What begins the URL of a server, and how long a lease lasts there, in seconds.
SERVERS, LEASE = ("redis", "rediss", "unix"), 10

#: How long a session waits for its engine when it closes, in seconds.
CLOSING = 5

_log = logging.getLogger("structsync")


@final
class Session(Membership):
    """What :func:`open_session` yields: primitives by name, which other processes share.

    A method makes nothing anywhere: it names a primitive, which exists while a task uses it.
    A name stands for one definition at a time; another one is a ``ValueError`` where it is used.

    Attributes:
      identity: which session this is, among all of its engine.
    """

    def semaphore(self, name: str, permits: int) -> SharedSemaphore:
        """Return the semaphore of that name.

        Raises:
          TypeError, ValueError: if ``permits`` is not an int, or less than 1; of all methods here: if the name is
              not a str, or has no prefix.
          trio.ClosedResourceError: of all methods here: if the session is closed.
        """
        check_count(permits, "permits")
        return SharedSemaphore(self, name, permits)

    def lock(self, name: str) -> SharedLock:
        """Return the lock of that name."""
        return SharedLock(self, name)

    def rwlock(self, name: str) -> SharedRWLock:
        """Return the read-write lock of that name."""
        return SharedRWLock(self, name)

    def latch(self, name: str, count: int) -> SharedLatch:
        """Return the latch of that name.

        Raises:
          TypeError, ValueError: if ``count`` is not an int, or less than 1.
        """
        check_count(count, "count")
        return SharedLatch(self, name, count)

    def barrier(self, name: str, parties: int) -> SharedBarrier:
        """Return the barrier of that name.

        Raises:
          TypeError, ValueError: if ``parties`` is not an int, or less than 1.
        """
        check_count(parties, "parties")
        return SharedBarrier(self, name, parties)

    def condition(self, name: str, lock: SharedLock) -> SharedCondition:
        """Return the condition of that name on a lock of the same prefix.

        Raises:
          TypeError: if it is not a :class:`SharedLock`.
          ValueError: if its prefix is another one.
        """
        return SharedCondition(self, name, lock)

    def acquire_all(self, *claims: Want) -> Block:
        """Return an async context manager that holds several things, taken in one step.

        It waits in all queues at once and holds nothing meanwhile, so that no task deadlocks.

        Raises:
          ValueError: without claims, or if they have different prefixes: those are decided in different
              logs. On entering, if two claims are on one primitive.
        """
        if len({want.name.partition("/")[0] for want in claims}) != 1:
            names = ", ".join([repr(want.name) for want in claims]) or "none"
            raise ValueError(f"acquire_all takes claims of one prefix, at least one; not {names}")
        self._check()
        return Block(self, claims)


@asynccontextmanager
async def open_session(
    url: str,
    *,
    namespace: str | None = None,
    ttl: float | None = None,
    observer: Callable[[SharedEvent], object] | None = None,
    deliveries: Deliveries | None = None,
) -> AsyncIterator[Session]:
    """Open a session with an engine; leaving the block ends it, and releases what it holds.

    Args:
      url: of the engine: ``memory://`` is this run of trio; ``sqlite:///path`` is a file, which processes of this
          machine share (Linux); ``redis://host:port/db``, ``rediss://`` with TLS and ``unix:///path`` are servers
          of Redis 7 or Valkey, which several machines share (they need ``structsync[redis]``).
      namespace: keeps programs apart that use one engine; names mean something within it. If it is left out,
          it is ``"default"``, and a line in the log says so.
      ttl: how long, in seconds, the session survives without contact to its engine; then others may be
          granted what it holds. The same for all sessions of a namespace. Left out: 10 on a server, else forever.
      observer: called with each :class:`SharedEvent` of this session; one that raises is logged and removed.
      deliveries: for tests with ``memory://``: what becomes of messages.

    Raises:
      ValueError: if there is no such engine, or it has no such option.
      RuntimeError: if the file is of another version or in use in another container, or it is not Linux; if the
          server refuses the login, is too old, or evicts what it keeps.
      OSError: if the server cannot be reached.
      TypeError: if an argument is of another type.
    """
    lasts = _lease(url, ttl)
    engine = _engine_of(url, _namespace(url, namespace), lasts, deliveries)
    failure: BaseException | None = None
    try:
        async with trio.open_nursery() as nursery:
            since = trio.current_time()
            session = Session(engine, await engine.open(lasts), lasts, observer)
            session._move_deadline(since)
            begun = trio.Event()
            nursery.start_soon(session._run, begun)
            # Not nursery.start, which leaves behind what is shielded when it is cancelled meanwhile.
            with trio.CancelScope(shield=True):
                await begun.wait()
            try:
                yield session
            except BaseException as error:  # noqa: BLE001 - raised below, outside of the nursery
                failure = error
            finally:
                with trio.move_on_after(CLOSING, shield=True):
                    await session._close()
    except BaseExceptionGroup as group:
        # The tasks of a session are no children of the block: what ends one of them ends the session.
        raise _innermost(group) from None
    if failure is not None:
        raise failure


def _innermost(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _engine_of(url: str, namespace: str, ttl: float, deliveries: Deliveries | None) -> Engine:
    scheme = urlsplit(url).scheme
    if scheme == "memory":
        return MemoryEngine(hub_of(url, namespace), deliveries)
    if scheme == "sqlite":
        if deliveries is not None:
            raise ValueError("deliveries are for memory:// alone; leave them out for sqlite://")
        if ttl < math.inf:
            raise ValueError(
                "sqlite:// has no leases, because it sees which processes live; leave out ttl"
            )
        return SQLiteEngine(_path_of(url), namespace)
    if scheme in SERVERS:
        if deliveries is not None:
            raise ValueError(f"deliveries are for memory:// alone; leave them out for {scheme}://")
        if ttl == math.inf:
            raise ValueError("a lease on a server needs an end; leave out ttl, or give seconds")
        return _on_a_server(url, namespace)
    # The rest of a URL may have a password in it.
    raise ValueError(
        f"there is no engine for {scheme}://; use memory://, sqlite:///path or redis://host"
    )


def _on_a_server(url: str, namespace: str) -> Engine:
    try:
        from .redis.engine import RedisEngine
    except ImportError as error:
        raise RuntimeError(
            "a session on a server needs hiredis: pip install 'structsync[redis]'"
        ) from error
    from .redis.address import parse

    return RedisEngine(parse(url), namespace)


def _path_of(url: str) -> Path:
    parts = urlsplit(url)
    if parts.netloc or not parts.path.strip("/"):
        raise ValueError(
            "the URL of a file has three slashes and an absolute path: sqlite:///var/lib/app/locks.db"
        )
    return Path(unquote(parts.path))


def _namespace(url: str, namespace: str | None) -> str:
    if namespace is None:
        _log.info("no namespace given for %s://: it is 'default'", urlsplit(url).scheme)
        return "default"
    if not isinstance(namespace, str):
        raise TypeError(f"namespace must be a str or None, not {namespace!r}")
    if not namespace:
        raise ValueError("namespace must not be empty; leave it out for the default")
    return namespace


def _lease(url: str, ttl: float | None) -> float:
    if ttl is None:
        return LEASE if urlsplit(url).scheme in SERVERS else math.inf
    return _seconds(ttl)


def _seconds(ttl: float) -> float:
    if isinstance(ttl, bool) or not isinstance(ttl, int | float):
        raise TypeError(f"ttl must be a number of seconds, not {ttl!r}")
    if not ttl > 0:
        raise ValueError(f"ttl must be greater than 0, not {ttl!r}")
    return float(ttl)
