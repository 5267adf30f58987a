"""trio's own tests for the classes that structsync replaces, run from the installed trio with our names.

The source is trio's, unchanged; after each of its imports the four names are bound to our classes, and
``trio.Lock`` to ours where a test reaches for it through the package. Nothing of trio itself is patched.
"""

from __future__ import annotations

import ast
import importlib.util
import inspect
import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

import structsync

NAMES = ("CapacityLimiter", "Condition", "Lock", "Semaphore")
OURS = {name: getattr(structsync, name) for name in NAMES}

# Cases about classes that are not ours, as patterns of their ids.
NOT_OURS = {
    "test_Event": "structsync has no Event of that kind; trio's is simple and right",
    "*-StrictFIFOLock": "trio's subclass of its own Lock; ours is strict without it",
    "*-ChannelLock*": "a lock that the test itself builds from trio's channels",
}
# Cases that end at a private attribute of trio's class: what comes before it must pass, and the test
# below named for the rest says in public terms what the private line says.
READS_PRIVATE = {
    "test_CapacityLimiter_memleak_548": "_pending_borrowers",
    "test_CapacityLimiter_zero_limit_tokens": "_pending_borrowers",
    "test_lock_acquire_unowned_lock": "_lot",
    "test_lock_handover": "_lot",
}
# Cases of an older trio that pin what a newer one changed; structsync follows the newer one.
OUTDATED = {
    "test_CapacityLimiter": "a limiter of 0 tokens was refused; it pauses now",
    "test_CapacityLimiter_change_total_tokens": "a change to 0 tokens was refused; it pauses now",
}


def trio_pauses_at_zero() -> bool:
    try:
        trio.CapacityLimiter(0)
    except ValueError:
        return False
    return True


if trio_pauses_at_zero():
    OUTDATED.clear()
else:
    del READS_PRIVATE["test_CapacityLimiter_zero_limit_tokens"]  # a test of the newer behaviour


def load_with_our_names(name: str) -> ModuleType:
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    tree = ast.parse(Path(spec.origin).read_text())
    rebind = ast.parse(f"from structsync import {', '.join(NAMES)}").body
    tree.body = [
        line
        for statement in tree.body
        for line in (statement, *(rebind if isinstance(statement, ast.ImportFrom) else ()))
    ]
    module = ModuleType(name)
    module.__package__ = name.rpartition(".")[0]
    exec(compile(tree, spec.origin, "exec"), vars(module))  # it is trio's own file
    vars(module)["trio"] = SimpleNamespace(**vars(trio) | OURS)
    return module


@dataclass(frozen=True)
class Case:
    """One test of trio with one choice of its parameters."""

    id: str
    function: Callable[..., Any]
    arguments: dict[str, Any]

    def matches(self, patterns: dict[str, str]) -> bool:
        return any(fnmatch(self.id, pattern) for pattern in patterns)

    async def run(self) -> None:
        outcome = self.function(**self.arguments)
        if inspect.isawaitable(outcome):
            await outcome


def label(mark: pytest.Mark, place: int, value: object) -> str:
    ids = mark.kwargs.get("ids")
    if ids is None:
        return str(value)
    return str(ids(value) if callable(ids) else ids[place])


def cases(module: ModuleType) -> Iterator[Case]:
    for name, function in vars(module).items():
        if not name.startswith("test_"):
            continue
        marks = [m for m in getattr(function, "pytestmark", ()) if m.name == "parametrize"]
        choices = [
            [(m.args[0], value, label(m, place, value)) for place, value in enumerate(m.args[1])]
            for m in marks
        ]
        for choice in itertools.product(*choices):
            labels = [text for _, _, text in choice]
            yield Case("-".join([name, *labels]), function, {key: v for key, v, _ in choice})


ALL = list(cases(load_with_our_names("trio._tests.test_sync")))
OURS_TO_PASS = [c for c in ALL if not c.matches(NOT_OURS | READS_PRIVATE | OUTDATED)]
PRIVATE = [c for c in ALL if c.matches(READS_PRIVATE)]
# How many threads run at once is decided by the limiter; trio's default limiter is not ours.
THREADS = [
    c
    for c in cases(load_with_our_names("trio._tests.test_threads"))
    if c.function.__name__ == "test_run_in_worker_thread_limiter"
    and not c.arguments["use_default_limiter"]
]


