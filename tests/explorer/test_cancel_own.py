"""``cancel="own"``: what a library keeps to itself is not cancelled, its caller is."""

from __future__ import annotations

import functools

import pytest
import trio
from trio.lowlevel import checkpoint

from structsync.testing import ExploredRun, Verdict, explore
from structsync.testing._execution.own import file_of, standing_for

from . import library


async def two_ask() -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(library.ask_a_helper)
        nursery.start_soon(library.ask_a_helper)


def test_a_librarys_private_nursery_is_cancelled_by_default() -> None:
    failure = explore(two_ask).failure
    assert failure is not None
    assert failure.message == "AssertionError: the helper has not answered"


@pytest.mark.slow
def test_it_is_not_where_only_what_is_the_tests_own_may_be() -> None:
    found = explore(two_ask, cancel="own")
    assert found.verdict is Verdict.CONFIRMED
    assert "cancels<=1 (own)" in found.covered


def test_a_task_that_the_test_starts_is_cancelled_alone() -> None:
    """No task has opened a scope for that: the scopes of the test's file alone would confirm this."""

    async def program() -> None:
        lock = trio.Semaphore(1)

        async def forgets() -> None:
            await lock.acquire()
            await checkpoint()
            lock.release()  # in no "finally"

        async with trio.open_nursery() as nursery:
            for _ in range(2):
                nursery.start_soon(forgets)

    assert explore(program, cancels=0).verdict is Verdict.CONFIRMED
    failure = explore(program, cancel="own").failure
    assert failure is not None
    assert failure.kind == "deadlock"
    assert "forgets#0" in failure.token


def test_a_task_that_a_library_wraps_and_starts_is_not_the_tests() -> None:
    async def program(x: ExploredRun) -> None:
        async def is_not_cancelled() -> None:
            try:
                await checkpoint()
            except trio.Cancelled:
                x.fail("cancelled")
                raise

        with x.not_cancelled():
            async with library.service() as start:
                start(is_not_cancelled)
                start(checkpoint)

    assert explore(program, cancel="tasks").failure is not None
    assert explore(program, cancel="own").verdict is Verdict.CONFIRMED


def test_a_scope_that_the_test_opens_is_cancelled() -> None:
    async def program() -> None:
        async def gives_up() -> None:
            with trio.CancelScope():
                await library.ask_a_helper()
                return
            raise AssertionError("cancelled")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(gives_up)
            nursery.start_soon(checkpoint)

    failure = explore(program, cancel="own").failure
    assert failure is not None
    assert "gives_up#0~0" in failure.token


class CalledItself:
    async def __call__(self) -> None:
        """Do nothing."""


def test_the_file_of_a_test_is_found_behind_what_stands_for_it() -> None:
    assert file_of(two_ask) == __file__
    assert file_of(functools.partial(two_ask)) == __file__
    assert file_of(standing_for(two_ask, lambda: None)) == __file__
    assert file_of(functools.wraps(two_ask)(lambda: None)) == __file__
    assert file_of(CalledItself()) == __file__
    assert file_of(print) is None
