"""A schedule on the terminal: what it tells, and that no width breaks the line that replays it."""

import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.segment import Segment

from structsync.report import Blocked, Counterexample, Sentence, Step, dumps, to_text
from structsync.report._folding import Fold, rows
from structsync.report._words import an, counted, listed

from .schedules import DEADLOCK, EVERY, HOSTILE, IDLE, SPEC, STARVATION

LONG = replace(DEADLOCK, replay=f"pytest -k test_semaphore --explore-replay 'x1:{'2c1,' * 200}'")


def printed(shown: Counterexample, width: int = 120) -> list[str]:
    console = Console(width=width, file=io.StringIO())
    with console.capture() as captured:
        console.print(to_text(shown))
    return [line.rstrip() for line in captured.get().splitlines()]


def row(lines: list[str], number: int) -> str:
    (found,) = (line for line in lines if re.match(rf"( \*)? +(↻ )?{number}  ", line))
    return " ".join(found.split())


def test_the_head_says_what_broke_and_how_in_a_few_lines() -> None:
    lines = printed(DEADLOCK)
    assert lines[:9] == [
        "DEADLOCK  test_semaphore",
        "  plain FIFO order, but for 4 steps:",
        "   *   4 worker#1 is cancelled at queue.py:61 in wait, before worker#0 runs",
        "   *   6 so worker#1 exits; sem was value=0, is value=1",
        "   *   7 the next deadline passes before worker#2 runs",
        "         and 2 more deviations",
        f"  {DEADLOCK.detail}",
        f"         {DEADLOCK.reasons[0].text}",
        "",
    ]
    assert lines[-4] == DEADLOCK.summary


def test_without_a_story_the_head_says_how_it_was_found() -> None:
    first, second, third, *rest = printed(replace(DEADLOCK, story=()))
    assert first == "DEADLOCK  test_semaphore"
    assert second == f"  {DEADLOCK.summary}"
    assert third == f"  {DEADLOCK.detail}"
    assert DEADLOCK.summary not in rest


# ==== widths ====


@pytest.mark.parametrize("width", [60, 80, 100, 160])
@pytest.mark.parametrize(
    "shown", [DEADLOCK, STARVATION, IDLE], ids=["deadlock", "starvation", "idle"]
)
def test_a_report_keeps_to_the_width_and_to_its_words(shown: Counterexample, width: int) -> None:
    *lines, command = printed(shown, width)
    assert max(map(cell_len, lines)) <= width
    assert command == shown.replay
    # No name and no place is broken: the table changes its form before that.
    text = "\n".join(lines)
    for step in (shown.steps[one] for one in rows(shown) if not isinstance(one, Fold)):
        assert step.turn in text or step.injected
        assert step.parked.partition("  ")[0] in text


def test_where_columns_do_not_fit_the_facts_of_a_step_stand_below_each_other() -> None:
    wide, narrow = printed(DEADLOCK, 120), printed(DEADLOCK, 80)
    assert any(line.split() == ["step", "task", "what"] for line in narrow)
    assert not any(line.split() == ["step", "task", "what"] for line in wide)
    at = next(n for n, line in enumerate(narrow) if " worker:194" in line)
    assert [line.strip() for line in narrow[at + 1 : at + 3]] == [
        "wakes worker#0",
        "sem value=0, waiters=[]",
    ]


def test_from_a_wide_terminal_on_columns_are_kept_whatever_is_in_them() -> None:
    steps = [replace(one, note="n" * 300) for one in DEADLOCK.steps]
    crowded = replace(DEADLOCK, steps=tuple(steps))
    assert any("parks at" in line for line in printed(crowded, 120))
    assert not any("parks at" in line for line in printed(crowded, 119))


def test_a_deep_stack_is_cut() -> None:
    deep = Blocked("worker#2", tuple(f"main.py:{n} in worker" for n in range(20)))
    lines = [line.strip() for line in printed(replace(DEADLOCK, blocked=(deep,)))]
    assert "main.py:7 in worker" in lines
    assert lines[lines.index("main.py:7 in worker") + 1] == "and 12 more frames"


# ==== folding ====


