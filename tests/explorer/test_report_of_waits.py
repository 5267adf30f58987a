"""What a blocked task is said to wait for: entries and their guards, and the tasks that have something."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest
import trio
from trio.lowlevel import checkpoint

import structsync
from structsync.report import Blocked
from structsync.testing._execution import places

from .conftest import Program, failure_of


def the_last_blocked(program: Program) -> Blocked:
    return failure_of(program).counterexample.blocked[-1]


class Box(structsync.Monitor):
    """Room for one item."""

    def __init__(self) -> None:
        super().__init__()
        self.items = list[object]()
        self.busy = trio.Event()

    def has_an_item(self) -> bool:
        return bool(self.items)

    @structsync.entry(when=lambda self: len(self.items) < 1)
    async def put(self, item: object, *, twice: bool = False) -> None:
        self.items.append(item)

    @structsync.entry(when=has_an_item)
    async def get(self) -> object:
        return self.items.pop()

    @structsync.entry
    async def stay(self) -> None:
        await self.busy.wait()


async def a_second_item() -> None:
    box = Box()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(box.put, "a")
        nursery.start_soon(functools.partial(box.put, "b" * 50, twice=True))


async def no_item() -> None:
    box = Box()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(box.get)
        nursery.start_soon(checkpoint)


async def a_task_inside() -> None:
    box = Box()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(box.stay)
        nursery.start_soon(box.put, 1)


async def a_notified_task_outside() -> None:
    box = Box()
    changed = box.condition()

    async def waits() -> None:
        await changed.wait()

    async def notifies() -> None:
        changed.notify()
        await trio.sleep_forever()

    waiting, notifying = box.entry(waits), box.entry(notifies)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(waiting)
        nursery.start_soon(notifying)


async def no_task_notifies() -> None:
    box = Box()
    changed = box.condition()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(box.entry(changed.wait))
        nursery.start_soon(checkpoint)


async def what_a_synchronizer_forbids() -> None:
    box = Box()
    async with structsync.Synchronizer() as rules, trio.open_nursery() as nursery:
        rules.disable(box.put, lambda: True)
        nursery.start_soon(box.put, 1)
        nursery.start_soon(checkpoint)


GUARD = r"len\(self\.items\) < 1 \(test_report_of_waits\.py:\d+\)"
HAS = r"has_an_item \(test_report_of_waits\.py:\d+\)"


@pytest.mark.parametrize(
    ("program", "why"),
    [
        (
            a_second_item,
            rf"waits to call put\('b+\.\.\.b+', twice=True\), whose guard is false: {GUARD}; "
            "box: free, 1 waiting",
        ),
        (no_item, rf"waits to call get\(\), whose guard is false: {HAS}; box: free, 1 waiting"),
        (a_task_inside, r"waits to call put\(1\) of box: occupied by stay#0, 1 waiting"),
        (
            a_notified_task_outside,
            "was notified, and waits for box: occupied by notifies#0, 1 waiting",
        ),
        (no_task_notifies, "waits for changed: on .*, 1 waiting"),
        (
            what_a_synchronizer_forbids,
            r"waits to call put\(1\), which a synchronizer does not let start; box: free, 1 waiting",
        ),
    ],
)
def test_a_blocked_call_of_a_monitor_names_the_entry_and_what_keeps_it_out(
    program: Program, why: str
) -> None:
    found = [one.why for one in failure_of(program).counterexample.blocked]
    assert any(re.fullmatch(why, one) for one in found), found


async def each_has_what_the_other_wants() -> None:
    left, right = structsync.Lock(), trio.Lock()

    async def worker(
        first: structsync.Lock | trio.Lock, second: structsync.Lock | trio.Lock
    ) -> None:
        async with first, second:
            pass

    async with trio.open_nursery() as nursery:
        nursery.start_soon(worker, left, right)
        nursery.start_soon(worker, right, left)


async def a_writer_and_a_borrower() -> None:
    rwlock, limiter = structsync.RWLock(), trio.CapacityLimiter(1)

    async def writes() -> None:
        async with limiter:
            await rwlock.acquire_write()

    async def reads() -> None:
        await rwlock.acquire_read()
        async with limiter:
            pass

    async with trio.open_nursery() as nursery:
        nursery.start_soon(reads)
        nursery.start_soon(writes)


@pytest.mark.parametrize(
    ("program", "edges"),
    [
        (
            each_has_what_the_other_wants,
            {
                "main": ("worker#0", "worker#1"),
                "worker#0": ("worker#1",),
                "worker#1": ("worker#0",),
            },
        ),
        (
            a_writer_and_a_borrower,
            {"main": ("reads#0", "writes#0"), "writes#0": ("reads#0",), "reads#0": ("writes#0",)},
        ),
        (a_task_inside, {"main": ("stay#0", "put#0"), "put#0": ("stay#0",), "stay#0": ()}),
    ],
)
def test_a_blocked_task_knows_who_has_what_it_waits_for(
    program: Program, edges: dict[str, tuple[str, ...]]
) -> None:
    blocked = failure_of(program).counterexample.blocked
    assert {one.task: one.waits_for for one in blocked} == edges


async def a_block_without_a_permit() -> None:
    permits = structsync.Semaphore(1, name="permits")
    async with permits, permits:
        pass


def test_a_task_that_waits_at_a_block_is_said_to_wait_for_what_the_block_takes() -> None:
    assert the_last_blocked(a_block_without_a_permit).why == "waits for permits: 0 free, 1 waiting"


async def behind_helpers() -> None:
    async def innermost() -> None:
        await trio.sleep_forever()

    async def between() -> None:
        await innermost()

    async def outermost() -> None:
        await between()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(outermost)
        nursery.start_soon(checkpoint)


def test_the_stack_of_a_blocked_task_is_the_chain_of_callers_in_the_program() -> None:
    blocked = the_last_blocked(behind_helpers)
    names = [frame.partition(" in ")[2] for frame in blocked.where]
    assert names == ["innermost", "between", "outermost"]
    assert blocked.source == "await trio.sleep_forever()"
    assert all(re.match(r"test_report_of_waits\.py:\d+ in ", frame) for frame in blocked.where)


# ==== what is written somewhere ====


def test_a_guard_is_told_by_what_it_returns_or_by_its_name() -> None:
    one = lambda: 1 + 1  # noqa: E731
    assert places.described(one).startswith("1 + 1 (test_report_of_waits.py:")
    assert places.described(functools.partial(one)).startswith("1 + 1 (")
    several = [lambda: 1, lambda: 2]
    assert places.described(several[1]).startswith("<lambda> (test_report_of_waits.py:")
    assert places.described(Box().has_an_item).startswith("has_an_item (")
    assert places.described(bool) == "<class 'bool'>"
    made = eval(compile("lambda: 3", "nowhere.py", "eval"))
    assert places.described(made) == "<lambda> (nowhere.py:1)"


def test_a_file_that_has_the_name_of_many_is_told_with_its_folder() -> None:
    assert places.short("/home/me/pool/__init__.py") == "pool/__init__.py"
    assert places.short("/home/me/pool/queue.py") == "queue.py"


def test_a_statement_of_several_lines_is_told_in_one() -> None:
    line = 1 + test_a_statement_of_several_lines_is_told_in_one.__code__.co_firstlineno
    assert places.statement_at(__file__, line - 1).startswith("def test_a_statement_of_several")
    assert places.statement_at(__file__, line).startswith("line = 1 + test_a_statement")
    both = [
        "a",
        "b",
    ]
    assert places.statement_at(__file__, line + 4) == 'both = [ "a", "b", ]'
    assert both
    assert places.statement_at("nowhere.py", 3) == ""


def test_of_several_statements_in_a_line_the_line_is_told(tmp_path: Path) -> None:
    file = tmp_path / "several.py"
    lines = ["first(); second()", "if third: fourth()", "match fifth:", "    case (", "        6"]
    lines += ["    ):", "        seventh(", "        )", "with (", "    eighth", "): ninth()"]
    file.write_text("\n".join(lines))
    told = [places.statement_at(str(file), number) for number in (1, 2, 3, 7, 9)]
    assert told == [*lines[:3], "seventh( )", "with ("]
