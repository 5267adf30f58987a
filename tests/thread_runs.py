"""Threads that structsync.threads is used from, and a run in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import outcome
import trio
from trio.testing import wait_all_tasks_blocked

import structsync
from structsync._runtime.errand import Errand


class Foreign:
    """A thread that trio knows nothing of, and how it ended."""

    def __init__(self, fn: Callable[[], object]) -> None:
        self._ended: list[outcome.Outcome[Any]] = []
        self._thread = threading.Thread(
            target=lambda: self._ended.append(outcome.capture(fn)), daemon=True
        )
        self._thread.start()

    def result(self, limit: float = 20) -> Any:
        """Return what it returns, or raise what it raises; within so many seconds."""
        self._thread.join(limit)
        assert self._ended, "the thread waits forever"
        return self._ended[0].unwrap()

    async def wait(self, limit: float = 20) -> Any:
        """Return or raise that, in a run."""
        return await trio.to_thread.run_sync(self.result, limit)


class Answer:
    """What a thread is told, for who plays that thread in the run itself."""

    def __init__(self) -> None:
        self.came = trio.Event()
        self.told: list[outcome.Outcome[Any]] = []

    def put(self, answer: outcome.Outcome[Any]) -> None:
        self.told.append(answer)
        self.came.set()


def answered_to(errand: Errand, deputies: dict[Any, Any]) -> Answer:
    """Make the errand one of a thread that is played, with these deputies; return what it will be told."""
    errand.deputies = deputies
    errand._reply = answer = Answer()  # type: ignore[assignment]  # no thread waits for it
    return answer


async def until_waiting(primitive: Any, count: int = 1) -> None:
    """Wait until so many requests are pending; threads decide when."""
    while primitive.statistics().tasks_waiting < count:  # noqa: ASYNC110 - nothing tells
        await trio.sleep(0.001)
    await wait_all_tasks_blocked()


def accept_all(errands: Iterable[Errand]) -> None:
    """Accept what a thread asks for in one step of the run."""
    for errand in errands:
        errand.accept()


@contextmanager
def run_elsewhere(
    main: Callable[[structsync.Lock], Awaitable[object]] | None = None,
) -> Iterator[tuple[trio.lowlevel.TrioToken, structsync.Lock]]:
    """A run in another thread, which goes on until the block ends; its token, and a lock."""
    lock = structsync.Lock()
    tokens: list[trio.lowlevel.TrioToken] = []
    ready, done = threading.Event(), trio.Event()

    async def run() -> None:
        tokens.append(trio.lowlevel.current_trio_token())
        async with trio.open_nursery() as nursery:
            if main is not None:
                nursery.start_soon(main, lock)
            ready.set()
            await done.wait()
            nursery.cancel_scope.cancel()

    thread = Foreign(lambda: trio.run(run))
    assert ready.wait(20)
    try:
        yield tokens[0], lock
    finally:
        tokens[0].run_sync_soon(done.set)
        thread.result()