def by_id(case: Case) -> str:
    return case.id


@pytest.mark.parametrize("case", OURS_TO_PASS + THREADS, ids=by_id)
async def test_trios_own_test_passes_with_our_classes(case: Case) -> None:
    await case.run()


@pytest.mark.parametrize("case", PRIVATE, ids=by_id)
async def test_trios_own_test_passes_up_to_a_private_attribute(case: Case) -> None:
    with pytest.raises(AttributeError, match=rf"'{READS_PRIVATE[case.id]}'"):
        await case.run()


@pytest.mark.parametrize("pattern", NOT_OURS | READS_PRIVATE | OUTDATED)
def test_no_exception_is_stale(pattern: str) -> None:
    assert [case.id for case in ALL if case.matches({pattern: ""})]


def test_each_of_our_four_classes_is_tested() -> None:
    tested = " ".join(case.id for case in OURS_TO_PASS)
    assert [name for name in NAMES if name not in tested] == []
    assert len(THREADS) >= 2


def test_the_names_in_trios_tests_are_ours() -> None:
    module = load_with_our_names("trio._tests.test_sync")
    for name in NAMES:
        assert getattr(module, name) is getattr(module.trio, name) is OURS[name]
        assert getattr(trio, name) is not OURS[name]


# ==== what the private lines say, in public terms ====


async def test_a_cancelled_borrower_is_forgotten() -> None:
    """As test_CapacityLimiter_memleak_548 and test_CapacityLimiter_zero_limit_tokens end."""
    limiter = structsync.CapacityLimiter(0)
    for _ in range(2):  # the second time it would be refused if it were still noted as waiting
        async with trio.open_nursery() as nursery:
            nursery.start_soon(limiter.acquire_on_behalf_of, "late")
            await wait_all_tasks_blocked()
            nursery.cancel_scope.cancel()
        assert limiter.statistics().tasks_waiting == 0


async def test_acquiring_a_lock_whose_owner_exited_names_the_owner() -> None:
    """As test_lock_acquire_unowned_lock."""
    lock = structsync.Lock()
    owners: list[trio.lowlevel.Task] = []

    async def exit_with_the_lock() -> None:
        owners.append(trio.lowlevel.current_task())
        await lock.acquire()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(exit_with_the_lock)
    message = f"^Owner of this lock exited without releasing: {re.escape(str(owners[0]))}$"
    with pytest.raises(trio.BrokenResourceError, match=message):
        await lock.acquire()


@pytest.mark.parametrize("library", [trio, structsync], ids=["trio", "structsync"])
async def test_what_would_be_refused_is_cancelled_in_a_cancelled_scope(library: Any) -> None:
    broken, held, limiter = library.Lock(), library.Lock(), library.CapacityLimiter(2)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(broken.acquire)
    await held.acquire()
    await limiter.acquire()
    for acquire in (broken.acquire, held.acquire, limiter.acquire):
        with trio.CancelScope() as scope:
            scope.cancel()
            await acquire()
        assert scope.cancelled_caught
    held.release()
    limiter.release()


@pytest.mark.parametrize("library", [trio, structsync], ids=["trio", "structsync"])
async def test_a_lock_that_broke_adds_no_error_to_that_of_its_owner(library: Any) -> None:
    lock = library.Lock()

    async def fail_with_the_lock() -> None:
        await lock.acquire()
        await wait_all_tasks_blocked()
        raise ValueError("the only error")

    async def clean_up() -> None:
        try:
            await trio.sleep_forever()
        finally:
            async with lock:
                raise AssertionError("not reached")

    with pytest.raises(ExceptionGroup) as caught:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(fail_with_the_lock)
            nursery.start_soon(clean_up)
    assert [type(error) for error in caught.value.exceptions] == [ValueError]


async def test_a_lock_breaks_with_the_task_that_it_was_handed_to() -> None:
    """As test_lock_handover."""
    lock = structsync.Lock()
    lock.acquire_nowait()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(lock.acquire)
        await wait_all_tasks_blocked()
        lock.release()
    with pytest.raises(trio.BrokenResourceError):
        lock.acquire_nowait()
