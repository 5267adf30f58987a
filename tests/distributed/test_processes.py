"""Real processes on one file: killed while they hold, while they wait, and before they tell anybody."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio

from structsync.distributed import Session, open_session
from tests.distributed.history import Held, complaints
from tests.distributed.waiting import until_waiting

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="sqlite:// needs Linux"),
    pytest.mark.timeout(90),
]

CHILD = str(Path(__file__).with_name("child.py"))


class Child:
    """A process of ``child.py``, and what it says."""

    def __init__(self, process: trio.Process) -> None:
        self.process = process
        self.rest = b""

    async def says(self) -> list[str]:
        """Return the words of its next line; none when it has ended."""
        assert self.process.stdout is not None
        while b"\n" not in self.rest:
            data = await self.process.stdout.receive_some()
            if not data:
                return []
            self.rest += data
        line, _, self.rest = self.rest.partition(b"\n")
        return line.decode().split()

    async def release(self) -> None:
        assert self.process.stdin is not None
        await self.process.stdin.send_all(b"\n")

    async def kill(self) -> None:
        self.process.kill()
        await self.process.wait()


@asynccontextmanager
async def child(*arguments: str, env: Mapping[str, str] | None = None) -> AsyncIterator[Child]:
    process = await trio.lowlevel.open_process(
        [sys.executable, CHILD, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, **(env or {})},
    )
    try:
        yield Child(process)
    finally:
        process.kill()
        with trio.CancelScope(shield=True):
            await process.wait()
        for stream in (process.stdin, process.stdout):
            assert stream is not None
            await trio.aclose_forcefully(stream)


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite://{tmp_path}/locks.db"


async def holds(one: Child) -> int:
    assert await one.says() == ["asks"]
    word, token = await one.says()
    assert word == "holds"
    return int(token)


async def waits(one: Child, session: Session) -> None:
    assert await one.says() == ["asks"]
    await until_waiting(session.lock("lock"), 1)


async def test_a_holder_that_is_killed_lets_the_next_one_in(url: str) -> None:
    async with child("hold", url) as holder, open_session(url, namespace="test") as session:
        token = await holds(holder)
        async with trio.open_nursery() as nursery:

            async def kill() -> None:
                await until_waiting(session.lock("lock"), 1)
                await holder.kill()

            nursery.start_soon(kill)
            async with session.lock("lock") as grant:
                assert grant.token > token


async def test_a_waiter_that_is_killed_is_passed_over(url: str) -> None:
    async with child("hold", url) as holder, open_session(url, namespace="test") as session:
        await holds(holder)
        async with child("hold", url) as waiter:
            await waits(waiter, session)
            async with trio.open_nursery() as nursery:

                async def kill() -> None:
                    await until_waiting(session.lock("lock"), 2)
                    await waiter.kill()
                    await holder.release()

                nursery.start_soon(kill)
                async with session.lock("lock"):
                    assert await holder.says() == ["gave", "back"]


async def test_a_holder_and_a_waiter_that_are_killed_together_are_in_nobodys_way(url: str) -> None:
    async with child("hold", url) as holder, open_session(url, namespace="test") as session:
        await holds(holder)
        async with child("hold", url) as waiter:
            await waits(waiter, session)
            async with trio.open_nursery() as nursery:

                async def kill() -> None:
                    await until_waiting(session.lock("lock"), 2)
                    holder.process.kill()
                    waiter.process.kill()

                nursery.start_soon(kill)
                async with session.lock("lock"):
                    pass


async def test_who_dies_between_its_release_and_the_hint_has_released(url: str) -> None:
    async with child("hold", url, env={"DIE_BEFORE_HINT": "1"}) as holder:
        async with open_session(url, namespace="test") as session:
            await holds(holder)
            async with trio.open_nursery() as nursery:

                async def release() -> None:
                    await until_waiting(session.lock("lock"), 1)
                    await holder.release()

                nursery.start_soon(release)
                with trio.fail_after(20):
                    async with session.lock("lock"):
                        assert await holder.says() == []


async def test_processes_share_permits_and_no_more(url: str) -> None:
    history: list[Held] = []

    async def run() -> None:
        async with child("storm", url, "25") as one:
            while words := await one.says():
                token, start, end = map(int, words[1:])
                history.append(Held(token, start, end))

    async with trio.open_nursery() as nursery:
        for _ in range(4):
            nursery.start_soon(run)
    assert len(history) == 100
    assert complaints(history, 2) == []


# ==== The judge can complain ====


@pytest.mark.parametrize(
    ("history", "problem"),
    [
        ([Held(1, 0, 5), Held(2, 4, 9)], "2 of 1 permits"),
        ([Held(1, 0, None), Held(2, 4, 9)], "2 of 1 permits"),
        ([Held(1, 0, 2), Held(1, 4, 9)], "two grants have the token 1"),
        ([Held(2, 0, 2), Held(1, 4, 9)], "the token 1 came after 2"),
        ([Held(1, 0, 2, permits=2)], "2 of 1 permits"),
    ],
)
def test_a_history_that_went_wrong_is_complained_about(history: list[Held], problem: str) -> None:
    assert any(problem in one for one in complaints(history, 1))


def test_a_history_that_went_well_is_not_complained_about() -> None:
    assert complaints([Held(1, 0, 5), Held(2, 5, 9), Held(3, 10, None)], 1) == []
