"""What a task keeps on its stack while it waits: each sleeper pays for it, and each wake passes it."""

from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

import structsync
from structsync import CapacityLimiter, Lock, Semaphore

PACKAGE = str(Path(structsync.__file__).parent)


def frames_of_the_package(task: trio.lowlevel.Task) -> list[str]:
    return [
        frame.f_code.co_qualname
        for frame, _ in task.iter_await_frames()
        if frame.f_code.co_filename.startswith(PACKAGE)
    ]


@pytest.mark.parametrize("kind", [Semaphore, CapacityLimiter, Lock])
async def test_a_block_that_waits_keeps_one_frame_of_the_package(kind: type[Any]) -> None:
    primitive = Lock() if kind is Lock else kind(1)
    is_taken = trio.Event()

    async def waiter(task_status: Any) -> None:
        async with primitive:  # the first time, what is owned notes its owner after the wait
            pass
        task_status.started(trio.lowlevel.current_task())
        await is_taken.wait()
        async with primitive:
            pass

    async with trio.open_nursery() as nursery:
        task = await nursery.start(waiter)
        async with primitive:
            is_taken.set()
            await wait_all_tasks_blocked()
            assert primitive.statistics().tasks_waiting == 1
            assert frames_of_the_package(task) == ["acquire"]
