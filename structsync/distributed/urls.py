"""What a URL leads to: an engine, and what is usual there."""

from __future__ import annotations

import logging
import math
import os
import re
import sys
from pathlib import Path
from urllib.parse import SplitResult, quote, unquote_to_bytes, urlsplit

from .engine import Engine
from .memory import Deliveries, MemoryEngine, hub_of
from .names import check_encodable
from .sqlite import SQLiteEngine

#: What begins the URL of a server, and how long a lease lasts there, in seconds.
SERVERS, LEASE = ("redis", "rediss", "unix"), 10

FORM = "the URL of a file has three slashes and an absolute path: sqlite:///var/lib/app/locks.db"

_log = logging.getLogger("structsync")


def scheme_of(url: str) -> str:
    """Return what a URL begins with; of one that it cannot read, ``urlsplit`` repeats what may be a password.

    Raises:
      TypeError: if it is no str.
    """
    given: object = url
    if not isinstance(given, str):
        raise TypeError(f"url must be a str, not a {type(given).__name__}")
    found = re.match(r"([A-Za-z][A-Za-z0-9+.-]*):", url)
    return found[1].lower() if found else ""


def engine_of(url: str, namespace: str, ttl: float, deliveries: Deliveries | None) -> Engine:
    scheme = scheme_of(url)
    if scheme == "memory":
        if url.partition(":")[2] != "//":
            raise ValueError("nothing follows memory://; give namespace= to separate programs")
        if deliveries is not None and not isinstance(deliveries, Deliveries):
            raise TypeError(f"deliveries must be a Deliveries or None, not {deliveries!r}")
        return MemoryEngine(hub_of(url, namespace), deliveries)
    if scheme == "sqlite":
        if deliveries is not None:
            raise ValueError("deliveries are for memory:// only; leave them out for sqlite://")
        if ttl < math.inf:
            raise ValueError(
                "sqlite:// has no leases, because it sees which processes live; leave out ttl"
            )
        return SQLiteEngine(path_of(url), namespace)
    if scheme in SERVERS:
        if deliveries is not None:
            raise ValueError(f"deliveries are for memory:// only; leave them out for {scheme}://")
        if ttl == math.inf:
            raise ValueError("a lease on a server needs an end; leave out ttl, or give seconds")
        return _on_a_server(url, namespace)
    raise ValueError(
        f"{_not_understood(url, scheme)}; use memory://, sqlite:///path or redis://host"
    )


def _not_understood(url: str, scheme: str) -> str:
    """Say what is wrong with a URL that leads to no engine; what it does not repeat may have a password in it."""
    if scheme:
        return f"there is no engine for {scheme}://"
    if url.startswith("/") and not url.startswith("//"):
        return f"the URL does not say which engine: for the file {url} write sqlite://{quote(url, errors='surrogatepass')}"
    return "the URL does not begin with the name of an engine"


def _on_a_server(url: str, namespace: str) -> Engine:
    try:
        from .redis.engine import RedisEngine
    except ImportError as error:
        raise RuntimeError(
            "a session on a server needs hiredis: pip install 'structsync[redis]'"
        ) from error
    from .redis.address import parse

    return RedisEngine(parse(url), namespace)


def path_of(url: str) -> Path:
    """Return the path of a file.

    Raises:
      ValueError: if the URL has another form than that of a file.
    """
    if not url.isprintable():  # urlsplit leaves some of these out, so that it would be another file
        raise ValueError(
            "the URL of a file has an invisible character; percent-encode it, as %09 for a tab"
        )
    parts = _split(url)
    if parts.query or parts.fragment:
        raise ValueError(
            "the URL of a file has no options; write %3F for a question mark and %23 for # in its path"
        )
    if parts.netloc or not parts.path.startswith("/") or not parts.path.strip("/"):
        raise ValueError(FORM)
    path = unquote_to_bytes(parts.path)
    if b"\0" in path:
        raise ValueError("the path of a file has no %00; leave it out")
    return Path(os.fsdecode(path))


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:  # for example a bracket where it takes a host for one of IPv6
        raise ValueError(FORM) from None


def namespace_of(url: str, namespace: str | None) -> str:
    if namespace is None:
        _log.info("no namespace given for %s://: it is 'default'", scheme_of(url))
        return "default"
    if not isinstance(namespace, str):
        raise TypeError(f"namespace must be a str or None, not {namespace!r}")
    if not namespace:
        raise ValueError("namespace must not be empty; leave it out for the default")
    check_encodable("namespace", namespace)
    return namespace


def lease_of(url: str, ttl: float | None) -> float:
    if ttl is None:
        return LEASE if scheme_of(url) in SERVERS else math.inf
    return _seconds(ttl)


def _seconds(ttl: float) -> float:
    if isinstance(ttl, bool) or not isinstance(ttl, int | float):
        raise TypeError(f"ttl must be a number of seconds, not {ttl!r}")
    if not (0 < ttl <= sys.float_info.max or ttl == math.inf):  # no int beyond all floats
        raise ValueError(f"ttl must be a time greater than 0, not {ttl!r}")
    return float(ttl)
