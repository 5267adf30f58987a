"""structsync top: what each page shows at two widths, which key leads where, and a real terminal."""

from __future__ import annotations

import io
import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from rich.console import Console

from structsync import cli
from structsync.observing import top, top_client
from structsync.observing.top_client import Client, NoAnswer
from structsync.observing.top_screen import Screen, _seconds

pytestmark = pytest.mark.skipif(
    not hasattr(socket, "AF_UNIX"), reason="there are no unix sockets here"
)


def primitive(number: int, **about: Any) -> dict[str, Any]:
    plain = {"id": number, "title": f"Lock '{number}'", "state": "unlocked", "waiting": 0}
    numbers = {"queued": 0, "granted": None, "p99": None, "longest": None, "exact": True}
    return {**plain, **numbers, "holders": [], "waiters": [], **about}


def person(number: int, name: str, **about: Any) -> dict[str, Any]:
    return {"task": number, "name": name, "units": 1, "for": None, "line": None, **about}


LEDGER = primitive(
    1,
    title="Lock 'ledger'",
    state="locked by clerk",
    waiting=25,
    granted=10,
    p99=0.25,
    longest=3.25,
    holders=[person(11, "clerk", **{"for": 3.5}, line="shop.py:7 in pay")],
    waiters=[person(12, "auditor", claim="", **{"for": 3.25}, line="shop.py:9 in audit")],
)
DOORS = primitive(
    2,
    title="Semaphore 'doors'",
    queued=5,
    longest=120,
    exact=False,
    waiting=1,
    holders=[person(21, "a", units=2), person(22, "b")],
    waiters=[person(23, "c", claim="3")],
)


def state(*primitives: dict[str, Any], at: float = 1, **about: Any) -> dict[str, Any]:
    edges = [("auditor", "Lock 'ledger'", "clerk"), ("manager", "Lock 'ledger'", "clerk")]
    plain = {"program": "shop.py", "pid": 7, "at": at, "tasks": 10_000, "left_out": 0}
    return {**plain, "edges": edges, "primitives": [*primitives], **about}


class Answers:
    """A program that answers what a test says."""

    def __init__(self, *states: dict[str, Any]) -> None:
        self.states = [*states]
        self.asked: list[dict[str, Any]] = []
        self.stack: Any = ["shop.py:1 in main", "shop.py:9 in audit"]

    def __call__(self, **question: Any) -> dict[str, Any]:
        self.asked.append(question)
        if question["ask"] == "task":
            return {"task": "auditor", "stack": self.stack}
        return self.states.pop(0) if len(self.states) > 1 else self.states[0]


def shown(screen: Screen, width: int = 100, height: int = 24) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=width, color_system=None).print(screen.render(height))
    lines = out.getvalue().splitlines()
    assert all(len(line) <= width for line in lines)
    return [line.rstrip() for line in lines]


def opened(*states: dict[str, Any]) -> tuple[Screen, Answers]:
    answers = Answers(*states)
    screen = Screen(answers)
    screen.refresh()
    return screen, answers


# ==== the pages ====


@pytest.mark.parametrize("width", [80, 140])
def test_the_first_page_has_a_line_for_each_primitive(width: int) -> None:
    screen, _ = opened(state(LEDGER, DOORS, left_out=3))
    heading, columns, ledger, doors, keys = shown(screen, width)
    assert heading == "shop.py (pid 7)   10,000 tasks   2 primitives, 3 not shown"
    assert columns.split() == [
        *["primitive", "state", "waiting", "per", "s", "longest", "p99", "held", "by"]
    ]
    assert ledger.split()[-4:] == ["25", "3.2", "s", "250", "ms", "clerk"][-4:]
    assert "Lock 'ledger'" in ledger
    assert ">120 s" in doors
    assert "a and 1 more" in doors
    assert keys.startswith("up/down j/k")


