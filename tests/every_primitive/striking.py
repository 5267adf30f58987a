"""Strikes at the k-th instruction inside a primitive, for k = 1, 2, ... until a run is not struck.

A strike may fall between any two instructions, where CPython looks for signals at some of them only,
so a sweep is stricter than a keyboard.
"""

import dis
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import trio
from trio._core import _run
from trio.lowlevel import currently_ki_protected

import structsync

PACKAGE = str(Path(structsync.__file__).parent)
# Once a test has explored, its audit hook is there for good and runs wherever a socket is opened or
# a trace function is taken away: not what is swept here.
EXPLORER = str(Path(PACKAGE, "testing"))


@cache
def _is_swept(filename: str) -> bool:
    return filename.startswith(PACKAGE) and not filename.startswith(EXPLORER)


def swept(code: CodeType) -> bool:
    """Whether it is code of the primitives. It is asked at each instruction, and at each call."""
    return _is_swept(code.co_filename)


def interrupt() -> None:
    signal.raise_signal(signal.SIGINT)


class Striker:
    """Strikes at the k-th instruction that runs inside structsync, and notes where that was."""

    def __init__(self, k: int, strike: Callable[[], object]) -> None:
        self.left = k
        self.strike = strike
        self.struck: list[str] = []

    def instruction(self, code: CodeType, offset: int) -> object:
        if not swept(code):
            return DISABLE
        self.left -= 1
        if self.left == 0:
            self.struck.append(f"{code.co_qualname}, instruction {offset}")
            self.strike()
        return None

    def trace(self, frame: FrameType, event: str, arg: object) -> Any:
        if not swept(frame.f_code) or self.struck:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self.opcode

    def opcode(self, frame: FrameType, event: str, arg: object) -> Any:
        if event == "opcode":
            self.instruction(frame.f_code, frame.f_lasti)
        return self.opcode


class Moments(Striker):
    """Strikes nowhere, and notes at which instructions an interrupt may make a difference.

    In code that trio protects it only leaves a note, which is read where a task parks or passes a checkpoint. So of
    instructions of one frame that follow each other and can do neither the first one stands for all.
    """

    def __init__(self) -> None:
        super().__init__(0, interrupt)
        self.last = 0
        self.found: list[int] = []
        self._before: tuple[int, str] = (0, "")

    def instruction(self, code: CodeType, offset: int) -> object:
        if not swept(code):
            return DISABLE
        self.last += 1
        frame = sys._getframe(1)
        while frame.f_code is not code:  # a method of this class, where a trace function calls it
            assert frame.f_back is not None
            frame = frame.f_back
        where, before = id(frame), self._before
        self._before = where, dis.opname[code.co_code[offset]]
        follows = where == before[0] and before[1].startswith(_NO_CHECKPOINT)
        if not (follows and currently_ki_protected()):
            self.found.append(self.last)
        return None


#: How the names of instructions begin that call no function by name and await nothing. A property or a finalizer that
#: one of them may run cannot await, and if it is of structsync, its frame comes between.
_NO_CHECKPOINT = (
    "COPY",
    "EXTENDED_ARG",
    "IS_OP",
    "JUMP",
    "LOAD_",
    "NOP",
    "POP_JUMP",
    "POP_TOP",
    "PUSH_NULL",
    "STORE_ATTR",
    "STORE_FAST",
    "SWAP",
    "TO_BOOL",
)


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

    @contextmanager
    def every_call(striker: Striker) -> Iterator[None]:
        """Show the striker the beginning of each function: of all instructions, where a finalizer runs."""
        events = sys.monitoring.events
        sys.monitoring.use_tool_id(TOOL, "sweep")
        for event in (events.PY_START, events.PY_RESUME):
            sys.monitoring.register_callback(TOOL, event, striker.instruction)
        sys.monitoring.set_events(TOOL, events.PY_START | events.PY_RESUME)
        try:
            yield
        finally:
            sys.monitoring.set_events(TOOL, 0)
            sys.monitoring.free_tool_id(TOOL)

else:
    DISABLE = None

    @contextmanager
    def _traced(trace: Callable[[FrameType, str, object], Any]) -> Iterator[None]:
        before = sys.gettrace()
        sys.settrace(trace)
        try:
            yield
        finally:
            sys.settrace(before)

    def every_instruction(striker: Striker) -> AbstractContextManager[None]:
        """Show the striker each instruction."""
        return _traced(striker.trace)

    def every_call(striker: Striker) -> AbstractContextManager[None]:
        """Show the striker the beginning of each function: of all instructions, where a finalizer runs."""

        def begun(frame: FrameType, event: str, argument: object) -> None:
            striker.instruction(frame.f_code, frame.f_lasti)

        return _traced(begun)


def sweep(program: Callable[[int], list[str]]) -> int:
    """Run the program with k = 1, 2, ... until it was not struck; return how often it was."""
    k = 1
    while program(k):
        k += 1
    return k - 1


class Interrupts:
    """Runs a program with an interrupt: at each of its instructions, or where that may make a difference."""

    def __init__(self, *, at_each: bool) -> None:
        self._at_each = at_each
        self._last = 0
        self._moments: list[int] = []

    def sweep(self, program: Callable[[int], list[str]]) -> int:
        """Run the program with each such number, and with one at which it has ended; return how many it has."""
        assert program(0) == []
        moments = range(1, self._last + 1) if self._at_each else self._moments
        for k in moments:
            assert program(k), k
        assert program(self._last + 1) == []
        assert moments
        return self._last

    def __call__(self, main: Callable[[], Awaitable[None]], k: int) -> list[str]:
        """Run main, with SIGINT at instruction k; the run ends well or with a KeyboardInterrupt."""
        striker = Striker(k, interrupt) if k else Moments()
        _run._r.seed(0)  # each run in the same order, so that a number means the same instruction
        with every_instruction(striker):
            try:
                trio.run(main)
            except KeyboardInterrupt:
                pass
            except BaseExceptionGroup as group:
                if rest := group.split(KeyboardInterrupt)[1]:
                    raise AssertionError(f"struck in {striker.struck}") from rest
        if isinstance(striker, Moments):
            self._last, self._moments = striker.last, striker.found
        return striker.struck
