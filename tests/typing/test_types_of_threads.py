"""What holds and calls of threads take and return: for mypy, for pyright, and when it runs."""

# pyright: reportUnnecessaryTypeIgnoreComment=error

from __future__ import annotations

from typing import assert_type

import trio

import structsync
from structsync import threads


async def name(number: int) -> str:
    await trio.lowlevel.checkpoint()
    return str(number)


async def test_a_hold_has_the_value_of_its_block_and_a_call_that_of_its_function() -> None:
    def work() -> None:
        with threads.hold(structsync.open_pool(1)) as opened:
            assert isinstance(assert_type(opened, structsync.TaskPool), structsync.TaskPool)
        with threads.hold(structsync.Lock(), timeout=1) as nothing:
            assert assert_type(nothing, None) is None
        with threads.hold(structsync.Semaphore(1).permits(1)):
            pass
        assert assert_type(threads.call(name, 3, timeout=1.5), str) == "3"
        threads.call(name, "3")  # type: ignore[arg-type]

    await trio.to_thread.run_sync(work)