def test_rates_are_per_second_and_of_what_was_granted_or_had_to_queue() -> None:
    later = [{**LEDGER, "granted": 11}, {**DOORS, "queued": 105}, primitive(3)]
    screen, _ = opened(state(LEDGER, DOORS), state(*later, at=3), state(*later, at=3))
    assert " 50 " not in shown(screen)[3]
    screen.refresh()
    assert " 0.5 " in shown(screen)[2]
    assert " 50 " in shown(screen)[3]
    screen.refresh()
    assert " 50 " in shown(screen)[3], "an answer that is used again says nothing new"


def test_what_was_counted_in_another_way_before_has_no_rate_yet() -> None:
    queued, granted = {**LEDGER, "queued": 900, "granted": None}, {**LEDGER, "granted": 0}
    states = (state(one, at=at) for at, one in enumerate((queued, granted, granted, queued)))
    screen, _ = opened(*states)
    for _ in range(3):
        screen.refresh()
        assert screen._rates.get(1, 0) == 0


def test_the_cursor_stays_on_its_primitive_when_the_order_changes() -> None:
    screen, _ = opened(state(LEDGER, DOORS), state(DOORS, LEDGER, at=2), state(LEDGER, at=3))
    for key in ("up", "down", "j", "j", "k", "j"):
        assert screen.press(key)
    assert screen.chosen["primitives"] == 1
    screen.refresh()
    assert screen.chosen["primitives"] == 0
    screen.refresh()
    screen.press("enter")
    assert shown(screen)[1].startswith("Lock 'ledger'")


def test_of_many_primitives_those_round_the_cursor_are_shown() -> None:
    screen, _ = opened(state(*(primitive(n) for n in range(30))))
    for _ in range(20):
        screen.press("j")
    lines = shown(screen, height=15)
    assert len(lines) == 13
    assert "Lock '20'" in "".join(lines)
    assert "Lock '0'" not in "".join(lines)


@pytest.mark.parametrize("width", [80, 140])
def test_enter_shows_who_holds_and_who_waits_and_then_where_a_task_stands(width: int) -> None:
    screen, answers = opened(state(LEDGER))
    screen.press("enter")
    _heading, title, _, holder, waiter, _ = shown(screen, width)
    assert title == "Lock 'ledger': locked by clerk, 24 more wait"
    assert holder.startswith("clerk ")
    assert "holds" in holder
    assert "3.5 s  shop.py:7 in pay" in holder
    assert "waits, 1." in waiter
    screen.press("j")
    screen.press("enter")
    assert answers.asked[-1] == {"ask": "task", "task": 12}
    assert shown(screen, width)[1:4] == [
        "auditor, outermost first",
        "shop.py:1 in main",
        "shop.py:9 in audit",
    ]
    for page in ("tasks", "primitives", "primitives"):
        screen.press("esc")
        assert screen.page == page


def test_claims_of_several_permits_are_shown() -> None:
    screen, _ = opened(state(DOORS))
    screen.press("enter")
    first, second, third = shown(screen)[3:6]
    assert first.split() == ["a", "holds", "2"]
    assert second.split() == ["b", "holds"]
    assert third.split() == ["c", "waits,", "1.", "3"]


def test_w_shows_who_waits_for_whom_and_scrolls() -> None:
    screen, _ = opened(state(LEDGER))
    for key in ("w", "w"):
        screen.press(key)
    assert shown(screen)[1:4] == [
        "which task waits for which",
        "auditor waits for",
        "  clerk, because of Lock 'ledger'",
    ]
    for _ in range(3):
        screen.press("j")
    assert shown(screen, height=6)[2] == "  clerk, because of Lock 'ledger'"
    screen.press("enter")
    assert screen.page == "graph"


def test_what_is_gone_says_so() -> None:
    screen, answers = opened(state(LEDGER), state(LEDGER), state())
    screen.press("enter")
    answers.stack = []
    screen.press("enter")
    assert "it has ended, or went on" in shown(screen)
    screen.refresh()
    screen.press("esc")
    assert "this primitive is gone" in shown(screen)
    screen.press("enter")
    screen.press("esc")
    screen.press("enter")
    assert screen.page == "primitives"


