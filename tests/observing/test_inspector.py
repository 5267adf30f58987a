"""serve_inspector(): only the owner gets in, what he gets is bounded data, and no client disturbs the program."""

from __future__ import annotations

import json
import logging
import os
import socket
import stat
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

import structsync
from structsync import observe, serve_inspector, trace_waits
from structsync.observing import endpoint, inspected, inspector
from structsync.observing.inspected import Inspected

TOKEN = "a token of 23 characters"

unix = pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="there are no unix sockets here")


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder of our own with a short name: the path of a socket has at most a hundred characters."""
    with tempfile.TemporaryDirectory(prefix="i") as name:
        yield Path(name)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No pauses, and every look is a new one."""
    monkeypatch.setattr(inspector, "SECONDS_BETWEEN", 0)
    monkeypatch.setattr(inspected, "PARTS", 0)
    monkeypatch.setattr(inspected, "LEAST_SECONDS", 0)


class Asking:
    """A client of ours, in trio."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self.stream = stream
        self.rest = b""

    async def ask(self, **question: object) -> Any:
        await self.stream.send_all(json.dumps(question).encode() + b"\n")
        return json.loads(await self.line())

    async def line(self) -> bytes:
        while b"\n" not in self.rest:
            got = await self.stream.receive_some()
            if not got:
                return b""
            self.rest += got
        line, _, self.rest = self.rest.partition(b"\n")
        return line


@asynccontextmanager
async def asking(where: structsync.Inspector) -> AsyncIterator[Asking]:
    if where.path is not None:
        stream = await trio.open_unix_socket(where.path)
    else:
        stream = await trio.open_tcp_stream("127.0.0.1", where.port or 0)
    async with stream:
        yield Asking(stream)


async def hold(lock: Any, seconds: float = 999) -> None:
    async with lock:
        await trio.sleep(seconds)


def the(state: Any, title: str) -> Any:
    (one,) = [one for one in state["primitives"] if one["title"] == title]
    return one


# ==== what it tells ====


@unix
@pytest.mark.usefixtures("quick")
async def test_it_tells_who_holds_and_who_waits_and_for_how_long(folder: Path) -> None:
    lock = structsync.Lock(name="inspected")
    with trace_waits(), observe.metrics():
        async with serve_inspector(folder / "s") as where, trio.open_nursery() as nursery:
            for name in ("first", "second", "third"):
                nursery.start_soon(hold, lock, name=name)
                await trio.testing.wait_all_tasks_blocked()
            async with asking(where) as client:
                state = await client.ask(ask="state")
                one = the(state, "Lock 'inspected'")
                assert [each["name"] for each in one["holders"]] == ["first"]
                assert [each["name"] for each in one["waiters"]] == ["second", "third"]
                assert one["waiters"][0]["line"].startswith("test_inspector.py:")
                assert 0 <= one["waiters"][0]["for"] < 60
                assert (one["waiting"], one["granted"]) == (2, 1)
                assert one["queued"] >= 2
                assert one["exact"]
                assert 0 <= one["longest"] < 60
                assert ["second", "Lock 'inspected'", "first"] in state["edges"]
                assert state["tasks"] > 3
                task = await client.ask(ask="task", task=one["waiters"][0]["task"])
                assert task["task"] == "second"
                assert any(line.endswith(" in hold") for line in task["stack"])
            nursery.cancel_scope.cancel()


@unix
@pytest.mark.usefixtures("quick")
async def test_without_a_trace_a_wait_is_as_long_as_it_was_seen(folder: Path) -> None:
    semaphore = structsync.Semaphore(0, name="inspected")
    request = semaphore.request(7)
    async with serve_inspector(folder / "s") as where, asking(where) as client:
        first = the(await client.ask(ask="state"), "Semaphore 'inspected'")
        second = the(await client.ask(ask="state"), "Semaphore 'inspected'")
        assert (first["longest"], first["exact"], first["granted"]) == (0, False, None)
        assert second["longest"] > 0
        assert first["waiters"][0]["claim"] == "7"
        assert first["waiters"][0]["for"] is None
        request.withdraw()
        assert the(await client.ask(ask="state"), "Semaphore 'inspected'")["longest"] is None


@pytest.mark.usefixtures("quick")
async def test_a_trace_that_began_later_does_not_know_since_when() -> None:
    rwlock = structsync.RWLock(name="inspected")
    async with trio.open_nursery() as nursery:
        async with rwlock.writing():
            nursery.start_soon(read, rwlock, name="reader")
            await trio.testing.wait_all_tasks_blocked()
            with trace_waits():
                one = the(json.loads(Inspected().state()), "RWLock 'inspected'")
    assert (one["exact"], one["longest"]) == (False, 0)
    assert (one["waiters"][0]["claim"], one["waiters"][0]["for"]) == ("read", None)
    assert one["holders"][0]["for"] is None


@pytest.mark.usefixtures("quick")
async def test_a_task_has_one_name_wherever_it_holds_and_waits() -> None:
    one, other = structsync.Lock(name="one"), structsync.Lock(name="other")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(hold, other, name="worker")
        await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(hold_both, one, other, name="boss")
        await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(hold, one, name="worker")
        await trio.testing.wait_all_tasks_blocked()
        edges = json.loads(Inspected().state())["edges"]
        nursery.cancel_scope.cancel()
    (holder,) = [holder for _, what, holder in edges if what == "Lock 'other'"]
    (waiter,) = [waiter for waiter, what, _ in edges if what == "Lock 'one'"]
    assert {holder, waiter} == {"worker #1", "worker #2"}


@pytest.mark.usefixtures("quick")
async def test_who_holds_a_request_and_goes_on_waits_for_no_task() -> None:
    lock = structsync.Lock(name="inspected")
    async with lock:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(go_on_with_a_request, lock)
            await trio.testing.wait_all_tasks_blocked()
            state = json.loads(Inspected().state())
            nursery.cancel_scope.cancel()
    (waiter,) = the(state, "Lock 'inspected'")["waiters"]
    assert not waiter["parked"]
    assert not [edge for edge in state["edges"] if edge[1] == "Lock 'inspected'"]


async def go_on_with_a_request(lock: structsync.Lock) -> None:
    with lock.request():
        await trio.sleep_forever()


async def hold_both(outer: structsync.Lock, inner: structsync.Lock) -> None:
    async with outer:
        await hold(inner)


async def read(rwlock: structsync.RWLock) -> None:
    async with rwlock.reading():
        pass


async def test_a_task_that_was_not_named_cannot_be_asked_for() -> None:
    looks = Inspected()
    for number in (id(trio.lowlevel.current_task()), "1", None, True, [1]):
        assert json.loads(looks.task(number)) == {"task": None}


@pytest.mark.usefixtures("quick")
async def test_a_holder_that_is_no_task_has_no_number() -> None:
    limiter = structsync.CapacityLimiter(1)
    limiter.name = "inspected"
    await limiter.acquire_on_behalf_of("a borrower")
    one = the(json.loads(Inspected().state()), "CapacityLimiter 'inspected'")
    assert one["holders"] == [{"task": None, "name": "str", "units": 1, "for": None}]
    limiter.release_on_behalf_of("a borrower")


class Private:
    """Of the user's: what it is and has is no business of who looks, and its methods are not run."""

    def __repr__(self) -> str:
        raise AssertionError("this is code of the program")


