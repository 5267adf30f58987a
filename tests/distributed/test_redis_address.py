"""URLs of servers: what they say, and that none of it is told."""

from __future__ import annotations

import logging
import re
import sys
import traceback
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import trio
import trustme

from structsync.distributed import Deliveries, open_session
from tests.distributed.servers import LASTS, Server, free_port, opens, server
from tests.distributed.waiting import until_waiting

pytest.importorskip("hiredis")

from structsync.distributed.redis.address import parse
from structsync.distributed.redis.engine import RedisEngine

pytestmark = pytest.mark.timeout(60)

SECRET = "s3cr3t"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("redis://h", ("h:6379", 0, None, None)),
        ("redis://h:7000/3", ("h:7000", 3, None, None)),
        ("redis://:p%40%2F@h", ("h:6379", 0, None, "p@/")),
        ("rediss://me:pw@h:1/2", ("h:1", 2, "me", "pw")),
        ("redis://me@[::1]:1", ("::1:1", 0, "me", None)),
        ("unix:///run/a%20b.sock", ("/run/a b.sock", 0, None, None)),
        ("unix://me:pw@/run/r.sock?db=5", ("/run/r.sock", 5, "me", "pw")),
    ],
)
def test_a_url_says_where_and_as_whom(url: str, said: tuple[Any, ...]) -> None:
    found = parse(url)
    assert (found.place, found.db, found.user, found.password) == said
    assert (found.tls is not None) == url.startswith("rediss")


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        (f"redis://:{SECRET}/x@h", "cannot be read"),  # a slash that is not encoded ends the host
        (f"redis://u:{SECRET}@h:port", "cannot be read"),
        (f"redis://u:[{SECRET}]@h", "cannot be read"),  # what urlsplit itself would repeat
        (f"redis://u:{SECRET}\u2100@h", "cannot be read"),
        (f"redis://:{SECRET}#x@h", "cannot be read"),
        (f"redis://u:x@h/0#{SECRET}", "not percent-encoded"),
        (f"redis://u:x@h?{SECRET}", "cannot be read"),
        (f"redis://h?password={SECRET}", "options that redis:// does not take; it takes none"),
        (f"rediss://h?ssl_cert_reqs={SECRET}", "it takes ssl_ca_certs, ssl_certfile"),
        (f"unix:///s?db=1&db={SECRET}", "twice"),
        (f"redis://u:{SECRET}@", "names no host"),
        (f"redis://h/{SECRET}", "names no database by a number"),
        (f"unix:///s?db={SECRET}", "names no database by a number"),
        (f"unix://{SECRET}/s", "names no socket"),
        (f"unix://u:{SECRET}@/", "names no socket"),
        (f"rebis://u:{SECRET}@h", "no engine for rebis://"),
    ],
)
async def test_a_url_is_refused_and_its_secret_is_not_repeated(url: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem) as caught:
        async with open_session(url, namespace="test"):
            pytest.fail("it was opened")
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    assert SECRET not in repr(caught.value.__context__)


async def test_options_that_a_server_has_no_use_for_are_refused() -> None:
    for options, problem in [
        ({"deliveries": Deliveries()}, "memory:// only"),
        ({"ttl": float("inf")}, "needs an end"),
    ]:
        with pytest.raises(ValueError, match=problem):
            async with open_session("redis://h", namespace="test", **options):  # type: ignore[arg-type]
                pytest.fail("it was opened")


async def test_without_hiredis_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "structsync.distributed.redis.engine", None)
    with pytest.raises(RuntimeError, match=r"pip install 'structsync\[redis\]'"):
        async with open_session("redis://h", namespace="test"):
            pytest.fail("it was opened")


def test_an_address_shows_no_secret() -> None:
    address = parse(f"rediss://u:{SECRET}@h")
    assert SECRET not in repr(address)
    assert SECRET not in repr(RedisEngine(address, "test"))
    assert SECRET not in repr(vars(RedisEngine(address, "test")))


async def test_what_cannot_be_reached_is_told_without_secrets(tmp_path: Path) -> None:
    for url in [
        f"redis://u:{SECRET}@127.0.0.1:{free_port()}",
        f"unix://u:{SECRET}@{tmp_path}/no-socket",
        f"rediss://u:{SECRET}@127.0.0.1:{free_port()}",
    ]:
        with pytest.raises(OSError) as caught:  # noqa: PT011 - trio words it
            async with open_session(url, namespace="test"):
                pytest.fail("it was opened")
        assert SECRET not in "".join(traceback.format_exception(caught.value))


# ==== On a server ====