def test_before_the_first_answer_there_is_nothing_and_a_problem_is_said() -> None:
    screen = Screen(Answers())
    screen.problem = "no answer"
    assert shown(screen)[0] == "structsync top: no answer"
    for key in ("j", "enter", "w"):
        screen.press(key)
    assert not screen.press("q")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 us"), (0.0002, "200 us"), (0.25, "250 ms"), (99.9, "99.9 s"), (12345, "12,345 s")],
)
def test_durations_are_short(seconds: float, text: str) -> None:
    assert _seconds(seconds) == text


# ==== the client ====


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="t") as name:
        yield Path(name)


def serve(server: socket.socket, *answers: bytes | None) -> threading.Thread:
    """Answer one question after the other; None is to be silent, and nothing to close."""

    def run() -> None:
        connection, _ = server.accept()
        with connection:
            for answer in answers:
                connection.recv(1000)
                if answer is not None:
                    connection.sendall(answer)
            if answers:  # let the other one close it
                connection.recv(1000)
            else:
                connection.recv(1000)
                connection.shutdown(socket.SHUT_RDWR)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


@pytest.mark.parametrize(
    ("answers", "problem"),
    [
        ([b"not json\n"], "not connected: "),
        ([b"[1]\n"], "what answers is not an inspector"),
        ([b"x" * 300], "what answers is not an inspector"),
        ([], "not connected: "),
        ([None], "no answer: the program is busy, or stopped"),
    ],
)
def test_what_does_not_answer_well_is_a_problem_and_no_crash(
    answers: list[Any], problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(top_client, "MOST_ANSWER", 200)
    monkeypatch.setattr(top_client, "SECONDS", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = serve(server, *answers)
        client = Client(None, server.getsockname()[1], "a token")
        with pytest.raises(NoAnswer, match=problem):
            client.ask(ask="state")
        thread.join(5)
        assert not thread.is_alive()


def test_an_answer_may_come_in_pieces_and_the_token_goes_with_the_question() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        serve(server, b'{"a": 1}\n{"a"', b": 2}\n")
        client = Client(None, server.getsockname()[1], "a token")
        assert client.ask(ask="state") == {"a": 1}
        assert client.ask(ask="state") == {"a": 2}
        client.close()


def test_a_connection_that_was_closed_meanwhile_is_opened_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        client = Client(None, server.getsockname()[1], "a token")
        for answer in (b'{"a": 1}\n', b'{"a": 2}\n'):
            thread = threading.Thread(target=answer_once, args=(server, answer), daemon=True)
            thread.start()
            assert json.dumps(client.ask(ask="state")).encode() + b"\n" == answer
            thread.join(5)
    with pytest.raises(NoAnswer, match="not connected"):
        client.ask(ask="state")


def answer_once(server: socket.socket, answer: bytes) -> None:
    """Close the connection after an answer, as an inspector does that was not asked for a minute."""
    connection, _ = server.accept()
    with connection:
        connection.recv(1000)
        connection.sendall(answer)


def test_without_a_listener_it_says_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NoAnswer, match="not connected"):
        Client(folder / "s").ask(ask="state")
    monkeypatch.delattr(socket, "AF_UNIX")
    with pytest.raises(NoAnswer, match="there are no unix sockets here; give --port"):
        Client(folder / "s").ask(ask="state")


# ==== the command ====


@pytest.fixture(scope="module")
def program() -> Iterator[Path]:
    """The socket of a program in another process."""
    yield from running(0)


def running(busy: int) -> Iterator[Path]:
    """Run the program with so many busy tasks, and yield its socket."""
    source = Path(__file__).parent / "program_to_look_at.py"
    with tempfile.TemporaryDirectory(prefix="p") as name:
        path = Path(name) / "s"
        with subprocess.Popen([sys.executable, source, path, str(busy)]) as ran:
            end = time.monotonic() + 60
            while not path.exists() and ran.poll() is None and time.monotonic() < end:
                time.sleep(0.02)
            try:
                yield path
            finally:
                ran.terminate()


def run(*arguments: object) -> Any:
    return CliRunner().invoke(cli.main, ["top", *map(str, arguments)])


def test_once_prints_the_primitives_of_a_program_in_another_process(program: Path) -> None:
    ran = run(program, "--once")
    assert ran.exit_code == 0, ran.output
    assert "program_to_look_at.py (pid " in ran.output
    assert "Lock 'ledger'" in ran.output
    assert "Semaphore 'doors'" in ran.output
    ran = run(program)
    assert "top needs a terminal; --once prints into a file or a pipe" in ran.output


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "give either PATH or --port"),
        (["s", "--port", "1"], "give either PATH or --port"),
        (["no/such/socket"], "Error: not connected: no/such/socket: "),
        (["--port", "1"], "Error: not connected: port 1: "),
    ],
)
def test_wrong_arguments_are_errors_of_the_command(arguments: list[str], text: str) -> None:
    ran = run(*arguments)
    assert ran.exit_code
    assert text in ran.output


