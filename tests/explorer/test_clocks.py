"""Clocks that only measure tell the schedule's time, however the test has got hold of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic, perf_counter_ns

import pytest
import trio
from trio.lowlevel import checkpoint

from structsync.testing import Verdict, explore


def _by_default(clock: Callable[[], float] = time.monotonic) -> float:
    return clock()


@dataclass
class Started:
    at: float = field(default_factory=time.perf_counter)


class OfAClass:
    now = staticmethod(time.monotonic)


KEPT = [time.monotonic]

CLOCKS: dict[str, Callable[[], float]] = {
    "by its module": lambda: time.monotonic(),
    "by its own name": lambda: monotonic(),
    "in whole nanoseconds": lambda: perf_counter_ns() / 1_000_000_000,
    "as a default": _by_default,
    "as a factory of a dataclass": lambda: Started().at,
    "as an attribute of a class": OfAClass.now,
}


@pytest.mark.parametrize("name", CLOCKS)
def test_a_clock_tells_the_time_of_the_schedule(name: str) -> None:
    async def program() -> None:
        read = CLOCKS[name] if name != "as an attribute of a class" else OfAClass.now

        async def sleeps() -> None:
            before = read()
            await trio.sleep(3)
            assert read() - before == 3
            assert read() == trio.current_time()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(sleeps)
            nursery.start_soon(checkpoint)

    found = explore(program)
    assert found.failure is None, found.failure.message
    assert found.verdict is Verdict.CONFIRMED
    assert found.notes
    assert all(note.endswith("is the schedule's time") for note in found.notes)


def test_the_result_says_which_clock_was_read_and_where() -> None:
    async def program() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(checkpoint)
            nursery.start_soon(checkpoint)
        time.monotonic()

    line = program.__code__.co_firstlineno + 4
    found = explore(program)
    assert found.notes == (f"time.monotonic() at {__file__}:{line} is the schedule's time",)
    assert found.notes[0] in found.covered


def test_a_timeout_that_is_measured_is_explored() -> None:
    """What depends on the clock is found: it was refused before."""

    async def program() -> None:
        async def waits() -> None:
            deadline = time.monotonic() + 1
            await trio.sleep(2)
            assert time.monotonic() < deadline, "too late"

        async with trio.open_nursery() as nursery:
            nursery.start_soon(waits)
            nursery.start_soon(checkpoint)

    failure = explore(program).failure
    assert failure is not None
    assert failure.message.startswith("AssertionError: too late")


def test_code_that_is_not_explored_gets_the_real_time() -> None:
    async def program() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(checkpoint)
            nursery.start_soon(checkpoint)

    found = explore(program)
    assert found.notes == ()
    assert found.seconds > 0
    assert time.monotonic is KEPT[0]
    assert monotonic() > 0
