"""A test that hangs: with --deadlock-guard it fails with the cycle, and its time-out shows who waits."""

from __future__ import annotations

import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from structsync.testing._pytest import hangs

from .test_pytest_inside import run

HANGS = """
    async def test_that_takes_two_locks_in_two_orders():
        one, other = structsync.Lock(), structsync.Lock()

        async def worker(outer, inner):
            async with outer:
                await trio.testing.wait_all_tasks_blocked()
                async with inner:
                    pass

        async with trio.open_nursery() as nursery:
            nursery.start_soon(worker, one, other, name="left")
            nursery.start_soon(worker, other, one, name="right")
"""
EXPLORED = """
    @explore(cancels=0, outside="ignore")
    async def test_that_is_explored():
        lock = structsync.Lock()

        async def worker():
            async with lock:
                pass

        async with trio.open_nursery() as nursery:
            nursery.start_soon(worker)
            nursery.start_soon(worker)

    def test_that_is_sync():
        pass
"""
PYTEST = ("-o", "trio_mode=true", "--timeout-method=signal", "-p", "timeout")
IN_A_SECOND = (*PYTEST, "-o", "timeout=1")
#: What shall not be reached at all leaves time for a machine that is busy with something else.
IN_A_MINUTE = (*PYTEST, "-o", "timeout=60")
#: What trio says of a run that was broken off is none of ours.
QUIET = ("-W", "ignore")


def test_under_the_guard_it_fails_with_the_cycle(tmp_path: Path) -> None:
    ran = run(tmp_path, HANGS + EXPLORED, "--deadlock-guard", *IN_A_MINUTE)
    assert ran.outcomes == {"failed": 1, "passed": 2}
    assert "DeadlockError: this wait would never end" in ran.printed
    assert "which left holds since test_program.py:" in ran.printed
    assert "Timeout" not in ran.printed


def test_the_guard_may_be_on_for_good(tmp_path: Path) -> None:
    ran = run(tmp_path, HANGS, "-o", "deadlock_guard=true", *IN_A_MINUTE)
    assert "DeadlockError: this wait would never end" in ran.printed


def test_a_timeout_shows_who_holds_and_who_waits(tmp_path: Path) -> None:
    ran = run(tmp_path, HANGS, *IN_A_SECOND, *QUIET)
    assert "Failed: Timeout (>1.0s) from pytest-timeout" in ran.printed
    assert "Captured structsync.show() call" in ran.printed
    assert "1. left  [test_program.py:" in ran.printed
    assert "right waits for" in ran.printed


@pytest.mark.parametrize("option", ["--no-show-on-timeout", "-oshow_on_timeout=false"])
def test_what_a_timeout_shows_can_be_turned_off(tmp_path: Path, option: str) -> None:
    ran = run(tmp_path, HANGS, option, *IN_A_SECOND, *QUIET)
    assert "Failed: Timeout (>1.0s)" in ran.printed
    assert "structsync.show()" not in ran.printed


SPINS = """
    def test_that_uses_nothing_of_structsync():
        while True:
            pass
"""
BROKEN = """
    @pytest.fixture(autouse=True)
    def broken(monkeypatch):
        import structsync.observing.snapshot as module
        monkeypatch.setattr(module, "snapshot", None)
"""


def test_where_nothing_is_held_nothing_is_shown(tmp_path: Path) -> None:
    ran = run(tmp_path, SPINS, *IN_A_SECOND, *QUIET)
    assert "Failed: Timeout (>1.0s)" in ran.printed
    assert "structsync.show()" not in ran.printed


def test_what_cannot_be_shown_hides_no_timeout(tmp_path: Path) -> None:
    ran = run(tmp_path, BROKEN + SPINS, *IN_A_SECOND, *QUIET)
    assert "Failed: Timeout (>1.0s)" in ran.printed
    assert "it could not be shown: TypeError" in ran.printed


def test_where_a_thread_ends_the_test_it_is_left_alone(tmp_path: Path) -> None:
    ran = run(tmp_path, SPINS, *IN_A_SECOND, "--timeout-method=thread", *QUIET)
    assert "structsync.show()" not in ran.printed
    assert ran.code == 1


def test_only_a_signal_is_taken_for_the_timeout() -> None:
    """What a thread ends cannot be measured, because the process ends with it."""
    before = signal.getsignal(signal.SIGALRM)
    item: Any = None
    hook = hangs._Shown().pytest_timeout_set_timer(item, SimpleNamespace(method="thread"))
    next(hook)
    with pytest.raises(StopIteration) as ended:
        hook.send("answer")
    assert ended.value.value == "answer"
    assert signal.getsignal(signal.SIGALRM) is before


def test_without_pytest_timeout_there_is_nothing_to_show(tmp_path: Path) -> None:
    ran = run(tmp_path, EXPLORED, "-p", "no:timeout", *QUIET)
    assert ran.outcomes == {"passed": 2}
