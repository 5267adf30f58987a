"""What the explorer cannot see: each bug here is real, and a test that demands it is expected to fail.

Beside each stands a test that shows that the bug is there, and that the limit is why it is missed.
Should one be found, its test fails (strict), and a limit of the documentation is gone.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import pytest
import trio
from trio.lowlevel import Abort, RaiseCancelT

from structsync.testing import Exploration, explore

from . import (
    checkpoint_after_take,
    gap_at_head,
    nested_deadlines,
    semaphore_barging,
    wakeup_spent_on_cancelled,
)
from .exhibit import Exhibit

if TYPE_CHECKING:
    from structsync.testing import ExploredRun


def under(exhibit: Exhibit, **other: Any) -> Exploration:
    """Look for the bug of an exhibit with other settings than it needs."""
    return explore(exhibit.buggy, **asdict(replace(exhibit.settings, **other)))


async def run_all(*functions: Any) -> None:
    async with trio.open_nursery() as nursery:
        for one in functions:
            nursery.start_soon(one)


# ==== Beyond the bounds: the verdict states them ====


async def two_visitors(x: ExploredRun) -> None:
    await wakeup_spent_on_cancelled.visit(x, wakeup_spent_on_cancelled.WakingLock(), workers=2)


async def three_visitors(x: ExploredRun) -> None:
    await wakeup_spent_on_cancelled.visit(x, wakeup_spent_on_cancelled.WakingLock(), workers=3)


@pytest.mark.xfail(
    strict=True,
    raises=AssertionError,
    reason="A test with two tasks says nothing about three; how many there are the test decides.",
)
def test_a_bug_that_needs_more_tasks_than_the_test_spawns() -> None:
    assert explore(two_visitors, cancels=1, cancel="tasks").failure


def test_with_one_more_task_it_is_found() -> None:
    assert explore(three_visitors, cancels=1, cancel="tasks").failure


@pytest.mark.xfail(
    strict=True,
    raises=AssertionError,
    reason="No execution has more cancellations than cancels= allows; one is the default.",
)
def test_a_bug_that_needs_more_cancellations_than_are_allowed() -> None:
    assert under(gap_at_head.EXHIBIT, cancels=1).failure


@pytest.mark.xfail(
    strict=True,
    raises=AssertionError,
    reason="By default only scopes are cancelled that the program itself opened, nurseries among "
    "them, so that nothing is reported that the program cannot meet; cancel='tasks' goes further.",
)
def test_a_bug_of_a_primitive_whose_test_opens_no_scope_round_one_task() -> None:
    assert under(checkpoint_after_take.EXHIBIT, cancel="scopes").failure


@pytest.mark.xfail(
    strict=True,
    raises=AssertionError,
    reason="With clock='autojump', the default, time passes only when no task can run; a deadline "
    "never strikes in the middle of something. clock='explore' lets it.",
)
def test_a_deadline_that_strikes_while_others_run() -> None:
    assert under(nested_deadlines.EXHIBIT, clock="autojump").failure


@pytest.mark.xfail(
    strict=True,
    raises=AssertionError,
    reason="With order='trio' only such schedules are tried as trio's scheduler makes today, where "
    "each batch of runnable tasks ends before the next one begins; order='any' is the default.",
)
def test_a_schedule_that_only_another_scheduler_makes() -> None:
    assert under(semaphore_barging.EXHIBIT, order="trio").failure


# ==== State that it does not look at: found by every schedule, or by the audit ====


async def environment(x: ExploredRun) -> None:
    os.environ["STRUCTSYNC_ZOO"] = "start"

    async def first() -> None:
        os.environ["STRUCTSYNC_ZOO"] = "first"

    async def second() -> None:
        os.environ["STRUCTSYNC_ZOO"] = "second"

    await run_all(first, second)
    await run_all(trio.lowlevel.checkpoint, trio.lowlevel.checkpoint)
    assert os.environ["STRUCTSYNC_ZOO"] == "second", "the first one was the last"


@pytest.fixture
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRUCTSYNC_ZOO", "")


@pytest.mark.usefixtures("clean_environment")
@pytest.mark.parametrize("search", ["auto", "states", "plain"])
def test_the_environment_is_no_part_of_a_state_and_seen_all_the_same(search: Any) -> None:
    assert explore(environment, cancels=0, search=search).failure


async def log_of_two(x: ExploredRun, log: list[str]) -> None:
    async def first() -> None:
        log.append("first")

    async def second() -> None:
        log.append("second")

    await run_all(first, second)
    await run_all(trio.lowlevel.checkpoint, trio.lowlevel.checkpoint)
    assert log == ["first", "second"]


async def ghostly_log(x: ExploredRun) -> None:
    await log_of_two(x, x.ghost([]))


async def plain_log(x: ExploredRun) -> None:
    await log_of_two(x, [])


@pytest.mark.parametrize("search", ["auto", "states", "plain"])
def test_a_ghost_is_no_part_of_a_state_and_a_check_that_reads_it_is_seen(search: Any) -> None:
    assert explore(ghostly_log, cancels=0, search=search).failure


def test_the_same_log_is_seen_if_it_is_no_ghost() -> None:
    assert explore(plain_log, cancels=0).failure


# ==== What happens inside of a step ====

NAMES = {"left", "right"}
#: What iterating over the set begins with in about every second process.
OTHER = [*NAMES][1]


async def hash_order(x: ExploredRun) -> None:
    async def worker() -> None:
        await trio.lowlevel.checkpoint()
        assert next(iter(NAMES)) != OTHER

    await run_all(worker, worker)


@pytest.mark.xfail(
    strict=True,
    raises=AssertionError,
    reason="A step is run, not explored: where it depends on the order of a set of strings, which "
    "differs from process to process, one order is seen.",
)
def test_the_other_order_of_a_set() -> None:
    assert explore(hash_order, cancels=0).failure


def test_another_process_may_have_the_other_order() -> None:
    firsts = {
        subprocess.run(
            [sys.executable, "-c", "print(next(iter({'left', 'right'})))"],
            env=os.environ | {"PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in range(1, 9)
    }
    assert firsts == NAMES


async def abort_order(x: ExploredRun, order: tuple[str, str]) -> None:
    aborted: list[str] = []

    async def sleeper(name: str) -> None:
        def abort(_: RaiseCancelT) -> Abort:
            aborted.append(name)
            return Abort.SUCCEEDED

        await trio.lowlevel.wait_task_rescheduled(abort)

    async with trio.open_nursery() as nursery:
        for name in order:
            nursery.start_soon(sleeper, name)
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert aborted == ["first", "second"]


async def spawned_in_order(x: ExploredRun) -> None:
    await abort_order(x, ("first", "second"))


async def spawned_the_other_way(x: ExploredRun) -> None:
    await abort_order(x, ("second", "first"))


@pytest.mark.xfail(
    strict=True,
    raises=AssertionError,
    reason="trio aborts the tasks of a cancelled scope in the order of a set, that is in any; the "
    "order in which they were spawned is the only one that is tried.",
)
def test_the_order_in_which_a_scope_aborts_its_tasks() -> None:
    assert explore(spawned_in_order, cancels=0).failure


def test_spawned_the_other_way_round_the_abort_order_is_found() -> None:
    assert explore(spawned_the_other_way, cancels=0).failure


def interrupted(lock: trio.Lock, interrupt: Any) -> Any:
    async def worker() -> None:
        await lock.acquire()
        interrupt()
        try:
            await trio.lowlevel.checkpoint()
        finally:
            lock.release()

    return worker


async def interruptible(x: ExploredRun) -> None:
    lock = trio.Lock()
    x.watch(lock=lock)
    await run_all(*[interrupted(lock, lambda: None)] * 2)


@pytest.mark.xfail(
    strict=True,
    raises=AssertionError,
    reason="Ctrl-C can strike between any two instructions of code that is not protected; no "
    "KeyboardInterrupt is injected.",
)
def test_a_lock_that_an_interrupt_leaves_locked() -> None:
    assert explore(interruptible).failure


def test_a_real_interrupt_leaves_the_lock_locked() -> None:
    lock = trio.Lock()

    async def main() -> None:
        try:
            await interrupted(lock, lambda: signal.raise_signal(signal.SIGINT))()
        except KeyboardInterrupt:
            assert lock.locked()
            raise

    with pytest.raises(KeyboardInterrupt):
        trio.run(main)