class Pressed:
    """Keys that a test presses; in between the program is asked anew."""

    def __init__(self, *keys: str | None) -> None:
        self.keys = [*keys]

    def read(self, seconds: float) -> str | None:
        return self.keys.pop(0)


def watched(answers: Any, *keys: str | None) -> Screen:
    screen = Screen(answers)
    console = Console(file=io.StringIO(), width=80, height=20, force_terminal=True)
    top.watch(screen, console, Pressed(*keys), 0)
    return screen


def test_it_asks_again_and_again_until_it_is_left() -> None:
    answers = Answers(state(LEDGER))
    assert watched(answers, None, "enter", "enter", None, "q").page == "stack"
    assert len(answers.asked) > 5


def test_between_two_questions_keys_are_answered_from_what_is_known() -> None:
    answers = Answers(state(LEDGER, DOORS))
    screen = Screen(answers)
    console = Console(file=io.StringIO(), width=80, height=20, force_terminal=True)
    top.watch(screen, console, Pressed("j", "w", "q"), 1_000)
    assert (screen.page, len(answers.asked)) == ("graph", 1)


def test_a_program_that_does_not_answer_is_said_and_asked_again() -> None:
    def fails(**_: object) -> Any:
        raise NoAnswer("no answer")

    assert watched(fails, None, "q").problem == "no answer"
    answers = Answers(state(LEDGER))
    screen = Screen(answers)
    screen.refresh()
    screen.press("enter")
    screen.ask = fails
    assert top.press(screen, "enter")
    assert screen.problem == "no answer"


@pytest.mark.parametrize("answer", [{}, {"at": "x"}, {"at": 1, "primitives": [1]}])
def test_an_answer_of_another_kind_is_said(answer: Any) -> None:
    screen, _ = opened(state(LEDGER))
    screen.ask = lambda **_: answer
    top.refresh(screen)
    assert screen.problem == "what answers is not an inspector of this version"


def test_keys_of_a_terminal_have_names() -> None:
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    try:
        with top.keys_of_terminal(theirs) as keys:
            assert keys.read(0) is None
            for sent, key in [
                (b"\x1b[A", "up"),
                (b"\x1b[B", "down"),
                (b"\n", "enter"),
                (b"\x1b", "esc"),
                (b"\x7f", "esc"),
                (b"j", "j"),
                (b"\xff", "�"),
            ]:
                os.write(ours, sent)
                assert keys.read(5) == key
            os.write(ours, b"k\n\x1b[Bq")
            assert [keys.read(5) for _ in range(4)] == ["k", "enter", "down", "q"]
    finally:
        os.close(ours)
        os.close(theirs)


def test_where_there_are_no_such_terminals_it_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "termios", None)
    with pytest.raises(click.UsageError, match="--once prints the primitives"):
        top.keys_of_terminal(0).__enter__()


# ==== a real terminal ====


