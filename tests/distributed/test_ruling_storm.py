"""Calls under rules that are cancelled at random, while hosts and those who rule come, go and are lost, on each engine.

What the rules let start has begun at its object, once, together with its partner, or its caller is told that this is
not known; and a caller that is cancelled has run no trigger or has begun. Each of these has a control.
"""

from __future__ import annotations

import random
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
import trio

from structsync._core.monitors.synchronizer import Rules as CoreRules
from structsync.distributed import LeaseLost, Session, open_session
from tests.distributed import desks
from tests.distributed.conftest import Open
from tests.distributed.desks import NAMES, Callers, Desk, Noted, Rules, Working, complaints

pytest.importorskip("msgspec")

from structsync.distributed._calls.ruler import Ruler

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]

#: How many calls are made, at each engine; in the gate, and in the night.
GATE, NIGHT = 1000, 100_000


class Storm:
    """Those who call, host and rule."""

    def __init__(self, opens: Open, calls: int = GATE) -> None:
        self.opens = opens
        self.calls = calls
        self.noted: list[Noted] = []
        self.desks = [Desk(self.note) for _ in NAMES]
        self.callers = Callers()

    def note(self, word: str, which: int) -> None:
        self.noted.append(Noted(word, which))

    def hosted(self, session: Session, n: int) -> Any:
        return desks.hosted(session, n, self.desks[n])

    async def host(self, n: int) -> None:
        """Host a desk in one session after the other; some of them end with the block still open."""
        while True:
            async with trio.open_nursery() as nursery, self.opens() as session:
                with trio.move_on_after(random.uniform(0.05, 0.3)):
                    async with self.hosted(session, n):
                        await trio.sleep_forever()
                for _ in range(random.randrange(3)):
                    async with self.hosted(session, n):
                        await trio.sleep(random.uniform(0.05, 0.3))
                await nursery.start(self.host_until_lost, session, n)
                await trio.sleep(random.uniform(0, 0.2))

    async def host_until_lost(self, session: Session, n: int, task_status: Any) -> None:
        with suppress(LeaseLost):
            async with self.hosted(session, n):
                task_status.started()
                await trio.sleep_forever()

    async def rule(self) -> None:
        while True:
            async with trio.open_nursery() as nursery, self.opens() as session:
                with trio.move_on_after(random.uniform(0.1, 0.5)):
                    await self.rule_in(session, 10)
                await self.rule_in(session, random.uniform(0.1, 0.5))
                nursery.start_soon(self.rule_until_lost, session)
                await trio.sleep(random.uniform(0, 0.3))

    async def rule_until_lost(self, session: Session) -> None:
        with suppress(LeaseLost, trio.ClosedResourceError):
            await self.rule_in(session, 10)

    async def rule_in(self, session: Session, seconds: float) -> None:
        async with session.synchronizer("rules") as rules:
            await Rules(rules, self.note).change(seconds)

    def is_enough(self) -> bool:
        """Whether enough has come of the calls: less does where the machine is busy."""
        joins = sum(one.word == "joins" for one in self.noted)
        few = min(len(self.callers.returned), len(self.callers.cancelled))
        return few > self.calls / 50 and joins > self.calls / 200

    async def run(self, calls: int = 0) -> list[str]:
        """Make so many calls, or all, and return what is wrong."""
        async with trio.open_nursery() as nursery:
            for n in range(len(NAMES)):
                nursery.start_soon(self.host, n)
            nursery.start_soon(self.rule)
            await desks.storm(self.opens, self.callers, self.callers.number + (calls or self.calls))
            nursery.cancel_scope.cancel()
        return complaints(self.callers, [self.noted])

    async def nothing_is_left(self) -> None:
        """See that the objects are free, and let a call of each kind start."""
        assert [desk.statistics().tasks_waiting for desk in self.desks] == [0, 0]
        async with self.opens() as here, self.opens() as there:
            async with (
                self.hosted(here, 0),
                self.hosted(there, 1),
                there.synchronizer("rules") as rules,
            ):
                Rules(rules, self.note)
                with trio.fail_after(30):
                    async with trio.open_nursery() as nursery:
                        for name in NAMES:
                            desk = here.connect(name, Working)
                            for method in (desk.alone, desk.together, desk.visit):
                                nursery.start_soon(method, 0)
                    ruler: Any = getattr(rules._make, "__self__")  # noqa: B009 - to a type checker a function has none
                    while any(host.proposals for host in ruler.hosts.values()):
                        await trio.lowlevel.checkpoint()
                assert not ruler.ready.stages
                for session in (here, there):
                    assert session._calls is not None
                    assert [one.petitions for one in session._calls.ruled] == [{}]


@pytest.mark.usefixtures("asks_soon")
@pytest.mark.parametrize("calls", [GATE, pytest.param(NIGHT, marks=pytest.mark.nightly)])
async def test_what_the_rules_let_start_has_begun_or_that_is_unknown(
    opens: Open, calls: int
) -> None:
    storm = Storm(opens, calls)
    wrong = await storm.run()
    while not (wrong or storm.is_enough()):
        wrong = await storm.run(calls // 5)
    assert wrong == []
    await storm.nothing_is_left()
    told, noted = storm.callers, [one.word for one in storm.noted]
    print(  # noqa: T201
        f"\n{told.number} calls: {len(told.returned)} returned, {len(told.cancelled)} cancelled, "
        f"{len(told.unknown)} unknown; {noted.count('joins')} started together, {noted.count('starts')} alone"
    )


# ==== Controls ====


async def fails(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    for _ in range(5):
        if found := await Storm(partial(open_session, "memory://", namespace="test")).run():
            return found
    return []


async def test_a_start_that_its_host_does_not_hear_of_is_complained_about(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A call is cancelled in the step in which it starts, and its host is told of the cancellation alone."""
    reserve = Ruler.reserve

    async def deaf(self: Ruler, origin: Any, number: int) -> Any:
        ruling = await reserve(self, origin, number)
        await trio.lowlevel.checkpoint_if_cancelled()
        return ruling

    monkeypatch.setattr(Ruler, "reserve", deaf)
    assert "started, not begun, and not unknown" in str(await fails(monkeypatch))


async def test_a_start_without_a_partner_is_complained_about(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(CoreRules, "together", lambda self, call: [call])
    assert "without its partner" in str(await fails(monkeypatch))


async def test_rules_that_do_not_hold_are_complained_about(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CoreRules, "permit", lambda self, invocation: True)
    assert "started while that was barred" in str(await fails(monkeypatch))