class Gauge(structsync.Arbiter[int]):
    """A core of the user's, with a value of theirs."""

    state_fields = ("level",)

    def __init__(self) -> None:
        super().__init__()
        self.level = Private()

    def admits(self, claim: int) -> bool:
        return True

    def admit(self, claim: int) -> None:
        pass

    def discharge(self, claim: int) -> None:
        pass


class Till(structsync.Monitor):
    """A monitor of the user's, with a repr and a name of theirs."""

    @property
    def name(self) -> str | None:
        raise AssertionError("this is code of the program")

    @name.setter
    def name(self, name: str | None) -> None:
        raise AssertionError("this is code of the program")

    def _describe(self) -> str:
        raise AssertionError("this is code of the program")

    def __repr__(self) -> str:
        raise AssertionError("this is code of the program")


@pytest.mark.usefixtures("quick")
async def test_it_shows_no_value_and_runs_no_code_of_the_program() -> None:
    value = structsync.Value(Private(), name="session")
    gauge = structsync.Primitive(Gauge(), name="gauge")
    till = Till()
    drawer = till.condition(name="drawer")
    limiter = structsync.CapacityLimiter(2)
    limiter.name = "customers"
    borrowers = [Private(), Private()]
    for each in borrowers:
        limiter.acquire_on_behalf_of_nowait(each)
    state = json.loads(Inspected().state())
    assert the(state, "Value 'session'")["state"] == ""
    assert the(state, "Primitive 'gauge'")["state"] == ""
    assert the(state, f"Till at {id(till):#x}")["state"] == "free"
    assert the(state, "MonitorCondition 'drawer'")["state"] == "on Till"
    customers = the(state, "CapacityLimiter 'customers'")
    assert customers["state"] == "2/2"
    assert [each["name"] for each in customers["holders"]] == ["Private #1", "Private #2"]
    for each in borrowers:
        limiter.release_on_behalf_of(each)
    del value, gauge, drawer


