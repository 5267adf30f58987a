"""P11: an interruption at every single step of taking and giving back leaves nothing behind.

Cancellation can strike at schedule points, so the first sweep cancels after each number of them.
``KeyboardInterrupt`` can strike between any two lines, so the second one raises a real ``SIGINT`` at
each line of structsync that runs, one line per run, until a run ends without meeting that line.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Awaitable, Callable
from types import FrameType
from typing import Any

import pytest
import trio
from trio.lowlevel import checkpoint
from trio.testing import wait_all_tasks_blocked

from structsync import CapacityLimiter, Condition, Lock, Semaphore

from ..every_primitive.striking import swept  # noqa: TID252 - what is swept has one home


class Subject:
    """A primitive, a block that takes it and gives it back, and whether it is free again."""

    def __init__(self) -> None:
        self.semaphore = Semaphore(3, max_value=3)
        self.lock = Lock()
        self.limiter = CapacityLimiter(1)
        self.condition = Condition(self.lock)

    async def one_permit(self) -> None:
        async with self.semaphore:
            await checkpoint()

    async def all_permits(self) -> None:
        async with self.semaphore.permits(3):
            await checkpoint()

    async def a_request(self) -> None:
        with self.semaphore.request(2) as request:
            await request.wait()

    async def the_lock(self) -> None:
        async with self.lock:
            await checkpoint()

    async def a_token(self) -> None:
        async with self.limiter:
            await checkpoint()

    async def a_wait(self) -> None:
        async with self.condition:
            await self.condition.wait()

    async def rival(self) -> None:
        """Make each of the blocks above wait at some time, and let it go on."""
        async with self.condition, self.semaphore, self.limiter:
            await checkpoint()
            self.condition.notify()
        while True:  # until it is cancelled: whenever the wait begins, a notification follows
            await checkpoint()
            async with self.condition:
                self.condition.notify_all()

    def assert_free(self) -> None:
        limiter, lock = self.limiter.statistics(), self.lock.statistics()
        assert (self.semaphore.value, self.semaphore.statistics().tasks_waiting) == (3, 0)
        assert (limiter.borrowed_tokens, limiter.tasks_waiting) == (0, 0)
        assert (lock.owner, lock.tasks_waiting, self.condition.statistics().tasks_waiting) == (
            None,
            0,
            0,
        )
        assert "broken" not in repr(self.lock)


Block = Callable[[Subject], Awaitable[None]]
each_block = pytest.mark.parametrize(
    "block",
    [
        Subject.one_permit,
        Subject.all_permits,
        Subject.a_request,
        Subject.the_lock,
        Subject.a_token,
        Subject.a_wait,
    ],
)


@each_block
@pytest.mark.parametrize("schedule_points", range(10))
async def test_a_cancellation_after_any_number_of_steps_leaves_nothing(
    block: Block, schedule_points: int
) -> None:
    """P11, Effect-TS/effect#6910: interrupted between taking the permits and noting it."""
    subject = Subject()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(subject.rival)
        nursery.start_soon(block, subject)
        for _ in range(schedule_points):
            await checkpoint()
        nursery.cancel_scope.cancel()
    subject.assert_free()


class InterruptAt:
    """Raises SIGINT at the n-th line of structsync that runs inside the block."""

    def __init__(self, line: int) -> None:
        self.lines_left = line
        self.met = False

    def __enter__(self) -> None:
        self.previous = sys.gettrace()
        sys.settrace(self.enter_frame)

    def __exit__(self, *exc_info: object) -> None:
        sys.settrace(self.previous)

    def enter_frame(self, frame: FrameType, event: str, arg: object) -> Any:
        return self.in_frame if swept(frame.f_code) else None

    def in_frame(self, frame: FrameType, event: str, arg: object) -> Any:
        if event == "line":
            self.lines_left -= 1
            if self.lines_left == -1:
                self.met = True
                signal.raise_signal(signal.SIGINT)
        return self.in_frame


def run_interrupted(block: Block, line: int) -> tuple[Subject, bool]:
    """Run the block as the main task with an interrupt at that line; say whether it came there."""
    subject = Subject()

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(subject.rival)
            await wait_all_tasks_blocked() if line % 2 else await checkpoint()
            await block(subject)
            nursery.cancel_scope.cancel()

    interrupt = InterruptAt(line)
    try:
        with interrupt:
            trio.run(main)
    except* KeyboardInterrupt:
        pass
    return subject, interrupt.met


# In which order tasks run is up to trio; what can be struck between two lines, to the version of Python.
@pytest.mark.parametrize(
    "run_order", ["arrival", pytest.param("reversed", marks=pytest.mark.slow)], indirect=True
)
@each_block
def test_a_keyboard_interrupt_at_any_line_leaves_nothing(block: Block) -> None:
    """P11, Effect-TS/effect#6910: the sweep over every operation, as its authors test it."""
    line, met = 0, True
    while met:
        subject, met = run_interrupted(block, line)
        subject.assert_free()
        line += 1
    assert line > 20  # a sweep that meets nothing would be green by emptiness
