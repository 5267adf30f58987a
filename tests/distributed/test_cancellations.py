"""Requests that are cancelled at random moments, of sessions that end at random, on each engine.

The judge of histories says whether more was granted than there is, and whether in the order of the log and with
tokens that grow; afterwards nothing is left, and all can be had. Each of these has a control.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

import pytest
import trio

from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.shared.kinds import SemaphoreKind
from structsync._core.shared.operations import Key, Want
from structsync.distributed import (
    Grant,
    LeaseLost,
    Session,
    SharedPrimitive,
    SharedStatistics,
    membership,
)
from structsync.distributed.replica import Replica
from tests.distributed.conftest import Open
from tests.distributed.history import Held, complaints
from tests.distributed.positions import noting

pytestmark = pytest.mark.timeout(3600)

#: How many requests are cancelled, at each engine; in the gate, and in the night.
GATE, NIGHT = 400, 100_000
TASKS = 6
#: A session makes so many requests, and then there is another one.
EACH = 200
#: Of a semaphore, of a lock, and of a read-write lock, of which a writer has all.
CAPACITY = {"db": 3, "lock": 1, "page": 100}


class Storm:
    """Requests of all kinds, who held what, and how many were cancelled."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, cancellations: int = GATE) -> None:
        self.cancellations = cancellations
        self.histories: dict[str, list[Held]] = {name: [] for name in CAPACITY}
        self.asked: dict[Key, int] = {}  # where in the log each request is
        self.made = self.cancelled = 0
        monkeypatch.setattr(Replica, "advance", noting(self.asked))

    def request(self, session: Session) -> tuple[str, int, Any]:
        """Return the name of something, how much of it, and a block that holds it."""
        amount = random.choice([1, 1, 2, 3])
        page = session.rwlock("x/page")
        return random.choice(
            [
                ("db", amount, session.semaphore("x/db", CAPACITY["db"]).permits(amount)),
                ("lock", 1, session.lock("x/lock")),
                ("page", 1, page.reading()),
                ("page", CAPACITY["page"], page.writing()),
            ]
        )

    async def once(self, session: Session) -> None:
        name, amount, block = self.request(session)
        with trio.move_on_after(random.choice([0, 0.0005, 0.002, 0.005, 10])) as scope:
            for _ in range(random.randrange(4) if scope.deadline <= trio.current_time() else 0):
                await trio.lowlevel.cancel_shielded_checkpoint()
            async with block as grant:
                start = time.monotonic_ns()
                try:
                    await trio.sleep(random.choice([0, 0, 0.001]))
                finally:
                    self.note(session, name, amount, grant, start)
        self.cancelled += scope.cancelled_caught

    def note(self, session: Session, name: str, amount: int, grant: Grant, start: int) -> None:
        asked = self.asked[session.identity, grant._number]
        self.histories[name].append(Held(grant.token, start, time.monotonic_ns(), amount, asked))

    async def work(self, session: Session) -> None:
        for _ in range(EACH // TASKS):
            self.made += 1
            try:
                await self.once(session)
            except (LeaseLost, trio.ClosedResourceError):
                return

    async def run(self, opens: Open) -> None:
        """Let two sessions at a time do so, one after the other; each ends while others are in its queues."""
        async with trio.open_nursery() as nursery:
            for _ in range(2):
                nursery.start_soon(self.sessions, opens)

    def is_enough(self) -> bool:
        """Whether as many were cancelled as was demanded, and enough granted of each: fewer are where the machine is busy."""
        granted = min(len(history) for history in self.histories.values())
        return self.cancelled >= self.cancellations and granted > self.cancellations / 20

    async def sessions(self, opens: Open) -> None:
        while not self.is_enough():
            async with trio.open_nursery() as nursery:
                async with opens() as session:
                    async with trio.open_nursery() as workers:
                        for _ in range(TASKS - 1):
                            workers.start_soon(self.work, session)
                        nursery.start_soon(self.work, session)
                        await self.work(session)
                        workers.cancel_scope.deadline = trio.current_time() + random.uniform(0, 0.1)

    def complaints(self) -> list[str]:
        return [
            f"{name}: {one}"
            for name, history in self.histories.items()
            for one in complaints(history, CAPACITY[name])
        ]


async def nothing_is_left(opens: Open) -> None:
    async with opens() as session:
        page, lock = session.rwlock("x/page"), session.lock("x/lock")
        db = session.semaphore("x/db", CAPACITY["db"])
        async with page.writing(), lock, db.permits(CAPACITY["db"]):
            pass
        primitives: list[SharedPrimitive] = [page, lock]
        for one in primitives:
            assert await one.statistics() == SharedStatistics(0, 0, None)
        assert await db.statistics() == SharedStatistics(0, 0, CAPACITY["db"])
        connection = getattr(session._engine, "connection", None)
        assert connection is None or not connection.replies


@pytest.mark.parametrize("cancellations", [GATE, pytest.param(NIGHT, marks=pytest.mark.nightly)])
async def test_random_cancellations_over_grant_nothing_lose_nothing_and_keep_the_order(
    opens: Open, monkeypatch: pytest.MonkeyPatch, cancellations: int
) -> None:
    storm = Storm(monkeypatch, cancellations)
    await storm.run(opens)
    await nothing_is_left(opens)
    assert storm.complaints() == []
    granted = {name: len(history) for name, history in storm.histories.items()}
    print(f"\n{storm.made} requests, {storm.cancelled} cancelled, granted: {granted}")  # noqa: T201
    assert storm.is_enough()


# ==== Controls: what the judge has to complain about ====


def over_granting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SemaphoreKind, "make", lambda self, size: SemaphoreCore(size + 1))


