"""What "structsync doctor" finds, of servers in several states, and of files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import trio
from click.testing import CliRunner, Result
from trio.testing import MockClock

from structsync.cli import main
from structsync.distributed import LeaseLost, examination
from structsync.distributed.examination import file_system_of
from structsync.distributed.findings import Finding, latency
from tests.distributed.servers import ENDS, LASTS, Server, hosting, silent

pytest.importorskip("hiredis")

from structsync.distributed.redis import findings as of_servers
from structsync.distributed.redis.address import parse

pytestmark = pytest.mark.timeout(90)


def doctor(url: str, *options: str) -> Result:
    command = ["doctor", "--namespace", "test", *options]
    return CliRunner().invoke(main, command, env={"STRUCTSYNC_URL": url, "COLUMNS": "200"})


def verdict_on(what: str, result: Result) -> str:
    (line,) = [line for line in result.output.splitlines() if line.startswith(what)]
    return line


def asked(victim: Server, *options: str) -> Result:
    return doctor(victim.url, "--ttl", f"{LASTS:g}", *options)


def test_a_server_that_is_right_holds(victim: Server) -> None:
    result = asked(victim)
    assert (result.exit_code, "does not hold" in result.output) == (0, False), result.output
    assert "a lock is acquired and released in" in verdict_on("a session in the name", result)
    assert "no appendonly: the sessions bring back" in verdict_on("persistence", result)
    assert "standalone, primary" in verdict_on("mode", result)
    assert "p99" in verdict_on("round trip", result)
    assert "from ours" in verdict_on("clock", result)


@pytest.mark.parametrize(
    ("settings", "what", "text"),
    [
        (["maxmemory-policy", "allkeys-lru"], "maxmemory-policy", "granted twice; set noeviction"),
        (["min-replicas-to-write", "1", "min-replicas-max-lag", "1"], "replicas", "0 of 1 that it"),
        (["min-replicas-to-write", "1", "min-replicas-max-lag", "99"], "replicas", "not less than"),
    ],
)
def test_a_setting_that_breaks_a_promise_is_told(
    victim: Server, settings: list[str], what: str, text: str
) -> None:
    victim.ask("CONFIG", "SET", *settings)
    result = asked(victim)
    assert result.exit_code == 1
    assert "does not hold" in verdict_on(what, result)
    assert text in verdict_on(what, result)


@pytest.mark.parametrize(
    ("fsync", "text"),
    [
        ("always", "costs nothing but time"),
        ("everysec", "the sessions bring back its last moments"),
    ],
)
def test_what_a_restart_costs_is_told(victim: Server, fsync: str, text: str) -> None:
    victim.ask("CONFIG", "SET", "appendonly", "yes", "appendfsync", fsync)
    assert text in verdict_on("persistence", asked(victim))


def user(victim: Server, *rights: str) -> str:
    victim.ask("ACL", "SETUSER", "shop", "on", ">secret", "~*", "&*", "+@all", *rights)
    return f"unix://shop:secret@{victim.socket}"


def test_what_may_not_be_asked_is_unknown(victim: Server) -> None:
    victim.ask("CONFIG", "SET", "appendonly", "yes")
    result = doctor(user(victim, "-config"), "--ttl", f"{LASTS:g}")
    assert result.exit_code == 2, result.output
    assert "unknown" in verdict_on("persistence", result)
    assert "unknown" in verdict_on("replicas", result)


@pytest.mark.parametrize(
    ("right", "what", "text"),
    [
        ("-info", "configuration", "INFO is not allowed"),
        ("-time", "clock", "TIME is not allowed"),
        ("-evalsha", "a session", "NOPERM"),
        ("-publish", "a session", "NOPERM"),
    ],
)
def test_a_right_that_is_missing_is_told(victim: Server, right: str, what: str, text: str) -> None:
    result = doctor(user(victim, right), "--ttl", f"{LASTS:g}")
    assert result.exit_code == 1
    assert text in verdict_on(what, result)
    assert "secret" not in result.output


def test_a_login_that_is_refused_is_told_without_the_password(victim: Server) -> None:
    user(victim)
    result = doctor(f"unix://shop:wrong@{victim.socket}", "--ttl", "2")
    assert result.exit_code == 1
    assert "WRONGPASS" in verdict_on("login", result)
    assert "wrong@" not in result.output


async def test_who_does_not_speak_as_a_server_is_told_so() -> None:
    async with hosting(b"HTTP/1.1 400 Bad Request\r\n") as url:
        found = {one.what: one async for one in examination.examine(url, "test", 2)}
    assert "does not speak the protocol of Redis" in found["connection"].text
    assert "does not speak the protocol of Redis" in found["a session in the namespace 'test'"].text


def test_a_server_that_is_not_there_is_told(tmp_path: Path) -> None:
    result = doctor(f"unix://{tmp_path}/nowhere")
    assert result.exit_code == 1
    assert "does not hold" in verdict_on("connection", result)


async def test_a_server_that_says_nothing_is_given_up(autojump_clock: MockClock) -> None:
    with silent() as url, trio.fail_after(60):
        found = {one.what: one async for one in examination.examine(url, "test", 2)}
    assert found["connection"].verdict == "does not hold"
    assert "silent: no answer within 10 seconds" in found["connection"].text
    session = found["a session in the namespace 'test'"]
    assert session.verdict == "does not hold"
    assert "has not answered within ttl=2 seconds" in session.text


def test_a_lease_that_ends_meanwhile_is_told_with_its_length(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def ends(acquire: object) -> tuple[float, float]:
        raise LeaseLost("lock")

    monkeypatch.setattr(examination, "measure", ends)
    result = doctor("memory://", "--ttl", "3")
    assert result.exit_code == 1, result.output
    assert "ttl=3 is too short" in verdict_on("a session", result)


def test_a_file_for_tls_that_is_not_there_is_a_wrong_url(tmp_path: Path) -> None:
    result = doctor(f"rediss://host?ssl_ca_certs={tmp_path}/none")
    assert result.exit_code == 64
    assert "ssl_ca_certs" in result.output


def test_a_lock_that_is_not_granted_is_told(
    victim: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    ttl = 2 * ENDS  # so long nothing is granted in a new namespace, and nothing closed
    monkeypatch.setattr(examination, "PATIENCE", 0.5 - ttl)
    result = doctor(victim.url, "--ttl", f"{ttl:g}", "--namespace", "no task knows it")
    assert "no lock was granted in 0.5 s" in verdict_on("a session", result)


def test_a_url_that_is_wrong_is_refused() -> None:
    result = doctor("postgres://user:secret@host")
    assert result.exit_code == 64
    assert "there is no engine for postgres://" in result.output
    assert "secret" not in result.output


# ==== Single findings ====


@pytest.mark.parametrize(
    ("about", "what", "text"),
    [
        ({"version": b"6.2.1"}, "version", "6.2.1; it takes Redis 7"),
        ({"mode": b"cluster"}, "mode", "a node of a cluster"),
        ({"role": b"replica"}, "mode", "use the address of the primary"),
    ],
)
def test_a_server_of_another_kind_is_told(about: dict[str, bytes], what: str, text: str) -> None:
    right = {"version": b"7.2.4", "mode": b"standalone", "role": b"master"}
    (found,) = [one for one in of_servers._kind({**right, **about}) if one.what == what]
    assert found.verdict == "does not hold"
    assert text in found.text


@pytest.mark.parametrize(
    ("url", "verdict"),
    [
        ("rediss://host", "holds"),
        ("redis://localhost", "holds"),
        ("unix:///run/redis", "holds"),
        ("redis://host", "note"),
    ],
)
def test_what_the_network_sees_is_told(url: str, verdict: str) -> None:
    assert of_servers._encryption(parse(url)).verdict == verdict


@pytest.mark.parametrize(
    ("needed", "count", "verdict"),
    [("0", "1", "does not hold"), ("1", "1", "holds"), ("1", "2", "holds")],
)
def test_replicas_have_to_be_needed(needed: str, count: str, verdict: str) -> None:
    configured: dict[str, str | None] = {"min-replicas-to-write": needed}
    configured["min-replicas-max-lag"] = "5"
    found = of_servers._replicas({"connected_slaves": count}, configured, 10)
    assert found.verdict == verdict


async def test_a_clock_that_is_set_otherwise_is_noted() -> None:
    class Early:
        async def exchange(self, *commands: Any) -> list[Any]:
            await trio.lowlevel.checkpoint()
            return [[b"5", b"0"]]

    early: Any = Early()
    assert (await of_servers._clock(early)).verdict == "note"


def test_a_round_trip_is_short_beside_a_lease() -> None:
    assert latency(0.001, 0.01, 10).verdict == "holds"
    assert latency(0.001, 1.5, 10).verdict == "does not hold"


def test_the_file_system_is_that_of_the_nearest_folder() -> None:
    mounts = "a / ext4 rw 0 0\nb /home nfs4 rw 0 0\nc /home/my\\040own tmpfs rw 0 0\n"
    kinds = {
        path: file_system_of(Path(path), mounts) for path in ("/x", "/home/x", "/home/my own/x")
    }
    assert [*kinds.values()] == ["ext4", "nfs4", "tmpfs"]
    assert file_system_of(Path("/x"), "") is None


@pytest.mark.parametrize(
    ("mount", "path"),
    [
        ("{tmp}/far", "{tmp}/link/locks.db"),
        ("{tmp}/far", "/{tmp}/far/locks.db"),  # with two slashes in front
        ("{tmp}/far", "{tmp}/near/../far/locks.db"),
        ("{tmp}/a\\011b\\134c", "{tmp}/a\tb\\c/locks.db"),
    ],
)
def test_the_file_system_is_that_to_which_a_path_leads(
    tmp_path: Path, mount: str, path: str
) -> None:
    (tmp_path / "link").symlink_to("far")
    mounts = f"a / ext4 rw 0 0\nb {mount.format(tmp=tmp_path)} nfs4 rw 0 0\n"
    assert file_system_of(Path(path.format(tmp=tmp_path)), mounts) == "nfs4"


@pytest.mark.parametrize(
    ("mounts", "text"),
    [
        ("", "none of the mounts of /proc/self/mounts has"),
        ("a / fuse.mergerfs rw 0 0\n", "fuse.mergerfs may be a network file system"),
    ],
)
def test_a_file_system_that_says_nothing_of_a_network_is_unknown(mounts: str, text: str) -> None:
    found = examination._verdict_on_file_system(Path("/x"), mounts)
    assert found.verdict == "unknown"
    assert text in found.text


@pytest.mark.skipif(sys.platform != "linux", reason="sqlite:// needs Linux")
def test_a_file_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"sqlite://{tmp_path}/locks.db"
    made = doctor(url)
    assert made.exit_code == 0
    assert "was not there, and has been made" in verdict_on("file  ", made)
    assert "has been made" not in doctor(url).output
    kind = file_system_of(tmp_path, Path("/proc/self/mounts").read_text())
    monkeypatch.setattr(examination, "NETWORK", (kind,))
    assert "is a network file system" in verdict_on("file system", doctor(url))
    monkeypatch.setattr(sys, "platform", "darwin")
    found = examination._file_system(tmp_path)
    assert found == Finding("file system", "does not hold", "sqlite:// needs Linux, not darwin")


@pytest.mark.skipif(sys.platform != "linux", reason="sqlite:// needs Linux")
@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("folder", "is a folder"),
        ("text", "is not a SQLite database"),
        ("no/file", "there is no folder"),
    ],
)
def test_a_path_at_which_no_session_can_be_is_told(tmp_path: Path, name: str, problem: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "text").write_text("text " * 100)
    result = doctor(f"sqlite://{tmp_path}/{name}")
    assert result.exit_code == 1
    assert problem in " ".join(result.output.split())
    assert "has been made" not in result.output


def test_one_process_is_noted() -> None:
    result = doctor("memory://")
    assert result.exit_code == 0
    assert "nothing is shared" in verdict_on("processes", result)
