"""Calls that are cancelled at random moments, of sessions that end at random: once or not at all, and nothing is left."""

from __future__ import annotations

import random
from collections import Counter as Tally
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Protocol

import pytest
import trio

from structsync._core.shared.calls import CallTable, Ticket
from structsync.distributed import CallOutcomeUnknown, LeaseLost, Session
from tests.distributed.conftest import Open

pytest.importorskip("msgspec")

pytestmark = pytest.mark.timeout(3600)

#: How many calls are made, at each engine; in the gate, and in the night, when 100,000 of them are cancelled.
GATE, NIGHT = 1000, 200_000
TASKS = 8
#: A session makes so many calls, and then there is another one.
EACH = 100


class Work(Protocol):
    async def do(self, which: int, pauses: int) -> int: ...


class Workshop:
    """Notes what was begun, done and cancelled."""

    def __init__(self) -> None:
        self.begun: Tally[int] = Tally()
        self.done: Tally[int] = Tally()
        self.inside = 0

    async def do(self, which: int, pauses: int) -> int:
        self.begun[which] += 1
        self.inside += 1
        try:
            for _ in range(pauses):
                await trio.sleep(0.0005)
            self.done[which] += 1
            return which
        finally:
            self.inside -= 1


class Storm:
    """Calls, each of its own number, and what their tasks were told."""

    def __init__(self, calls: int = GATE) -> None:
        self.calls = calls
        self.shop = Workshop()
        self.returned: set[int] = set()
        self.cancelled: set[int] = set()
        self.unknown: set[int] = set()
        self.number = 0

    async def call(self, session: Session) -> None:
        self.number += 1
        which = self.number
        with trio.move_on_after(random.choice([0, 0, 0.0003, 0.001, 0.003, 10])) as scope:
            for _ in range(random.randrange(4) if scope.deadline <= trio.current_time() else 0):
                await trio.lowlevel.cancel_shielded_checkpoint()
            try:
                proxy = session.connect("shop", Work)
                assert await proxy.do(which, random.randrange(4)) == which
                self.returned.add(which)
            except (CallOutcomeUnknown, LeaseLost, trio.ClosedResourceError):
                self.unknown.add(which)
        if scope.cancelled_caught:
            self.cancelled.add(which)

    async def run(self, opens: Open) -> None:
        """Call from one session after another; at their ends calls are under way."""
        async with trio.open_nursery() as nursery:
            while self.number < self.calls:
                async with opens() as session:
                    for _ in range(EACH):
                        async with trio.open_nursery() as callers:
                            for _ in range(TASKS):
                                callers.start_soon(self.call, session)
                        if self.number % (EACH * TASKS) == 0:
                            break
                    nursery.start_soon(self.call, session)  # which its session may not outlive
                    await trio.lowlevel.checkpoint()

    def complaints(self) -> list[str]:
        twice = [which for which, times in self.shop.begun.items() if times > 1]
        told = self.returned | self.cancelled | self.unknown
        found = {
            "begun twice": {*twice},
            "returned, but not done": self.returned - {*self.shop.done},
            "cancelled, but done": self.cancelled & {*self.shop.done},
            "told nothing": {*range(1, self.number + 1)} - told,
        }
        return [f"{what}: {sorted(those)[:5]}" for what, those in found.items() if those]


@asynccontextmanager
async def hosted(opens: Open, storm: Storm) -> AsyncIterator[Any]:
    async with opens() as here, here.host("shop", storm.shop):
        assert here._calls is not None
        yield here._calls.hosts["shop"]


async def run(opens: Open, calls: int = GATE, patience: float = 10) -> Storm:
    storm = Storm(calls)
    async with hosted(opens, storm) as host:
        await storm.run(opens)
        with trio.fail_after(patience):  # the host reads that the last session is over
            while host.table.callers or host.calls or storm.shop.inside:  # noqa: ASYNC110
                await trio.sleep(0.01)
        assert (host.table.running, host.table.abandoned) == (0, set())
        assert host.permits.value == 100
    return storm


@pytest.mark.parametrize("calls", [GATE, pytest.param(NIGHT, marks=pytest.mark.nightly)])
async def test_calls_that_are_cancelled_at_random_happen_once_or_not_at_all(
    opens: Open, calls: int
) -> None:
    storm = await run(opens, calls)
    assert storm.complaints() == []
    print(  # noqa: T201
        f"\n{storm.number} calls: {len(storm.returned)} returned, {len(storm.cancelled)} cancelled, "
        f"{len(storm.unknown)} unknown"
    )
    assert storm.number >= calls
    assert len(storm.returned) > calls / 10
    assert len(storm.cancelled) > calls / 5


async def test_a_host_that_calls_done_what_was_cancelled_is_complained_about(
    opens: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It answers that a call is cancelled when it is asked to cancel it."""
    from structsync._core.shared.calls import Verdict
    from structsync.distributed._calls.hosting import Hosting

    def hasty(self: Hosting, message: Any) -> None:
        self._session._nursery.start_soon(
            self._send, message.ticket, message.token, Verdict.CANCELLED
        )

    monkeypatch.setattr(Hosting, "_cancel", hasty)
    assert "cancelled, but done" in str((await run(opens)).complaints())


async def test_a_host_that_forgets_no_caller_is_noticed(
    opens: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def keep(self: CallTable, caller: str) -> list[Ticket]:
        return []

    monkeypatch.setattr(CallTable, "forget", keep)
    with pytest.raises(trio.TooSlowError):
        await run(opens, patience=1)
