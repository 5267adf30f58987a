"""C4 and C1 for every primitive, at every step: an interrupt or a cancellation loses nothing.

The sweeps run one small program again and again, and strike at the k-th step of it for k = 1, 2, ...
until a run ends without having been struck. A step is one bytecode instruction in a frame of
structsync (``sys.settrace``), or one step of a task (a trio instrument). After each run the primitive
must be whole: as free as before, and usable.

A trace function strikes between any two instructions, where CPython looks for signals at some of them
only, so the sweep is stricter than a keyboard.
"""

import signal
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest
import trio
import trio.testing

import structsync

from .kinds import Kind

PACKAGE = str(Path(structsync.__file__).parent)

pytestmark = [
    # Struck between making a coroutine and awaiting it: Python then says so, and nothing is taken.
    pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning"),
    pytest.mark.slow,
]


def interrupt() -> None:
    signal.raise_signal(signal.SIGINT)


class Striker:
    """Strikes at the k-th instruction that runs inside structsync, and notes where that was."""

    def __init__(self, k: int, strike: Callable[[], object]) -> None:
        self.left = k
        self.strike = strike
        self.struck: list[str] = []

    def instruction(self, code: CodeType, offset: int) -> object:
        if not code.co_filename.startswith(PACKAGE):
            return DISABLE
        self.left -= 1
        if self.left == 0:
            self.struck.append(f"{code.co_qualname}, instruction {offset}")
            self.strike()
        return None

    def trace(self, frame: FrameType, event: str, arg: object) -> Any:
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            self.instruction(frame.f_code, frame.f_lasti)
        return self.trace


if sys.version_info >= (3, 12):
    DISABLE = sys.monitoring.DISABLE
    TOOL = 3  # one of the numbers that no tool of the standard library claims

    @contextmanager
    def every_instruction(striker: Striker) -> Iterator[None]:
        """Show the striker each instruction. (sys.settrace misses some from Python 3.12 on.)"""
        instruction = sys.monitoring.events.INSTRUCTION
        sys.monitoring.use_tool_id(TOOL, "sweep")
        sys.monitoring.register_callback(TOOL, instruction, striker.instruction)
        sys.monitoring.set_events(TOOL, instruction)
        try:
            yield
        finally:
            sys.monitoring.set_events(TOOL, 0)
            sys.monitoring.free_tool_id(TOOL)

else:
    DISABLE = None

    @contextmanager
    def every_instruction(striker: Striker) -> Iterator[None]:
        """Show the striker each instruction."""
        before = sys.gettrace()
        sys.settrace(striker.trace)
        try:
            yield
        finally:
            sys.settrace(before)


def sweep(program: Callable[[int], list[str]]) -> int:
    """Run the program with k = 1, 2, ... until it was not struck; return how often it was."""
    k = 1
    while program(k):
        k += 1
    return k - 1


def interrupted(main: Callable[[], Awaitable[None]], k: int) -> list[str]:
    """Run main, with SIGINT at instruction k; the run ends well or with a KeyboardInterrupt."""
    striker = Striker(k, interrupt)
    with every_instruction(striker):
        try:
            trio.run(main)
        except KeyboardInterrupt:
            pass
        except BaseExceptionGroup as group:
            if rest := group.split(KeyboardInterrupt)[1]:
                raise AssertionError(f"struck in {striker.struck}") from rest
    return striker.struck


async def usable(kind: Kind, primitive: Any) -> None:
    """Check that a take passes: at once, or with a helper where a kind needs one."""
    with trio.fail_after(1):
        async with trio.open_nursery() as nursery:
            kind.prepare(primitive)
            nursery.start_soon(take_and_give, kind, primitive)
            if not kind.passes:
                await trio.testing.wait_all_tasks_blocked()
                kind.free(primitive)


async def take_and_give(kind: Kind, primitive: Any) -> None:
    await kind.take(primitive)
    kind.give(primitive)


def assert_whole(kind: Kind, primitive: Any, before: object) -> None:
    if kind.lends:  # an unblock that nobody used is rightly still there
        assert kind.state(primitive) == before
    assert primitive.statistics().tasks_waiting == 0
    trio.run(usable, kind, primitive, clock=trio.testing.MockClock(autojump_threshold=0))


def sweep_program(kind: Kind, main: Callable[[Any], Awaitable[None]]) -> int:
    """Interrupt main(primitive) at every instruction; the primitive is whole afterwards."""

    def program(k: int) -> list[str]:
        primitive = kind.make()
        before = kind.state(primitive)
        struck = interrupted(lambda: main(primitive), k)
        try:
            assert_whole(kind, primitive, before)
        except BaseException as error:
            error.add_note(f"struck in {struck}")
            raise
        return struck

    return sweep(program)


def test_an_interrupt_at_any_instruction_of_a_free_take_loses_nothing(passing: Kind) -> None:
    async def main(primitive: Any) -> None:
        passing.prepare(primitive)
        await passing.take(primitive)
        try:
            await trio.lowlevel.checkpoint()
        finally:
            passing.give(primitive)

    assert sweep_program(passing, main) > 50


def test_an_interrupt_at_any_instruction_of_a_busy_take_loses_nothing(kind: Kind) -> None:
    async def occupant(primitive: Any, task_status: Any) -> None:
        kind.occupy(primitive)
        try:
            task_status.started()
            await trio.testing.wait_all_tasks_blocked()
        finally:
            if kind.lends:
                kind.free(primitive)
        if not kind.lends:
            kind.free(primitive)

    async def main(primitive: Any) -> None:
        async with trio.open_nursery() as nursery:
            await nursery.start(occupant, primitive)
            await kind.take(primitive)
            try:
                await trio.lowlevel.checkpoint()
            finally:
                kind.give(primitive)

    assert sweep_program(kind, main) > 50


async def takes_in_a_block(kind: Kind, primitive: Any) -> None:
    block = primitive.permits(3) if kind.name == "three permits" else primitive
    async with block:
        await trio.lowlevel.checkpoint()


def test_an_interrupt_at_any_instruction_of_an_async_with_block_loses_nothing(
    lending: Kind,
) -> None:
    if not hasattr(lending.cls, "__aenter__"):
        pytest.skip("not a context manager itself")
    assert sweep_program(lending, lambda primitive: takes_in_a_block(lending, primitive)) > 50