@pytest.fixture(scope="module")
def guarded() -> Iterator[Server]:
    """A server with a password for the default user."""
    with server("--requirepass", SECRET) as one:
        yield one


PAGE = Path(__file__).parents[2] / "docs/how-to/share-between-machines.rst"
#: What the page tells an administrator to do: for a session's user, for another one, and for the default one.
RECIPE = [one.split() for one in re.findall(r"``(ACL SETUSER [^`]*)``", PAGE.read_text("utf-8"))]
#: What it gives a session's user, behind its name and password.
RIGHTS = RECIPE[0][5:]


async def test_a_socket_that_is_not_there_is_told_by_its_path(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=f"No such file .*: '{tmp_path}/server'"):
        async with open_session(f"unix://{tmp_path}/server", namespace="test"):
            pytest.fail("it was opened")


async def test_a_password_a_user_and_a_database_are_used_and_never_told(
    guarded: Server, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    path = guarded.socket
    guarded.ask_as(SECRET, "ACL", "SETUSER", "me", "on", f">{SECRET}2", *RIGHTS)
    guarded.is_no_news("shop", ("AUTH", "default", SECRET), ("SELECT", "3"))
    for who in (f":{SECRET}", f"me:{SECRET}2"):
        url = f"unix://{who}@{path}?db=3"
        async with open_session(url, namespace="shop", ttl=LASTS) as session:
            async with session.lock("lock"):
                assert guarded.ask_as(SECRET, "DBSIZE") == b":0"
            assert SECRET not in repr(session)
            assert SECRET not in repr(vars(session))
    assert "in the namespace 'shop' of" in caplog.text
    assert SECRET not in caplog.text


async def test_by_the_recipe_of_the_page_no_other_user_can_publish_in_a_namespace(
    victim: Server,
) -> None:
    victim.is_no_news("shop")
    url = f"unix://shop:password@{victim.socket}"
    async with opens(victim, "shop") as session:
        channel = f"{{structsync:shop}}:to:{session.identity}"
        assert victim.ask("PUBLISH", channel, "lock") == b":1", "any user can, before"
    for command in RECIPE:
        assert victim.ask(*command) == b"+OK"
    async with (
        open_session(url, namespace="shop", ttl=LASTS) as here,
        open_session(url, namespace="shop", ttl=LASTS) as there,
        trio.open_nursery() as nursery,
    ):

        async def wait() -> None:
            async with there.lock("lock"):
                pass

        async with here.lock("lock"):
            nursery.start_soon(wait)
            await until_waiting(here.lock("lock"), 1)
        channel = f"{{structsync:shop}}:to:{here.identity}"
        assert victim.ask_as("password", "PUBLISH", channel, "lock", user="shop") == b":1"
        assert victim.ask_as("password", "PUBLISH", "cache:news", "", user="cache") == b":0"
        refused = victim.ask_as("password", "PUBLISH", channel, "lock", user="cache")
        assert refused.startswith(b"-NOPERM")
        assert victim.ask("PUBLISH", channel, "lock").startswith(b"-NOPERM")
        assert victim.ask("SUBSCRIBE", channel).startswith(b"-NOPERM")
    with pytest.raises(RuntimeError, match="refuses what a session needs: NOPERM"):
        async with opens(victim, "shop"):
            pytest.fail("it was opened")


@pytest.mark.parametrize(
    ("who", "problem"),
    [
        ("", "refuses the login: NOAUTH"),
        (f":wrong{SECRET}@", "refuses the login: WRONGPASS"),
        (f"unknown:{SECRET}@", "refuses the login: WRONGPASS"),
        ("guest:guest@", "refuses what a session needs: NOPERM"),
        ("mute:mute@", "refuses what a session needs: NOPERM"),
    ],
)
async def test_a_login_that_is_refused_is_told_without_secrets(
    guarded: Server, caplog: pytest.LogCaptureFixture, who: str, problem: str
) -> None:
    caplog.set_level(logging.DEBUG)
    guarded.ask_as(SECRET, "ACL", "SETUSER", "guest", "on", ">guest", "+hello")
    guarded.ask_as(SECRET, "ACL", "SETUSER", "mute", "on", ">mute", "+@all", "~none")
    with pytest.raises(RuntimeError, match=problem) as caught:
        async with open_session(f"unix://{who}{guarded.socket}", namespace="shop", ttl=LASTS):
            pytest.fail("it was opened")
    assert SECRET not in "".join(traceback.format_exception(caught.value)) + caplog.text


# ==== TLS ====


class Encrypted(NamedTuple):
    """A server on a port with TLS, which asks for a certificate, and the folder of the certificates."""

    port: int
    folder: Path

    def url(self, host: str = "localhost", **files: str) -> str:
        query = "&".join(f"{name}={self.folder}/{file}" for name, file in files.items())
        return f"rediss://{host}:{self.port}?{query}".rstrip("?")


@pytest.fixture(scope="module")
def encrypted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Encrypted]:
    folder = tmp_path_factory.mktemp("tls")
    authority = trustme.CA()
    authority.cert_pem.write_to_path(folder / "ca.pem")
    for file, name in [("server", "localhost"), ("client", "client.example")]:
        its = authority.issue_cert(name)
        its.cert_chain_pems[0].write_to_path(folder / f"{file}.pem")
        its.private_key_pem.write_to_path(folder / f"{file}.key")
    port = free_port()
    with server(
        *("--tls-port", str(port), "--tls-ca-cert-file", f"{folder}/ca.pem"),
        *("--tls-cert-file", f"{folder}/server.pem", "--tls-key-file", f"{folder}/server.key"),
    ) as one:
        one.is_no_news("test")
        yield Encrypted(port, folder)


