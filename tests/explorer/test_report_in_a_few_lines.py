"""The short version of a failing schedule: where it deviates from plain FIFO order, and what follows."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import pytest
import trio
import trio.testing
from trio.lowlevel import checkpoint

from structsync.report import Blocked, Step
from structsync.testing import ExploredRun
from structsync.testing._execution.schedule import Choice
from structsync.testing._report import raised
from structsync.testing._report.story import reasons_of_a_deadlock, story

from .conftest import Program, abba, failure_of

HERE = r"test_report_in_a_few_lines\.py:\d+ in "


async def sets_too_early() -> None:
    arrived = trio.Event()

    async def consumer() -> None:
        nonlocal arrived
        await checkpoint()
        arrived = trio.Event()
        await arrived.wait()

    async def producer() -> None:
        await checkpoint()
        arrived.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer)
        nursery.start_soon(producer)


async def forgets_when_cancelled() -> None:
    semaphore = trio.Semaphore(1)

    async def worker() -> None:
        with trio.CancelScope():
            await semaphore.acquire()
            await checkpoint()
            semaphore.release()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(worker)
        nursery.start_soon(worker)


async def forgets_when_the_test_is_cancelled() -> None:
    semaphore = trio.Semaphore(1, max_value=1)

    async def worker() -> None:
        await semaphore.acquire()
        await checkpoint()
        semaphore.release()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(worker)


async def hurries(x: ExploredRun) -> None:
    late = False

    async def sleeps() -> None:
        nonlocal late
        await trio.sleep(1)
        late = True

    async def works() -> None:
        await checkpoint()
        await checkpoint()
        if late:
            x.fail("too late")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(sleeps)
        nursery.start_soon(works)


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    ("program", "settings", "lines"),
    [
        (abba, {}, ["plain FIFO order, and nothing is cancelled:"]),
        (
            sets_too_early,
            {},
            [
                "plain FIFO order, but for 1 step:",
                r"4 producer#0 runs instead of consumer#0",
                r"4 so producer#0 exits; arrived was not set, is set",
            ],
        ),
        (
            forgets_when_cancelled,
            {"cancels": 1},
            [
                "plain FIFO order, but for 1 step:",
                rf"\d the cancel scope worker#0~0, opened at {HERE}worker, is cancelled while worker#0 is "
                rf"at {HERE}worker, before \S+ runs",
                r"\d so worker#0 gets Cancelled and exits",
            ],
        ),
        (
            forgets_when_cancelled,
            {"cancels": 1, "cancel": "tasks"},
            [
                "plain FIFO order, but for 1 step:",
                rf"\d worker#0 is cancelled at {HERE}worker, before it runs",
                r"\d so worker#0 gets Cancelled and exits",
            ],
        ),
        (
            forgets_when_the_test_is_cancelled,
            {"cancels": 1},
            [
                "plain FIFO order, but for 1 step:",
                rf"\d the whole test is cancelled while main is at {HERE}\S+, before worker#0 runs",
            ],
        ),
        (
            hurries,
            {"clock": "explore"},
            [
                "plain FIFO order, but for 2 steps:",
                r"\d the next deadline passes before works#0 runs",
                r"\d sleeps#0 runs instead of works#0",
                r"\d so sleeps#0 exits",
            ],
        ),
    ],
)
def test_deviations_are_told_with_what_they_led_to(
    program: Program, settings: dict[str, Any], lines: list[str]
) -> None:
    told = failure_of(program, **settings).counterexample.story
    found = [f"{one.step} {one.text}" if one.step else one.text for one in told]
    assert len(found) == len(lines), found
    for line, expected in zip(found, lines, strict=True):
        assert re.fullmatch(expected, line), found


def steps(*actors: str, **more: Any) -> list[Step]:
    return [
        Step("run", (), {}, one, deviation=True, parked="f:1", stack=("a.py:1 in f",), **more)
        for one in actors
    ]


def run(name: str) -> Choice:
    return Choice("run", name)


def test_of_many_deviations_the_first_are_told() -> None:
    names = [f"t#{n}" for n in range(9)]
    told = [*story(steps(*names), [*map(run, names)], [run("main")] * 9)]
    assert told[0].text == "plain FIFO order, but for 9 steps:"
    assert told[-1].text == "and 3 more deviations"
    assert [one.step for one in told if "instead" in one.text] == [1, 2, 3, 4, 5, 6]


def test_of_many_changes_the_first_are_told() -> None:
    before = Step("run", (), {f"n{n}": "0" for n in range(5)}, "a")
    [after] = steps("b")
    after = replace(after, state={f"n{n}": "1" for n in range(5)})
    *_, told = story([before, after], [run("a"), run("b")], [run("a"), run("c")])
    changes = "n0 was 0, is 1; n1 was 0, is 1; n2 was 0, is 1; 2 more changes"
    assert told.text == f"so b parks at a.py:1 in f; {changes}"


def test_a_cancellation_whose_task_never_runs_again_has_no_effect() -> None:
    cancelled = Step("cancel", (), {}, "a", injected=True, deviation=True)
    told = [*story([cancelled], [Choice("cancel", "a")], [Choice("clock", "")])]
    assert [one.text for one in told[1:]] == ["a is cancelled, while all tasks wait"]


def test_a_step_after_which_nothing_is_known_has_no_effect() -> None:
    gone = Step("run", (), {}, "a", deviation=True)
    assert len([*story([gone], [run("a")], [run("b")])]) == 2


# ==== why it ended so ====


def waiting(**edges: str) -> list[str]:
    blocked = [
        Blocked(name, ("a.py:1 in f",), "waits for x", waits_for=tuple(others.split()))
        for name, others in edges.items()
    ]
    return [one.text for one in reasons_of_a_deadlock(blocked)]


def test_a_circle_of_those_who_wait_is_told_first() -> None:
    assert waiting(a="b", b="a")[0] == "a and b wait for each other"
    assert waiting(a="a")[0] == "a waits for itself"
    assert (
        waiting(m="a", a="b", b="c", c="a")[0]
        == "a waits for b, which waits for c, which waits for a"
    )
    assert waiting(a="b c", b="c", c="a")[0] == "a and c wait for each other"
    assert waiting(a="b", b="")[0] == "a waits for x (a.py:1 in f)"


def test_of_many_tasks_that_are_blocked_the_first_are_told() -> None:
    found = waiting(**{f"t{n}": "" for n in range(8)})
    assert len(found) == 7
    assert found[-1] == "and 2 more tasks"


def test_a_deadlock_says_who_waits_for_whom_and_where() -> None:
    told = [one.text for one in failure_of(abba).counterexample.reasons]
    assert told[0] == "worker#0 and worker#1 wait for each other"
    assert re.fullmatch(
        r"worker#0 waits for right: held by worker#1, 1 waiting \(conftest\.py:\d+ in worker\)",
        told[1],
    )
    assert len(told) == 3


def test_a_violation_says_after_which_step() -> None:
    shown = failure_of(hurries, clock="explore").counterexample
    [told] = shown.reasons
    assert told.text == "after a step of works#0"
    assert told.step == len(shown.steps)


def test_a_violation_by_the_clock_is_no_tasks() -> None:
    async def watches(x: ExploredRun) -> None:
        x.always(lambda: trio.current_time() < 1, "in time")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.sleep, 1)
            nursery.start_soon(checkpoint)

    failure = failure_of(watches)
    assert failure.message == "not always: in time"
    assert failure.counterexample.reasons == ()


def test_an_assertion_is_told_with_its_text_its_line_and_its_values() -> None:
    async def adds_up() -> None:
        total = 0

        async def add() -> None:
            nonlocal total
            seen = total
            await checkpoint()
            total = seen + 1

        async with trio.open_nursery() as nursery:
            nursery.start_soon(add)
            nursery.start_soon(add)
        wanted = 2
        if math.pi and total != wanted:
            raise AssertionError("not " + str(wanted))

    line = adds_up.__code__.co_firstlineno + 14
    [told] = [one.text for one in failure_of(adds_up).counterexample.reasons]
    assert re.fullmatch(
        rf"AssertionError at \S*test_report_in_a_few_lines\.py:{line} in adds_up: "
        r'raise AssertionError\("not " \+ str\(wanted\)\)',
        told,
    )


def error_of(source: str, name: str = "program.py") -> BaseException:
    """What a piece of source raises that no test framework has rewritten."""
    import linecache

    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    try:
        exec(compile(source, name, "exec"), {"__name__": "program"})
    except BaseException as error:  # noqa: BLE001 - whatever it is
        return error
    raise AssertionError


def test_the_values_of_an_assertions_variables_are_told() -> None:
    error = error_of("total, wanted = 1, 2\nassert (\n  len([total]) ==\n  wanted\n), total\n")
    assert [*raised.told(error)] == [
        "AssertionError at program.py:3 in <module>: assert ( len([total]) == wanted ), total",
        "where total = 1, wanted = 2",
    ]


def test_of_a_group_each_error_is_told_and_without_source_its_place() -> None:
    errors = [error_of("x = 1\nx.y\n", f"p{n}.py") for n in range(5)]
    group = BaseExceptionGroup("", [BaseExceptionGroup("", errors[:2]), *errors[2:]])
    assert [*raised.told(group)] == [
        f"AttributeError at p{n}.py:2 in <module>: x.y" for n in range(3)
    ]
    broken = error_of("assert 1 == 2  # (\n", "broken.py")
    import linecache

    del linecache.cache["broken.py"]
    assert [*raised.told(broken)] == ["AssertionError at broken.py:1 in <module>"]
    linecache.cache["broken.py"] = (1, None, ["assert (\n"], "broken.py")
    assert [*raised.told(broken)] == ["AssertionError at broken.py:1 in <module>: assert ("]
    assert [*raised.told(ValueError("never raised"))] == []
