"""Slow links to a server: what is granted over them, and that a lease is counted from when its renewal was sent.

The control counts it from the answer, as if that had taken no time.
"""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

import pytest
import trio

from structsync._core.shared.operations import Key
from structsync.distributed import Session, membership, open_session
from structsync.distributed.replica import Replica
from tests.distributed import servers
from tests.distributed.history import Held, complaints
from tests.distributed.positions import noting
from tests.distributed.servers import ENDS, LASTS, Server
from tests.distributed.servers import opens_briefly as opens
from tests.distributed.watch import Watch
from tests.distributed.way import Way, way

pytest.importorskip("hiredis")

pytestmark = [pytest.mark.waits, pytest.mark.timeout(120), pytest.mark.slow]


def by(one: Way, ttl: float = ENDS) -> Any:
    return open_session(one.url, namespace="test", ttl=ttl)


async def test_sessions_with_slow_links_share_a_lock_in_the_order_of_the_log(
    tmp_path: Path, victim: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    history, asked = list[Held](), dict[Key, int]()
    monkeypatch.setattr(Replica, "advance", noting(asked))

    async def work(session: Session) -> None:
        for _ in range(6):
            async with session.lock("lock") as grant:
                start = time.monotonic_ns()
                await trio.sleep(random.uniform(0, 0.02))
                place = asked[session.identity, grant._number]
                history.append(Held(grant.token, start, time.monotonic_ns(), 1, place))

    async with (
        way(tmp_path, victim) as slow,
        by(slow, LASTS) as here,
        servers.opens(victim) as there,
    ):
        slow.takes = slow.answers_take = 0.04
        async with trio.open_nursery() as nursery:
            for session in (here, here, there, there):
                nursery.start_soon(work, session)
    assert len(history) == 24
    assert complaints(history, 1) == []


async def overlaps(folder: Path, victim: Server) -> list[str]:
    """Cut off a holder whose renewals are answered late; say what is wrong with who holds then."""
    watch = Watch()
    async with way(folder, victim) as slow, by(slow) as here, opens(victim) as there:
        async with trio.open_nursery() as nursery:
            await nursery.start(watch.hold, here)
            slow.answers_take = 0.11 * ENDS  # no longer, or the connection is given up
            await trio.sleep(random.uniform(0.5, 1) * ENDS)
            slow.is_silent = True
            await watch.take(there)
            slow.cut()
    return watch.complaints()


@pytest.fixture
def no_margin(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave no part of a lease to others."""
    monkeypatch.setattr(membership, "MARGIN", 0)


@pytest.mark.usefixtures("no_margin")
async def test_a_renewal_that_is_answered_late_makes_a_lease_no_longer(
    tmp_path: Path, victim: Server
) -> None:
    assert await overlaps(tmp_path, victim) == []


@pytest.mark.usefixtures("no_margin")
async def test_a_lease_that_is_counted_from_the_answer_is_complained_about(
    tmp_path: Path, victim: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    move = membership.Membership._move_deadline

    def from_now(self: membership.Membership, sent: float) -> None:
        move(self, trio.current_time())

    monkeypatch.setattr(membership.Membership, "_move_deadline", from_now)
    found = list[str]()
    for attempt in range(8):  # where the last answer is lost, nothing is counted wrongly
        folder = tmp_path / str(attempt)
        folder.mkdir()
        if found := await overlaps(folder, victim):
            break
    assert "2 of 1 permits" in str(found)