class Terminal:
    """A terminal of tmux, with a server of its own."""

    def __init__(self, folder: Path, width: int, *command: object) -> None:
        tmux = shutil.which("tmux")
        if tmux is None:
            message = "tmux is not installed, so that nothing was seen in a real terminal"
            if os.environ.get("CI") == "true":
                pytest.fail(f"{message} (no skip accepted where CI=true)", pytrace=False)
            pytest.skip(message)
        self._tmux = [tmux, "-S", str(folder / "tmux"), "-f", "/dev/null"]
        size = ["-x", str(width), "-y", "20"]
        self.run("new-session", "-d", *size, *map(str, command), ";", "set", "remain-on-exit", "on")

    def run(self, *words: str) -> str:
        # Its own copy of the variables: into the one of the process, readline writes the size of a terminal.
        env = {
            name: value for name, value in os.environ.items() if name not in ("LINES", "COLUMNS")
        }
        return subprocess.run(
            [*self._tmux, *words], check=True, capture_output=True, text=True, env=env
        ).stdout

    def press(self, *keys: str) -> None:
        self.run("send-keys", *keys)

    def wait_for(self, text: str) -> list[str]:
        """Return the lines of the screen once this is on it."""
        end = time.monotonic() + 60
        screen = self.run("capture-pane", "-p")
        while text not in screen:
            assert time.monotonic() < end, f"{text!r} does not appear:\n{screen}"
            time.sleep(0.05)
            screen = self.run("capture-pane", "-p")
        return screen.splitlines()


@pytest.mark.parametrize("width", [80, 140])
def test_in_a_real_terminal_the_keys_lead_through_the_pages(
    width: int, program: Path, folder: Path
) -> None:
    terminal = Terminal(folder, width, *looking_at(program))
    try:
        lines = terminal.wait_for("program_to_look_at.py (pid ")
        assert "(pid " in lines[0], lines
        assert max(map(len, lines)) <= width
        terminal.wait_for("clerk")
        terminal.press("w")
        assert "auditor waits for" in terminal.wait_for("manager waits for")
        terminal.press("Escape")
        terminal.wait_for("enter: its tasks")
        terminal.press("k", "k", "Enter")
        terminal.wait_for("waits, 2.")
        terminal.press("Down", "Enter")
        lines = terminal.wait_for("outermost first")
        assert lines[1] == "auditor, outermost first"
        terminal.wait_for("in hold_the_ledger")
        terminal.press("q")
        terminal.wait_for("ended with 0")
    finally:
        terminal.run("kill-server")


@pytest.fixture(scope="module")
def busy_program() -> Iterator[Path]:
    yield from running(10_000)


@pytest.mark.slow
def test_so_they_do_for_a_program_under_load_of_ten_thousand_tasks(
    busy_program: Path, folder: Path
) -> None:
    terminal = Terminal(folder, 120, *looking_at(busy_program))
    try:
        terminal.wait_for("10,010 tasks   50 primitives, 52 not shown")
        terminal.wait_for("Semaphore 'shelf ")
        terminal.press("w")
        terminal.wait_for("no task waits for another that is known")
        terminal.press("Escape", "Enter")
        terminal.wait_for("more wait")
        terminal.wait_for("waits, 3.")
        terminal.press("Down", "Enter")
        lines = terminal.wait_for("outermost first")
        assert lines[1].startswith("carrier ")
        terminal.wait_for("in keep_busy")
        terminal.press("q")
        terminal.wait_for("ended with 0")
    finally:
        terminal.run("kill-server")


def looking_at(program: Path) -> list[str]:
    """Return a command that runs `structsync top` and then says how that ended."""
    command = [sys.executable, "-P", "-m", "structsync", "top", program, "--every", "0.2"]
    # tmux itself does not always notice that what it started has ended.
    script = f"{shlex.join(map(str, command))}; echo ended with $?; exec sleep 600"
    return ["sh", "-c", script]


def test_json_and_the_screen_agree_on_every_field(program: Path) -> None:
    client = Client(program)
    answer = client.ask(ask="state")
    client.close()
    assert set(json.loads(json.dumps(answer))) == set(state())
    assert set(primitive(1)) == set(answer["primitives"][0])
