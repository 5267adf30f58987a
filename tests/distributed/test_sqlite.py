"""What the engine in a file does beyond the conformance suite."""

from __future__ import annotations

import os
import socket
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from structsync.distributed import (
    Deliveries,
    LeaseLost,
    client,
    database,
    open_session,
    processes,
    saving,
    session,
    sqlite,
)
from structsync.distributed.log_file import LogFile
from structsync.distributed.processes import Process, is_alive, this_process
from tests.distributed.waiting import until_waiting

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="sqlite:// needs Linux"),
    pytest.mark.timeout(60),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "locks.db"


def opens(path: Path, **options: Any) -> Any:
    return open_session(f"sqlite://{path}", namespace="test", **options)


def query(path: Path, statement: str) -> list[tuple[Any, ...]]:
    with sqlite3.connect(path) as db:
        found = db.execute(statement).fetchall()
    db.close()
    return found


@pytest.mark.parametrize(
    ("url", "options", "problem"),
    [
        ("sqlite://relative/locks.db", {}, "three slashes and an absolute path"),
        ("sqlite:///", {}, "three slashes"),
        ("sqlite:relative.db", {}, "an absolute path"),
        ("sqlite:///tmp/x#1.db", {}, "no options; write %3F for"),
        ("sqlite:///tmp/x.db?mode=ro", {}, "no options; write %3F for"),
        ("sqlite://[::1/x.db", {}, "three slashes"),
        ("sqlite:///tmp/x\t.db", {}, "an invisible character; percent-encode it"),
        ("sqlite:///tmp/x\udc80.db", {}, "an invisible character; percent-encode it"),
        ("sqlite:///tmp/x%00.db", {}, "has no %00; leave it out"),
        ("sqlite:///tmp", {}, "/tmp is a folder"),
        ("sqlite:////no/such/folder/locks.db", {}, "there is no folder"),
        ("sqlite:///tmp/x.db", {"ttl": 3}, "has no leases"),
        ("sqlite:///tmp/x.db", {"deliveries": Deliveries()}, "memory:// only"),
    ],
)
async def test_a_file_is_refused_with_the_reason(url: str, options: Any, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        async with open_session(url, namespace="test", **options):
            pytest.fail("it was opened")


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("my%20locks.db", "my locks.db"),
        ("my locks.db", "my locks.db"),
        ("a%09b.db", "a\tb.db"),
        ("%ff.db", os.fsdecode(b"\xff.db")),
    ],
)
async def test_a_path_may_have_spaces_and_whatever_else_a_path_can(
    tmp_path: Path, written: str, name: str
) -> None:
    async with open_session(f"sqlite://{tmp_path}/{written}", namespace="test") as here:
        async with here.lock("lock"):
            assert (tmp_path / name).exists()


def content(path: Path) -> bytes:
    return path.read_bytes()


def begin_with(path: Path, data: bytes) -> None:
    path.write_bytes(data)


@pytest.mark.parametrize("asked", [0, 1, 2, 3])
def test_a_file_that_another_session_makes_while_it_is_looked_at_is_ours(
    path: Path, asked: int
) -> None:
    async def make() -> None:
        async with opens(path):
            pass

    class Slow:
        """A connection that a busy machine stops for a while when it has asked so often."""

        def __init__(self, db: sqlite3.Connection) -> None:
            self.db = db
            self.asked = 0

        def execute(self, statement: str) -> sqlite3.Cursor:
            if self.asked == asked:
                trio.run(make)
            self.asked += 1
            return self.db.execute(statement)

    with closing(database.connect(path, 0, "rwc")) as db:
        slow: Any = Slow(db)
        database.begin(slow, path)
        assert slow.asked > asked


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE sessions (id, data)",
        "PRAGMA user_version = 42",
        "PRAGMA application_id = 42",
    ],
)
async def test_a_database_of_another_program_is_refused_and_left_as_it_is(
    path: Path, statement: str
) -> None:
    query(path, statement)
    before = content(path)
    with pytest.raises(RuntimeError, match="of another program; give the sessions a file of their"):
        async with opens(path):
            pytest.fail("it was opened")
    assert content(path) == before