class Touchy:
    """A borrower whose hash fails from some moment on."""

    is_touchy = False

    def __hash__(self) -> int:
        if self.is_touchy:
            raise OSError("not now")
        return 1


@pytest.mark.usefixtures("quick")
async def test_what_cannot_be_looked_at_says_so() -> None:
    touchy, limiter = Touchy(), structsync.CapacityLimiter(1)
    await limiter.acquire_on_behalf_of(touchy)
    touchy.is_touchy = True
    one = the(json.loads(Inspected().state()), "CapacityLimiter")
    assert one["state"] == "cannot be looked at: OSError"
    touchy.is_touchy = False
    limiter.release_on_behalf_of(touchy)


# ==== its size and its cost ====


@pytest.mark.usefixtures("quick")
async def test_an_answer_is_bounded_however_large_the_program_is() -> None:
    many = [structsync.Semaphore(0, name=f"{n} {'long ' * 1000}") for n in range(80)]
    requests = [one.request() for one in many for _ in range(25)]
    async with structsync.Lock():
        answer = Inspected().state()
    state = json.loads(answer)
    assert len(answer) < 1_000_000
    assert len(state["primitives"]) == inspected.MOST_PRIMITIVES
    assert state["left_out"] >= 80 - inspected.MOST_PRIMITIVES
    assert max(len(one["waiters"]) for one in state["primitives"]) == inspected.MOST_OF_EACH
    assert max(len(one["title"]) for one in state["primitives"]) <= inspected.MOST_TEXT
    assert min(len(one["waiters"]) for one in state["primitives"]) == inspected.FEW
    assert len(state["edges"]) <= inspected.MOST_EDGES
    for one in requests:
        one.withdraw()


@pytest.mark.usefixtures("quick")
async def test_of_many_primitives_those_of_a_deadlock_are_there_however_short_their_queues() -> (
    None
):
    many = [structsync.Semaphore(0) for _ in range(80)]
    requests = [one.request() for one in many for _ in range(5)]
    one, other = structsync.Lock(name="one"), structsync.Lock(name="other")

    async def crosses(outer: structsync.Lock, inner: structsync.Lock) -> None:
        async with outer:
            await trio.testing.wait_all_tasks_blocked()
            async with inner:
                pass

    async with trio.open_nursery() as nursery:
        nursery.start_soon(crosses, one, other, name="left")
        nursery.start_soon(crosses, other, one, name="right")
        await trio.testing.wait_all_tasks_blocked(0.001)
        state = json.loads(Inspected().state())
        nursery.cancel_scope.cancel()
    assert len(state["primitives"]) == inspected.MOST_PRIMITIVES
    assert ["left", "Lock 'other'", "right"] in state["edges"]
    assert ["right", "Lock 'one'", "left"] in state["edges"]
    for request in requests:
        request.withdraw()


async def test_an_answer_is_used_again_until_its_share_of_the_time_has_passed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    looks = Inspected()
    look = looks._look

    def takes_two_seconds() -> Any:
        now[0] += 2
        return look()

    monkeypatch.setattr(looks, "_look", takes_two_seconds)
    first = looks.state()
    now[0] += 2 * inspected.PARTS - 1
    assert looks.state() is first
    now[0] += 1
    assert looks.state() is not first


async def test_the_search_for_primitives_is_used_again_too() -> None:
    looks, lock = Inspected(), structsync.Lock(name="inspected")
    assert lock in looks._primitives()
    looks._search_at = float("inf")
    later = structsync.Lock()
    assert lock in looks._primitives()
    assert later not in looks._primitives()


# ==== who gets in ====


@unix
async def test_the_socket_is_for_its_owner_alone_and_goes_with_the_block(folder: Path) -> None:
    before = os.umask(0)
    try:
        async with serve_inspector(folder / "s"):
            assert stat.S_IMODE(os.stat(folder / "s").st_mode) == 0o600
    finally:
        os.umask(before)
    assert not (folder / "s").exists()


@unix
@pytest.mark.parametrize("mode", [0o770, 0o777, 0o1777])
async def test_a_folder_that_others_can_write_is_refused(folder: Path, mode: int) -> None:
    os.chmod(folder, mode)
    with pytest.raises(PermissionError, match="can be written by others: choose another folder"):
        async with serve_inspector(folder / "s"):
            pass
    assert os.listdir(folder) == []


@unix
async def test_a_folder_in_one_that_others_can_write_is_refused(folder: Path) -> None:
    os.mkdir(folder / "inner", 0o700)
    os.chmod(folder, 0o777)
    with pytest.raises(PermissionError, match=f"{folder} can be written by others"):
        async with serve_inspector(folder / "inner" / "s"):
            pass