def test_steps_in_which_nothing_is_to_be_seen_are_one_row() -> None:
    lines = printed(IDLE)
    numbers = [line.split()[0] for line in lines if re.match(r"[ *]+[\d-]+  ", line)]
    starred = [line for line in lines if line.startswith(" *")]
    assert numbers == ["1", "2", "3-6", "*", "8", "9", "10", "11-15", "16"]
    assert len(starred) == 1
    assert any(re.search("a and b +4 steps that change nothing shown here", line) for line in lines)
    assert any("c#0, c#1 and 3 more   5 steps that" in line for line in lines)

    more = replace(IDLE, story=(Sentence("but for 1 step:"), Sentence("a task runs", 900)))
    assert any(line.split() == ["900", "a", "task", "runs"] for line in printed(more))


@pytest.mark.parametrize(
    "seen",
    [
        {"deviation": True},
        {"injected": True},
        {"note": "here"},
        {"woke": ("a",)},
        {"parked": "exits"},
        {"state": {"lock": "free"}},
    ],
)
def test_a_step_in_which_something_is_to_be_seen_is_not_folded(seen: dict[str, Any]) -> None:
    steps = list(IDLE.steps)
    steps[12] = replace(steps[12], **seen)
    assert not any(
        isinstance(one, Fold) and one.first <= 12 < one.end
        for one in rows(replace(IDLE, steps=tuple(steps)))
    )


def test_where_a_blocked_task_came_to_and_what_repeats_is_not_folded() -> None:
    blocked = replace(IDLE, blocked=(Blocked("c#2"),))
    assert [one.steps for one in rows(blocked) if isinstance(one, Fold)] == ["3-6"]
    repeated = replace(IDLE, cycle_start=4)
    assert not [one for one in rows(repeated) if isinstance(one, Fold)]


# ==== words ====


def test_numbers_and_lists_are_as_people_write_them() -> None:
    assert [counted(n, "step") for n in (0, 1, 2, 2000)] == [
        "0 steps",
        "1 step",
        "2 steps",
        "2,000 steps",
    ]
    assert [listed(list("abcd")[:n]) for n in range(4)] == ["", "a", "a and b", "a, b and c"]
    assert listed(list("abcd"), 3) == "a, b and 2 more"
    assert [an("Event"), an("Lock")] == ["an Event", "a Lock"]


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (0, "0 (start) sem value=1, waiters=[]"),
        (1, "1 main exits worker#0"),
        (2, "2 worker#0 worker:194 await checkpoint() worker#0 sem value=0, waiters=[]"),
        (4, "* 4 CANCEL worker#1 worker#1 its entry in the queue is still there"),
        (7, "* 7 CLOCK worker#2"),
    ],
)
def test_each_step_tells_who_where_whom_and_what(number: int, expected: str) -> None:
    assert row(printed(DEADLOCK), number) == expected


def test_only_deviations_have_a_star() -> None:
    starred = [
        line for line in printed(DEADLOCK) if line.startswith(" * ") and "   " in line.strip()
    ]
    assert len(starred) == sum(step.deviation for step in DEADLOCK.steps)


def test_the_blocked_are_told_with_reason_and_frames() -> None:
    lines = printed(DEADLOCK)
    at = lines.index("blocked forever")
    assert lines[at + 1] == "  worker#2  waits for <Semaphore 'sem': 1 free, held by no task>"
    frames = ["queue.py:61 in wait: await self.event.wait()", "queue.py:127 in acquire"]
    assert [line.strip() for line in lines[at + 2 : at + 5]] == [*frames, "main.py:189 in worker"]


def test_starvation_shows_what_repeats() -> None:
    lines = printed(STARVATION)
    assert row(lines, 3).startswith("↻ 3 reader#1")
    assert "then steps 3 to 6 repeat forever" in lines
    assert "blocked forever" not in lines


def test_an_empty_column_is_left_out() -> None:
    assert any("wakes" in line for line in printed(DEADLOCK))
    assert not any("wakes" in line for line in printed(STARVATION))


