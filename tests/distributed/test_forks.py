"""What a process that was forked from one with sessions may do: leave those alone."""

from __future__ import annotations

import os
import socket
import sys
from collections import Counter
from pathlib import Path
from weakref import WeakSet

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from structsync.distributed import LeaseLost, Session, forks, open_session
from tests.distributed.children import child
from tests.distributed.conftest import Open, Place
from tests.distributed.test_lines import two
from tests.distributed.waiting import until_waiting

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="sqlite:// needs Linux"),
    pytest.mark.timeout(60),
]


@pytest.mark.parametrize("place", ["redis"], indirect=True)
async def test_a_forked_process_that_leaves_the_blocks_takes_nothing_from_its_parent(
    place: Place,
) -> None:
    async with child("fork", *place.arguments) as parent, place.opens() as session:
        word, token = await parent.says()
        assert word == "holds"
        assert (await session.lock("lock").statistics()).holders == 1
        await parent.release()
        assert await parent.says() == ["gave", "back"]
        async with session.lock("lock") as grant:
            assert grant.token > int(token)


async def test_a_forked_process_opens_no_file_of_its_parent(tmp_path: Path) -> None:
    """SQLite takes the parent's locks for its own, so that it would write while others do."""
    async with child("fork again", f"sqlite://{tmp_path}/db", "test", "0") as parent:
        said = " ".join(await parent.says())
        assert "was in use in the process that this one was forked from" in said
        assert await parent.says() == ["gave", "back"]


def forks_now(monkeypatch: pytest.MonkeyPatch, *sessions: Session) -> None:
    """Do to these sessions what is done in a forked process."""
    monkeypatch.setattr(forks, "sessions", WeakSet(sessions))
    monkeypatch.setattr(forks, "files", Counter(forks.files))
    monkeypatch.setattr(forks, "parents_files", set[str]())
    forks.leave_to_parent()


@pytest.mark.parametrize("place", ["memory", "redis"], indirect=True)
async def test_the_copy_of_a_session_ends_and_its_engine_does_not_learn_of_that(
    opens: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opens() as other:
        with pytest.raises(LeaseLost, match="that this one was forked from"):
            async with opens() as session:
                engine, lock = session._engine, session.lock("lock")
                async with lock, other.lock("other"), trio.open_nursery() as nursery:
                    nursery.start_soon(session.lock("other").__aenter__)
                    await until_waiting(other.lock("other"), 1)
                    await wait_all_tasks_blocked()
                    forks_now(monkeypatch, session)
                    with pytest.raises(RuntimeError, match="that this one was forked from"):
                        session.lock("lock")
                    assert not await session._engine.send(other.identity, b"an answer")
                    nursery.cancel_scope.cancel()
        assert (await other.lock("lock").statistics()).holders == 1
        await engine.close()
        assert (await other.lock("lock").statistics()).holders == 0


async def test_a_file_that_the_parent_has_open_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite://{tmp_path}/db"
    async with open_session(url, namespace="test"):
        forks_now(monkeypatch)
        with pytest.raises(RuntimeError, match="start this process by spawn"):
            await open_session(url, namespace="test").__aenter__()
        async with open_session(f"sqlite://{tmp_path}/other", namespace="test"):
            pass


async def test_the_copy_of_a_stream_does_not_end_it() -> None:
    async with two() as (one, other, _):
        await one.lines.send("session 2", 2, b"first")
        await other.hears(b"first")
        line = one.lines.lines["session 2"]
        line.owner = 0
        line._shut(socket.SHUT_RDWR)
        line.owner = os.getpid()
        await one.lines.send("session 2", 2, b"second")
        await other.hears(b"first", b"second")