@unix
async def test_a_folder_of_another_user_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = os.stat_result([0o40700, 1, 1, 1, 12345, 0, 0, 0, 0, 0])
    with monkeypatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: 54321)
        patch.setattr(os, "stat", lambda *_, **__: found)
        with pytest.raises(PermissionError, match="belongs to another user"):
            endpoint.check_folder(folder)


@unix
async def test_the_socket_of_a_program_that_has_ended_is_replaced(folder: Path) -> None:
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(folder / "s"))
    left.close()
    async with serve_inspector(folder / "s") as where, asking(where) as client:
        assert "primitives" in await client.ask(ask="state")


@unix
async def test_where_a_program_listens_or_a_file_is_nothing_is_replaced(folder: Path) -> None:
    (folder / "file").write_text("mine")
    with pytest.raises(FileExistsError):
        async with serve_inspector(folder / "file"):
            pass
    assert (folder / "file").read_text() == "mine"
    async with serve_inspector(folder / "s") as where:
        with pytest.raises(FileExistsError, match="a program listens there already"):
            async with serve_inspector(folder / "s"):
                pass
        async with asking(where) as client:
            assert "primitives" in await client.ask(ask="state")


@unix
async def test_a_socket_that_another_program_has_put_there_is_left(folder: Path) -> None:
    async with serve_inspector(folder / "s"):
        (folder / "s").unlink()
        (folder / "s").write_text("another")
    assert (folder / "s").read_text() == "another"
    async with serve_inspector(folder / "t"):
        (folder / "t").unlink()


@unix
async def test_a_path_that_cannot_be_bound_is_an_error_at_once(folder: Path) -> None:
    with pytest.raises(OSError, match="too long"):
        async with serve_inspector(folder / ("s" * 200)):
            pass


async def test_where_there_are_no_unix_sockets_it_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delattr(socket, "AF_UNIX", raising=False)
    with pytest.raises(RuntimeError, match="give port= and token= instead"):
        async with serve_inspector(tmp_path / "s"):
            pass


async def test_a_port_is_on_loopback_and_asks_for_the_token() -> None:
    async with serve_inspector(port=0, token=TOKEN) as where:
        for given in ({}, {"token": TOKEN[:-1]}, {"token": 7}, {"token": "ä" * 23}):
            async with asking(where) as client:
                await client.stream.send_all(json.dumps({"ask": "state", **given}).encode() + b"\n")
                assert await client.line() == b""
        async with asking(where) as client:
            assert "primitives" in await client.ask(ask="state", token=TOKEN)
            assert "primitives" in await client.ask(ask="state"), "it is known by now"
        assert where.path is None


async def test_no_other_machine_can_connect_to_a_port() -> None:
    listener = await endpoint.listen_on_loopback(0, TOKEN)
    async with listener:
        assert listener.socket.getsockname()[0] == "127.0.0.1"


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({}, ValueError, "either a path or port="),
        ({"path": "s", "port": 1}, ValueError, "either a path or port="),
        ({"path": "s", "token": TOKEN}, ValueError, "a token is for port="),
        ({"port": "80", "token": TOKEN}, TypeError, "port must be an int"),
        ({"port": -1, "token": TOKEN}, ValueError, "port must be >= 0"),
        ({"port": 70_000, "token": TOKEN}, ValueError, "port must be <= 65535, not 70000"),
        ({"port": 0}, TypeError, "needs token="),
        ({"port": 0, "token": "short"}, ValueError, "at least 16 printable"),
        ({"port": 0, "token": "ä" * 20}, ValueError, "at least 16 printable"),
    ],
)
async def test_anything_else_is_refused(arguments: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        async with serve_inspector(**arguments):
            pass


# ==== hostile clients ====


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    "garbage",
    [
        b"\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"\xff\xfe\x00\n",
        b"[" * 1000 + b"\n",
        b'{"ask": "task", "task": 1e999}\n',
        b'{"ask": "' + b"x" * 900 + b'"}\n',
        b"[1]\n",
        b"x" * 5000,
        b"x" * 5000 + b"\n",
        b'{"ask": "quit"}\n' * 50,
    ],
)
async def test_garbage_is_not_answered_and_disturbs_no_session(garbage: bytes) -> None:
    async with serve_inspector(port=0, token=TOKEN) as where:
        async with asking(where) as client, asking(where) as hostile:
            await client.ask(ask="state", token=TOKEN)
            await hostile.stream.send_all(b'{"ask":"state","token":"%s"}\n' % TOKEN.encode())
            await hostile.line()
            try:
                await hostile.stream.send_all(garbage)
                with trio.move_on_after(0.05):
                    while await hostile.line():
                        pass
            except trio.BrokenResourceError:
                pass
            assert "primitives" in await client.ask(ask="state")