def test_a_scope_is_named_where_one_is_cancelled() -> None:
    cancel = Step("cancel", (("scope", "main~0"),), {}, "main", injected=True)
    assert cancel.turn == "CANCEL scope main~0"
    assert replace(cancel, arguments=(("", "worker#1"),)).turn == "CANCEL worker#1"
    assert Step("clock", (), {}, injected=True).turn == "CLOCK"
    assert row(printed(replace(DEADLOCK, steps=(cancel,))), 1) == "1 CANCEL scope main~0"


def test_a_state_that_is_watched_later_is_told_from_then_on() -> None:
    late = replace(DEADLOCK, start={})
    assert row(printed(late), 1) == "1 main exits worker#0 sem value=1, waiters=[]"
    assert late.names == ("sem",)


def test_without_a_command_the_token_stands_alone() -> None:
    assert printed(replace(DEADLOCK, replay=""))[-1] == DEADLOCK.token


def test_a_blocked_task_of_which_nothing_is_known_has_its_name() -> None:
    lines = printed(replace(DEADLOCK, blocked=(Blocked("lost"),)))
    assert lines[lines.index("blocked forever") + 1] == "  lost"


@pytest.mark.parametrize("width", [20, 80, 120])
@pytest.mark.parametrize("shown", [LONG, HOSTILE], ids=["long", "hostile"])
def test_no_width_cuts_the_command(shown: Counterexample, width: int) -> None:
    *others, command = printed(shown, width)
    assert command == shown.replay
    assert max(map(cell_len, others)) <= width


def test_a_command_that_is_cut_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("structsync.report._text._Uncut", Segment)
    assert printed(LONG, 80)[-1] == LONG.replay[:80]


def test_a_table_of_a_spec_has_no_schedule_in_it() -> None:
    text = "\n".join(printed(SPEC))
    assert "nothing_grantable_waits (invariant) is refuted in 4 steps" in text
    assert not re.search(r"replay|parks|wakes|\*", text)


@pytest.mark.parametrize("shown", [*EVERY.values()], ids=[*EVERY])
def test_what_looks_like_markup_is_printed_as_it_is(shown: Counterexample) -> None:
    squeezed = re.sub(r"\s", "", "".join(printed(shown, 4000)))
    for name in shown.names:
        assert re.sub(r"\s", "", name) in squeezed


PRINT = """
import json, sys
from pathlib import Path
from rich.console import Console
from structsync.report import from_json, to_text
Console().print(to_text(from_json(json.loads(Path(sys.argv[1]).read_text("utf-8")))))
"""


def on_a_terminal(file: Path, width: int, **environment: str) -> str:
    """Print a stored schedule in another process, on a terminal so wide."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    told = ("NO_COLOR", "CI", "COLUMNS", "LINES")
    known = {name: value for name, value in os.environ.items() if name not in told}
    child = subprocess.Popen(
        [sys.executable, "-c", PRINT, str(file)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**known, "TERM": "xterm-256color", **environment},
    )
    os.close(theirs)
    arrived = b""
    while part := _read(ours):
        arrived += part
    os.close(ours)
    assert child.wait() == 0, arrived.decode()
    return arrived.decode().replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # how Linux says that the other side is closed
        return b""


@pytest.mark.unmeasured
@pytest.mark.parametrize("width", [80, 120])
def test_a_real_terminal_gets_colours_and_one_line_to_copy(tmp_path: Path, width: int) -> None:
    file = tmp_path / "long.json"
    file.write_text(dumps(LONG), encoding="utf-8")
    coloured = on_a_terminal(file, width)
    assert "\x1b[1;31mDEADLOCK" in coloured
    *others, command = re.sub(r"\x1b\[[\d;]*m", "", coloured).splitlines()
    assert command == LONG.replay
    assert max(map(cell_len, others)) == width
    assert re.sub(r"\x1b\[[\d;]*m", "", on_a_terminal(file, width, NO_COLOR="1")) == "\n".join(
        [*others, command, ""]
    )


def test_a_terminal_without_colours_gets_none(tmp_path: Path) -> None:
    file = tmp_path / "deadlock.json"
    file.write_text(dumps(DEADLOCK), encoding="utf-8")
    assert "\x1b" not in on_a_terminal(file, 80, TERM="dumb")
