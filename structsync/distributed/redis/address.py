"""Where a server is, and as which user to log in: what a URL says, without repeating it."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from typing import final
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

import trio

PORT = 6379

#: What may stand behind the ``?`` of a URL; the names of the files are those of redis-py.
FILES = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile")
OPTIONS = {"redis": (), "rediss": FILES, "unix": ("db",)}

FORMS = """\
redis://[[user]:password@]host[:port][/db], the same with rediss:// for TLS, or
unix://[[user]:password@]/path/of/the/socket[?db=0]; what is special in a password is percent-encoded"""


@final
@dataclass(frozen=True)
class Address:
    """A server, and the user that logs in.

    Attributes:
      place: of the server, as messages tell it: host and port, or the path of a socket.
      db: number of the database.
      user: name of the ACL user; None is the default one.
    """

    place: str
    db: int
    user: str | None = field(repr=False)
    password: str | None = field(repr=False)
    host: str
    port: int
    path: str | None
    tls: ssl.SSLContext | None = field(repr=False)

    async def connect(self) -> trio.abc.Stream:
        """Return a stream to the server.

        Raises:
          OSError: if it cannot be reached.
        """
        if self.path is not None:
            try:
                return await trio.open_unix_socket(self.path)
            except OSError as error:  # which does not name it
                raise type(error)(error.errno, error.strerror or str(error), self.path) from error
        if self.tls is None:
            return await trio.open_tcp_stream(self.host, self.port)
        stream = await trio.open_ssl_over_tcp_stream(self.host, self.port, ssl_context=self.tls)
        async with AsyncExitStack() as unless_it_works:
            unless_it_works.push_async_callback(trio.aclose_forcefully, stream)
            try:
                await stream.do_handshake()
            except (
                trio.BrokenResourceError
            ) as error:  # for example a certificate that is not trusted
                raise ConnectionError(f"no TLS with {self.place}: {error.__cause__}") from error
            unless_it_works.pop_all()
        return stream


def _read(url: str) -> tuple[SplitResult, int, dict[str, list[str]]] | None:
    """Return parts, port and options; None where Python's error, even as a context, may repeat the password."""
    try:
        parts = urlsplit(url)
        query = parse_qs(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        return parts, parts.port or PORT, query
    except ValueError:
        return None


def parse(url: str) -> Address:
    """Return the server that a URL names.

    Raises:
      ValueError: if it has another form, or names a file that cannot be read; none of the messages repeats what may be a password.
    """
    read = _read(url)
    if read is None:
        raise _wrong("has a part that cannot be read")
    parts, port, options = read
    scheme = parts.scheme
    unknown = sorted(options.keys() - OPTIONS[scheme])
    if unknown:
        known = ", ".join(OPTIONS[scheme]) or "none"
        raise _wrong(f"has options that {scheme}:// does not take; it takes {known}")
    if parts.fragment or any(len(its) > 1 for its in options.values()):
        raise _wrong("has an option twice, or has a # that is not percent-encoded")
    given = {name: value for name, (value,) in options.items()}
    if scheme == "unix":
        if parts.hostname or not parts.path.strip("/"):
            raise _wrong("names no socket by an absolute path")
        path, db, place = unquote(parts.path), given.get("db", ""), unquote(parts.path)
    else:
        if not parts.hostname:
            raise _wrong("names no host")
        path, db, place = None, parts.path.strip("/"), f"{parts.hostname}:{port}"
    if db and not (db.isascii() and db.isdigit()):
        raise _wrong("names no database by a number")
    return Address(
        place=place,
        db=int(db or 0),
        user=unquote(parts.username) if parts.username else None,
        password=unquote(parts.password) if parts.password else None,
        host=parts.hostname or "",
        port=port,
        path=path,
        tls=_context(given) if scheme == "rediss" else None,
    )


def _wrong(what: str) -> ValueError:
    return ValueError(f"the URL of the server {what}; write {FORMS}")


def _context(files: dict[str, str]) -> ssl.SSLContext:
    """Return a context that checks the certificate and the name of the server: always."""
    authorities, *ours = FILES
    with _refused(files, authorities):
        context = ssl.create_default_context(cafile=files.get(authorities))
    if "ssl_certfile" in files:
        with _refused(files, *ours):
            context.load_cert_chain(files["ssl_certfile"], files.get("ssl_keyfile"))
    return context


@contextmanager
def _refused(files: dict[str, str], *options: str) -> Iterator[None]:
    """Name the files that cannot be read, as Python's error does not."""
    try:
        yield
    except OSError as error:
        named = ", ".join(f"{name}={files[name]}" for name in options if name in files)
        raise ValueError(f"{named} must be readable files in PEM format: {error}") from None