async def test_a_question_that_is_too_long_is_dropped_before_it_ends() -> None:
    async with serve_inspector(port=0, token=TOKEN) as where, asking(where) as client:
        await client.stream.send_all(b"x" * (inspector.MOST_QUESTION + 1))
        with trio.fail_after(20):
            assert await client.line() == b""


async def test_who_asks_nothing_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspector, "SECONDS_TO_ASK", 0.01)
    async with serve_inspector(port=0, token=TOKEN) as where, asking(where) as client:
        assert await client.line() == b""


async def test_who_does_not_read_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspector, "SECONDS_TO_TAKE", 0.05)
    monkeypatch.setattr(Inspected, "state", lambda self: b"x" * 50_000_000)
    async with serve_inspector(port=0, token=TOKEN) as where, asking(where) as client:
        await client.stream.send_all(b'{"ask":"state","token":"%s"}\n' % TOKEN.encode())
        await trio.sleep(0.3)
        got = 0
        with pytest.raises(trio.BrokenResourceError):
            while True:
                part = await client.stream.receive_some()
                if not part:
                    raise trio.BrokenResourceError
                got += len(part)
        assert got < 50_000_000


async def test_more_connections_than_there_may_be_are_closed() -> None:
    async with serve_inspector(port=0, token=TOKEN) as where:
        first = [await trio.open_tcp_stream("127.0.0.1", where.port or 0) for _ in range(20)]
        answered = 0
        for stream in first:
            try:
                answered += bool(await _ask(stream))
            except trio.BrokenResourceError:
                pass
        assert answered == inspector.MOST_CONNECTIONS
        for stream in first:
            await stream.aclose()
        with trio.fail_after(5):
            while True:
                stream = await trio.open_tcp_stream("127.0.0.1", where.port or 0)
                async with stream:
                    if await _ask(stream):
                        break


async def _ask(stream: trio.SocketStream) -> bytes:
    await stream.send_all(b'{"ask":"state","token":"%s"}\n' % TOKEN.encode())
    return bytes(await stream.receive_some())


async def test_an_error_of_its_own_is_logged_and_the_program_goes_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(self: Inspected) -> bytes:
        raise ZeroDivisionError

    monkeypatch.setattr(Inspected, "state", fails)
    with caplog.at_level(logging.CRITICAL, "structsync"):
        async with serve_inspector(port=0, token=TOKEN) as where, asking(where) as client:
            await client.stream.send_all(b'{"ask":"state","token":"%s"}\n' % TOKEN.encode())
            assert await client.line() == b""
            async with asking(where) as again:
                await again.ask(ask="task", token=TOKEN)


async def test_a_server_that_fails_ends_alone(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fails(self: Any, nursery: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(inspector._Server, "_accept", fails)
    with caplog.at_level(logging.CRITICAL, "structsync"):
        async with serve_inspector(port=0, token=TOKEN):
            await trio.testing.wait_all_tasks_blocked()


async def test_when_no_file_can_be_opened_it_tries_again(monkeypatch: pytest.MonkeyPatch) -> None:
    accept, calls = trio.SocketListener.accept, []

    async def fails_once(self: Any) -> Any:
        calls.append(1)
        if len(calls) == 1:
            raise OSError("too many open files")
        return await accept(self)

    monkeypatch.setattr(trio.SocketListener, "accept", fails_once)
    monkeypatch.setattr(inspector, "SECONDS_AFTER_ERROR", 0)
    async with serve_inspector(port=0, token=TOKEN) as where, asking(where) as client:
        assert "primitives" in await client.ask(ask="state", token=TOKEN)


async def test_an_error_of_the_block_leaves_it_as_it_is() -> None:
    with pytest.raises(ZeroDivisionError):
        async with serve_inspector(port=0, token=TOKEN):
            raise ZeroDivisionError


async def test_nothing_runs_when_no_client_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(Inspected, "state", fails)
    async with serve_inspector(port=0, token=TOKEN):
        async with structsync.Lock():
            await trio.testing.wait_all_tasks_blocked()


def test_it_can_be_imported_where_there_are_no_terminals_and_unix_sockets() -> None:
    for name in ("termios", "tty", "fcntl", "pwd", "resource"):
        for module in (endpoint, inspected, inspector):
            assert not hasattr(module, name)
    assert "termios" not in vars(sys.modules["structsync"])