async def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(path: Path) -> None:
    begin_with(path, b"what it says " * 100)
    with pytest.raises(RuntimeError, match="is not a SQLite database"):
        async with opens(path):
            pytest.fail("it was opened")
    assert content(path) == b"what it says " * 100


async def test_a_file_that_cannot_be_written_is_refused(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opens(path):
        pass
    monkeypatch.setattr(database, "OPENING", 0)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(OSError, match="cannot be used: database is locked; it and its folder"):
            async with opens(path):
                pytest.fail("it was opened")


@pytest.mark.parametrize("by_renewal", [False, True])
async def test_a_file_that_is_deleted_ends_its_sessions_and_is_not_made_again(
    path: Path, monkeypatch: pytest.MonkeyPatch, by_renewal: bool
) -> None:
    """It is missed at a renewal, or when it is to be brought to the disk."""
    with pytest.raises(RuntimeError, match="was deleted or replaced while sessions used it"):
        async with opens(path) as here:
            async with here.lock("lock"):
                pass
            for one in path.parent.glob("*"):
                one.unlink()
            if not by_renewal:
                monkeypatch.setattr(LogFile, "renew", lambda *_: {})
                here._engine.full.set()
            await trio.sleep_forever()
    assert [*path.parent.glob("*")] == []


async def test_a_file_that_is_replaced_ends_its_sessions(path: Path) -> None:
    with pytest.raises(RuntimeError, match="was deleted or replaced while sessions used it"):
        async with opens(path):
            path.with_name("new.db").touch()
            path.with_name("new.db").rename(path)
            await trio.sleep_forever()


async def test_a_file_of_another_version_is_refused(path: Path) -> None:
    async with opens(path):
        query(path, "UPDATE about SET version = 99")
    with pytest.raises(RuntimeError, match="written in version 99, and this structsync speaks 1"):
        async with opens(path):
            pytest.fail("it was opened")


async def test_a_file_in_use_in_another_container_is_refused(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opens(path):
        monkeypatch.setattr(processes, "container", lambda: "pid:[1]")
        with pytest.raises(RuntimeError, match="in use in another container"):
            async with opens(path):
                pytest.fail("it was opened")


async def test_a_file_in_use_in_another_network_namespace_is_refused(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No hint and no call would arrive, although the processes can be seen."""
    async with opens(path):
        monkeypatch.setattr(processes, "network", lambda: "net:[1]")
        with pytest.raises(RuntimeError, match="in use in another container or network"):
            async with opens(path):
                pytest.fail("it was opened")


async def test_a_file_that_is_refused_is_so_with_the_sessions_that_cannot_be_seen(
    path: Path,
) -> None:
    async with opens(path):
        pass
    for pid in (17, 18):
        insert(path, this_process()._replace(pid=pid, container="pid:[1]", network="net:[2]"))
    seen = r"by session 2 of process 17 in pid:\[1\] and net:\[2\], session 3 of process 18 in"
    with pytest.raises(RuntimeError, match=f"{seen}.*nothing uses the file: delete it"):
        async with opens(path):
            pytest.fail("it was opened")


GONE = 2**22 - 1  # a number that no process has


@pytest.mark.parametrize(
    "left",
    [
        {"container": "pid:[1]", "started": "5 an earlier boot"},
        {"container": "pid:[1]", "network": "net:[1]", "started": "5 an earlier boot"},
        {"container": "pid:[1]"},  # it shares our network, and its address is free
        {"network": "net:[1]", "pid": GONE},
    ],
)
async def test_what_a_container_that_is_gone_has_left_keeps_no_session_out(
    path: Path, left: dict[str, Any]
) -> None:
    async with opens(path):
        pass
    insert(path, this_process()._replace(**left))
    async with opens(path) as here:
        await until_alone(here)


async def until_alone(session: Any) -> None:
    """Wait until a session is the only one of its file."""
    with trio.fail_after(20):
        while len(query(session._engine.file.path, "SELECT * FROM sessions")) > 1:  # noqa: ASYNC110 - nothing says so
            await trio.sleep(0.01)


async def test_elsewhere_than_on_linux_it_is_refused(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(RuntimeError, match="needs Linux"):
        async with opens(path):
            pytest.fail("it was opened")


# ==== Processes ====


def test_a_process_is_alive_until_it_has_ended() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        process = process_of(other)
        assert is_alive(process)
        assert not is_alive(process._replace(started="earlier"))
        other.kill()
        os.waitid(os.P_PID, other.pid, os.WEXITED | os.WNOWAIT)
        assert not is_alive(process)  # although its parent has not looked yet
    assert not is_alive(process)


async def test_a_process_that_is_watched_is_buried_when_it_dies(path: Path) -> None:
    command = [sys.executable, "-c", "input()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as other:  # noqa: ASYNC220 - it is short
        process = process_of(other)
        async with opens(path) as here:
            with listening(here, 2):
                insert(path, process)
                while process not in here._engine.watched:  # noqa: ASYNC110 - nothing says so
                    await trio.sleep(0.05)
                other.kill()
                await until_alone(here)
                while process in here._engine.watched:  # noqa: ASYNC110 - nor that it is forgotten
                    await trio.sleep(0.05)


def insert(path: Path, process: Process) -> None:
    """Open a session for another process, which knows nothing of it."""
    with sqlite3.connect(path) as db:
        columns = ", ".join(Process._fields)
        db.execute(f"INSERT INTO sessions ({columns}) VALUES (?, ?, ?, ?)", process)
    db.close()


def process_of(other: subprocess.Popen[Any]) -> Process:
    return this_process()._replace(pid=other.pid, started=processes._started(other.pid) or "")


def listening(session: Any, number: int) -> socket.socket:
    """Be heard where another session of that number would be."""
    receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    receiver.bind(f"{session._engine.file.address}{number}")
    return receiver


def test_a_process_that_is_hidden_from_us_is_alive_until_it_has_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """``/proc`` may be mounted so that processes of other users are not listed, or not readable."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        process = process_of(other)
        for error in (FileNotFoundError, PermissionError):
            hide(monkeypatch, other.pid, error)
            assert is_alive(process)
        with monkeypatch.context() as of_another_user:
            of_another_user.setattr(os, "kill", deny)
            assert is_alive(process)
        other.kill()
    assert not is_alive(process)


def deny(*_: Any) -> None:
    raise PermissionError


def hide(monkeypatch: pytest.MonkeyPatch, pid: int, error: type[OSError]) -> None:
    read = Path.read_text

    def fail(self: Path, *args: Any, **options: Any) -> str:
        if str(self).startswith(f"/proc/{pid}/"):
            raise error
        return read(self, *args, **options)

    monkeypatch.setattr(Path, "read_text", fail)


async def test_a_session_whose_process_runs_another_program_by_now_is_buried(path: Path) -> None:
    """Neither its number nor its start tells; its sockets do, which the new program does not have."""
    async with opens(path) as here:
        insert(path, this_process())
        await until_alone(here)


async def test_a_session_that_others_would_take_for_another_one_is_not_begun(path: Path) -> None:
    async with opens(path) as here:
        with listening(here, 2), pytest.raises(OSError, match="in use"):
            async with opens(path):
                pytest.fail("it was opened")
        assert query(path, "SELECT id FROM sessions") == [(1,)]


async def test_a_session_that_could_not_be_closed_is_ended_by_the_others(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "CLOSING", 0.05)
    async with opens(path) as here, trio.open_nursery() as nursery:

        async def hold(there: Any) -> None:
            with pytest.raises(LeaseLost):
                async with there.lock("lock"):
                    await trio.sleep_forever()

        async with opens(path) as there:
            nursery.start_soon(hold, there)
            await until_held(here)
            other = sqlite3.connect(path, isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
        other.execute("COMMIT")
        other.close()
        with trio.fail_after(20):
            async with here.lock("lock"):
                pass


async def until_held(session: Any) -> None:
    while not (await session.lock("lock").statistics()).holders:  # noqa: ASYNC110 - nothing says so
        await trio.sleep(0.001)


async def test_a_session_that_cannot_write_that_it_ends_is_closed_all_the_same(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as full:
        async with opens(path) as here:
            full.setattr(LogFile, "end", fail)
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        here._engine.file.db.execute("SELECT 1")
    async with opens(path) as there:
        await until_alone(there)


async def test_a_process_that_is_dead_when_it_is_watched_is_buried(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process dies after it was seen, before it is watched; what it left is cleared away."""
    dead, watch = LogFile.dead, sqlite.SQLiteEngine._watch

    async def die_first(self: sqlite.SQLiteEngine, process: Process) -> None:
        monkeypatch.setattr(LogFile, "dead", dead)
        await watch(self, process)

    monkeypatch.setattr(sqlite.SQLiteEngine, "_watch", die_first)
    monkeypatch.setattr(LogFile, "dead", lambda _: [])
    async with opens(path) as here:
        insert(path, this_process()._replace(pid=GONE))
        await until_alone(here)


# ==== Messages ====


async def test_garbage_on_the_socket_is_ignored(path: Path) -> None:
    async with opens(path) as here:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            for data in (b"", b"\xff\xfe", b"unknown", b"x" * 10_000):
                sender.sendto(data, f"{here._engine.file.address}{here._engine.file.number}")
        async with here.lock("lock"):
            pass


async def test_a_hint_to_no_session_is_no_error(path: Path) -> None:
    async with opens(path) as here:
        here._engine.hint(["session 999"], "lock")


async def test_a_hint_that_is_lost_is_made_up_for(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opens(path) as here, opens(path) as there, trio.open_nursery() as nursery:

        async def wait() -> None:
            async with there.lock("lock"):
                pass

        async with here.lock("lock"):
            nursery.start_soon(wait)
            await until_waiting(here.lock("lock"), 1)
            monkeypatch.setattr(sqlite.SQLiteEngine, "_send", lambda *_: None)


async def never(*_: Any) -> None:
    await trio.sleep_forever()


async def test_the_end_of_a_session_is_told_in_a_namespace_with_a_slash_also_by_one_of_another(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite.SQLiteEngine, "renew", never)
    granted = trio.Event()

    async def wait(here: Any) -> None:
        async with here.lock("lock"):
            granted.set()

    def opens_in(namespace: str) -> Any:
        return open_session(f"sqlite://{path}", namespace=namespace)

    async with opens_in("a/b") as here, opens_in("a/b") as there, opens_in("c") as third:
        async with trio.open_nursery() as nursery:
            with pytest.raises(LeaseLost):
                async with there.lock("lock"):
                    nursery.start_soon(wait, here)
                    await until_waiting(there.lock("lock"), 1)
                    await third._engine._bury([there._engine.file.number])
                    with trio.fail_after(20):
                        await granted.wait()


async def test_a_hint_about_a_long_name_comes_whole(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite.SQLiteEngine, "renew", never)
    name = "é" * 5000

    async def wait(there: Any) -> None:
        with trio.move_on_after(20) as in_time:
            async with there.lock(name):
                pass
        assert not in_time.cancel_called  # which would have it look again

    async with opens(path) as here, opens(path) as there, trio.open_nursery() as nursery:
        async with here.lock(name):
            nursery.start_soon(wait, there)
            await until_waiting(here.lock(name), 1)


# ==== The file ====


async def test_who_finds_the_file_locked_tries_again_and_the_loop_goes_on(path: Path) -> None:
    async with opens(path) as here:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        async with trio.open_nursery() as nursery:

            async def acquire() -> None:
                async with here.lock("lock"):
                    pass

            nursery.start_soon(acquire)
            for _ in range(20):
                await trio.sleep(0.001)
            other.execute("ROLLBACK")
        other.close()


async def test_an_operation_needs_no_thread_and_no_other_task(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: Any) -> None:
        pytest.fail("it has not been carried out at once")

    monkeypatch.setattr(sqlite.SQLiteEngine, "renew", never)  # it uses a thread
    async with opens(path) as here:
        async with here.lock("lock"):
            pass
        monkeypatch.setattr(sqlite.SQLiteEngine, "append", fail)
        with trio.testing.assert_checkpoints():
            async with here.lock("lock"):
                pass


async def test_an_operation_waits_while_a_thread_uses_the_connection(path: Path) -> None:
    async with opens(path) as here:
        lock = here.lock("lock")
        async with lock:
            pass
        async with here._engine.thread:
            assert not here._engine.append_soon("lock", [], 0, pytest.fail, {})
        async with lock:
            pass


async def test_what_was_written_is_brought_to_the_disk_in_a_thread_and_its_room_is_used_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "CHECKPOINT_AFTER", 20)
    wal = path.with_name(f"{path.name}-wal")
    threads: list[threading.Thread] = []
    checkpoint = LogFile.checkpoint

    def note(self: LogFile) -> None:
        threads.append(threading.current_thread())
        checkpoint(self)

    monkeypatch.setattr(LogFile, "checkpoint", note)
    async with opens(path) as here:

        async def write() -> None:
            for _ in range(10):
                async with here.lock("lock"):
                    pass
            while here._engine.full.is_set():  # noqa: ASYNC110 - no task says so
                await trio.sleep(0.001)

        for _ in range(10):
            await write()
        size = wal.stat().st_size
        for _ in range(20):
            await write()
        # Its room would be 3 times as much; one checkpoint or two may have been left to the next one.
        assert wal.stat().st_size < 2.5 * size
    assert len(threads) >= 30
    assert threading.main_thread() not in threads


@pytest.mark.parametrize("patience", [5, -1])
def test_a_new_file_that_others_open_too_is_waited_for(
    path: Path, monkeypatch: pytest.MonkeyPatch, patience: float
) -> None:
    refused: list[str] = []

    class Connection(sqlite3.Connection):
        def execute(self, statement: str, *parameters: Any) -> sqlite3.Cursor:
            if "journal_mode" in statement and not refused:
                refused.append(statement)
                raise sqlite3.OperationalError("database is locked")
            return super().execute(statement, *parameters)

    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Connection))
    monkeypatch.setattr(database, "OPENING", patience)
    file = LogFile(path)
    if patience < 0:
        with pytest.raises(sqlite3.OperationalError):
            file.open()
    else:
        file.open()
        file.close()
    assert refused


def test_a_write_after_a_checkpoint_need_not_wait_for_the_disk(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who begins the write-ahead log anew waits; so it is the session that has made the checkpoint."""
    here, there, begun = LogFile(path), LogFile(path), list[bytes]()

    def beginning() -> bytes:
        return path.with_name(f"{path.name}-wal").read_bytes()[16:24]  # a salt of its own

    class Connection(sqlite3.Connection):
        def execute(self, statement: str, *parameters: Any) -> sqlite3.Cursor:
            found = super().execute(statement, *parameters)
            if "wal_checkpoint(" in statement:
                there.append("log", [b"{}"], 0)  # in the middle
                begun.append(beginning())
            return found

    for file in (here, there):
        file.open()
        file.append("log", [b"{}"], 0)
    before = beginning()
    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Connection))
    here.checkpoint()
    assert begun == [before]
    here.checkpoint()
    for file in (here, there):
        file.close()


def test_a_session_that_had_read_all_appends_where_nothing_has_come_and_nothing_once_it_was_ended(
    path: Path,
) -> None:
    here, there = LogFile(path), LogFile(path)
    for file in (here, there):
        file.open()
    here.append("log", [], 0)
    there.append("log", [b"{1}"], 0)
    assert here.append_now("log", [b"{2}"], 1, 100) == (
        1,
        [b'["join","session 2",-1,[]]', b"{1}", b"{2}"],
        None,
        (),
        0,
    )
    assert here.append_now("log", [b"{3}"], 4, 100) == (4, [b"{3}"], None, (), 0)
    assert here.append_now("log", [b"{4}"], 5, 100) == (5, [b"{4}"], None, (), 0)
    assert here.append_now("another", [b"{5}"], 0, 100) is None  # in which it takes no part
    there.end([here.number])
    assert here.append_now("log", [b"{5}"], 6, 100) is None
    tail = there.append("log", [], 6)
    assert tail is not None
    assert [*tail.entries] == [b'["end","session 1",-1,[]]']
    for file in (here, there):
        file.close()


@pytest.mark.parametrize("longest", [0, 10_000])
async def test_a_checkpoint_that_others_keep_from_its_end_leaves_the_rest_to_the_next_one(
    path: Path, monkeypatch: pytest.MonkeyPatch, longest: int
) -> None:
    monkeypatch.setattr(saving, "LONGEST_WAL", longest)
    async with opens(path) as here:
        async with here.lock("lock"):
            pass
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN")
        before = other.execute("SELECT count(*) FROM entries").fetchone()
        async with here.lock("lock"):
            here._engine.file.checkpoint()
            assert other.execute("SELECT count(*) FROM entries").fetchone() == before
        other.close()
        here._engine.file.checkpoint()
        assert query(path, "PRAGMA wal_checkpoint")[0][1] == 1  # it has begun anew, with one page
        async with here.lock("lock"):
            pass


async def test_a_checkpoint_for_which_others_leave_no_room_is_left_out(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saving, "SAVING", 0)
    async with opens(path) as here:
        async with here.lock("lock"):
            pass
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        full = here._engine.full
        full.set()
        while here._engine.full is full:  # noqa: ASYNC110 - no task says so
            await trio.sleep(0.001)
        other.close()
        async with here.lock("lock"):
            pass


async def test_a_checkpoint_that_fails_ends_the_session_with_the_reason(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: LogFile) -> None:
        # in a thread beside that of the session
        with closing(database.connect(self.path, 1, "rw")) as db:
            db.execute("SELECT * FROM nowhere")

    monkeypatch.setattr(LogFile, "checkpoint", fail)
    with pytest.raises(OSError, match="cannot be used: no such table"):
        async with opens(path) as here:
            here._engine.full.set()
            await trio.sleep_forever()


async def test_a_log_that_cannot_be_read_ends_the_session_and_not_the_task_that_asks(
    path: Path,
) -> None:
    with pytest.raises(ValueError, match="not an entry of a log"):
        async with opens(path) as here:
            async with here.lock("lock"):
                pass
            client = here._clients["lock"]
            while client.is_busy or client.outbox:  # what is read meanwhile would move the position
                await trio.lowlevel.checkpoint()
            query(path, "UPDATE entries SET data = x'ff'")
            client.replica.position = 0
            with pytest.raises(LeaseLost):
                await here.lock("lock").__aenter__()


@pytest.mark.parametrize(
    ("code", "busy"),
    [
        (sqlite3.SQLITE_BUSY, True),
        (sqlite3.SQLITE_BUSY_RECOVERY, True),  # another process died while it wrote
        (sqlite3.SQLITE_BUSY_SNAPSHOT, True),
        (sqlite3.SQLITE_IOERR_FSYNC, False),
    ],
)
def test_who_is_in_the_way_may_be_busy_for_several_reasons(code: int, busy: bool) -> None:
    error = sqlite3.OperationalError()
    error.sqlite_errorcode = code
    assert database.is_busy(error) is busy


@pytest.mark.parametrize("table", ["entries", "sessions"])  # written by who asks; read in time
async def test_a_file_that_is_broken_ends_the_session_with_the_reason(
    path: Path, table: str
) -> None:
    with pytest.raises(OSError, match="cannot be used: no such table"):
        async with opens(path) as here:
            query(path, f"DROP TABLE {table}")
            with pytest.raises(LeaseLost):
                await here.lock("lock").__aenter__()
            await trio.sleep_forever()


async def test_a_disk_that_is_full_ends_the_session_with_what_has_to_be_done(path: Path) -> None:
    with pytest.raises(OSError, match="is full; it and its folder have to be writable, with room"):
        async with opens(path) as here:
            here._engine.file.db.execute("PRAGMA max_page_count = 1")
            with pytest.raises(LeaseLost):
                await here.lock("lock" * 1000).__aenter__()


async def test_who_cannot_read_while_another_process_repairs_the_file_tries_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others, tried = LogFile.others, list[str]()

    def refuse_first(self: LogFile) -> dict[int, Process]:
        tried.append("to read")
        if len(tried) == 1:
            raise busy()
        return others(self)

    monkeypatch.setattr(LogFile, "others", refuse_first)
    async with opens(path) as here:
        while len(tried) < 2:  # noqa: ASYNC110 - nothing says so
            await trio.sleep(0.001)
        async with here.lock("lock"):
            pass


def busy() -> sqlite3.OperationalError:
    """Return what SQLite says where another process died while it wrote."""
    error = sqlite3.OperationalError("database is locked")
    error.sqlite_errorcode = sqlite3.SQLITE_BUSY_RECOVERY
    return error


async def test_a_session_that_ends_while_it_finds_another_process_watches_it_no_more(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks, go_on = trio.Event(), threading.Event()
    token = trio.lowlevel.current_trio_token()

    def others(self: LogFile) -> dict[int, Process]:
        token.run_sync_soon(looks.set)
        go_on.wait(30)
        return {99: this_process()._replace(pid=os.getppid(), started="of another process")}

    async def let_it_go_on(engine: Any) -> None:
        while engine.nursery.child_tasks:  # noqa: ASYNC110 - no task says that the session has ended
            await trio.sleep(0.001)
        await wait_all_tasks_blocked()
        go_on.set()

    monkeypatch.setattr(LogFile, "dead", lambda self: [])
    monkeypatch.setattr(LogFile, "others", others)
    async with trio.open_nursery() as nursery, opens(path) as here:
        await looks.wait()
        nursery.start_soon(let_it_go_on, here._engine)


async def test_a_long_log_is_replaced_by_a_snapshot(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "COMPACT_AFTER", 10)
    async with opens(path) as here, opens(path) as there:
        semaphore = here.semaphore("db", 2)
        async with semaphore:
            while query(path, "SELECT snapshot IS NULL FROM logs") in ([], [(1,)]):
                async with there.semaphore("db", 2):
                    await semaphore.statistics()
            assert query(path, "SELECT count(*) < 60 FROM entries") == [(1,)]
            async with opens(path) as late:
                assert (await late.semaphore("db", 2).statistics()).value == 1


async def test_a_compaction_that_comes_too_late_is_left_out(path: Path) -> None:
    async with opens(path) as here:
        async with here.lock("lock"):
            await here._engine.compact("lock", 1, b"[]")
        assert query(path, "SELECT offered FROM logs") == [(None,)]


async def test_a_session_that_others_have_buried_is_over(path: Path) -> None:
    async with opens(path) as here:
        with pytest.raises(LeaseLost, match="another session has found no process that has"):
            async with here.lock("lock"):
                query(path, "DELETE FROM sessions")
                with pytest.raises(LeaseLost):
                    await here.lock("lock/other").__aenter__()


async def test_two_namespaces_of_a_file_know_nothing_of_each_other(path: Path) -> None:
    async with opens(path) as here, open_session(f"sqlite://{path}", namespace="more") as there:
        async with here.lock("lock"), there.lock("lock"):
            pass


async def test_a_message_to_what_is_no_session_is_known_to_be_lost(path: Path) -> None:
    async with opens(path) as here:
        assert not await here._engine.send("no task", b"hello")
        assert not await here._engine.send("session 99", b"hello")