def overtaking(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request that fits is granted although others wait."""

    def submit(self: SemaphoreKind, core: SemaphoreCore, want: Want, key: Key) -> list[Any]:
        queue, core.queue = core.queue, core.policy.new_queue()
        request = core.submit(want.amount, waiter=key)
        if request.queue is not None:
            core.withdraw(request)
            core.queue = queue
            request = core.submit(want.amount, waiter=key)
        core.queue = queue
        return [] if request.queue is not None else [request]

    monkeypatch.setattr(SemaphoreKind, "submit", submit)


@pytest.mark.parametrize(
    ("plant", "problem"),
    [(over_granting, "of 3 permits"), (overtaking, "was granted before the one at")],
)
@pytest.mark.parametrize("place", ["memory"], indirect=True)
async def test_what_goes_wrong_in_a_storm_is_complained_about(
    opens: Open, monkeypatch: pytest.MonkeyPatch, plant: Callable[[Any], None], problem: str
) -> None:
    plant(monkeypatch)
    storm = Storm(monkeypatch)
    for _ in range(10):  # one overtakes a few times in each, and in a few of a hundred never
        await storm.run(opens)
        if any(problem in one for one in storm.complaints()):
            return
        storm.cancellations += GATE
    pytest.fail(f"no complaint of {problem!r} in {storm.cancelled} cancellations")


@pytest.mark.parametrize("place", ["memory"], indirect=True)
async def test_a_release_that_is_lost_in_a_storm_is_noticed(
    opens: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    release, released = membership.Membership._release, 0

    async def careless(self: membership.Membership, grant: Grant) -> bool:
        nonlocal released
        released += grant.name == "x/db"
        if grant.name != "x/db" or released != 3:
            return await release(self, grant)
        del self._grants[grant]
        return True

    monkeypatch.setattr(membership.Membership, "_release", careless)
    async with opens() as session:  # which does not end, and takes nothing along
        storm = Storm(monkeypatch)
        while released < 3:
            await storm.once(session)
        with trio.move_on_after(2) as scope:
            await nothing_is_left(opens)
        assert scope.cancelled_caught