MINE = {"ssl_certfile": "client.pem", "ssl_keyfile": "client.key"}


async def test_a_server_with_tls_is_trusted_by_its_certificate(encrypted: Encrypted) -> None:
    url = encrypted.url(ssl_ca_certs="ca.pem", **MINE)
    for _ in range(5):  # what ends a session and what received for it run in random order
        async with open_session(url, namespace="test", ttl=LASTS) as session:
            async with session.lock("lock"):
                pass


@pytest.mark.parametrize(
    ("host", "files"),
    [
        ("localhost", MINE),  # an authority that this machine does not know
        ("127.0.0.1", {**MINE, "ssl_ca_certs": "ca.pem"}),  # a name that is not the server's
        ("localhost", {"ssl_ca_certs": "ca.pem"}),  # it does not know us
    ],
)
async def test_a_server_that_proves_nothing_is_not_spoken_to(
    encrypted: Encrypted, host: str, files: dict[str, str]
) -> None:
    with pytest.raises(ConnectionError):
        async with open_session(encrypted.url(host, **files), namespace="test", ttl=LASTS):
            pytest.fail("it was opened")


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("ssl_ca_certs={0}/none", "ssl_ca_certs=.*/none.*No such file"),
        ("ssl_ca_certs={0}/text", "ssl_ca_certs=.*/text.*in PEM format"),
        ("ssl_certfile={0}/text", "ssl_certfile=.*/text"),
        ("ssl_certfile={0}/text&ssl_keyfile={0}/none", "ssl_certfile=.*/text, ssl_keyfile=.*/none"),
    ],
)
async def test_a_file_for_tls_that_cannot_be_read_is_refused_by_its_name(
    tmp_path: Path, query: str, problem: str
) -> None:
    (tmp_path / "text").write_text("no certificate")
    with pytest.raises(ValueError, match=problem):
        async with open_session(f"rediss://h?{query.format(tmp_path)}", namespace="test"):
            pytest.fail("it was opened")


async def test_a_server_that_speaks_no_tls_is_given_up(tmp_path: Path) -> None:
    async def hang_up(stream: trio.SocketStream) -> None:
        await stream.aclose()

    async with trio.open_nursery() as nursery:
        (listener,) = await nursery.start(partial(trio.serve_tcp, hang_up, 0, host="127.0.0.1"))
        port = listener.socket.getsockname()[1]
        with pytest.raises(ConnectionError, match=r"no TLS with 127\.0\.0\.1"):
            async with open_session(f"rediss://127.0.0.1:{port}", namespace="test"):
                pytest.fail("it was opened")
        nursery.cancel_scope.cancel()


async def test_a_session_that_is_cancelled_while_it_connects_leaves_nothing() -> None:
    async with trio.open_nursery() as nursery:
        connected = trio.Event()

        async def say_nothing(stream: trio.SocketStream) -> None:
            assert await stream.receive_some()
            connected.set()
            assert not await stream.receive_some()
            nursery.cancel_scope.cancel()

        (listener,) = await nursery.start(partial(trio.serve_tcp, say_nothing, 0, host="127.0.0.1"))
        port = listener.socket.getsockname()[1]
        with trio.CancelScope() as scope:

            async def cancel() -> None:
                await connected.wait()
                scope.cancel()

            nursery.start_soon(cancel)
            async with open_session(f"rediss://127.0.0.1:{port}", namespace="test"):
                pytest.fail("it was opened")
        assert scope.cancelled_caught
        await trio.sleep_forever()
