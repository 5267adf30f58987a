"""What hosts and who rules over their objects make of messages that come early, late, or from a session that is unknown."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest
import trio
import trio.testing

pytest.importorskip("msgspec")

from structsync import Synchronizer
from structsync._core.monitors.stages import Stage
from structsync.distributed import CallOutcomeUnknown, LeaseLost
from structsync.distributed._calls import ruler as module
from structsync.distributed._calls.entered import NoAnswer
from structsync.distributed._calls.ruled import Ruled
from structsync.distributed._calls.ruler import Ruler
from structsync.distributed._calls.rulings import METHODS, Origin, Ruling
from structsync.distributed._calls.running import Running
from tests.distributed.switches import Switch

HERE, OTHER = Origin("here", "switch", 1), Origin("other", "switch", 2)


class Log:
    """As much of a session's log as a ruler looks at."""

    def __init__(self) -> None:
        self.watchers: dict[Any, None] = {}
        self.sessions: dict[str, None] = {"here": None, "other": None}
        self.replica = SimpleNamespace(core=SimpleNamespace(sessions=self.sessions))


@asynccontextmanager
async def ruling() -> AsyncIterator[tuple[Ruler, Log]]:
    ruler, log = Ruler(), Log()
    grant: Any = SimpleNamespace(token=7, _client=log)
    async with trio.open_nursery() as nursery:
        await nursery.start(ruler.serve, grant)
        yield ruler, log
        ruler.close()


async def settled() -> None:
    await trio.testing.wait_all_tasks_blocked()


async def test_what_comes_before_the_ruler_waits_for_it() -> None:
    ruler, told = Ruler(), list[Any]()
    grant: Any = SimpleNamespace(token=7, _client=Log())

    async def listen() -> None:
        told.append(await ruler.listen(HERE, 0))

    async def propose() -> None:
        told.append(await ruler.propose(HERE, 1, "on", {}))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(listen)
        nursery.start_soon(propose)
        await settled()
        assert told == []
        await nursery.start(ruler.serve, grant)
        await settled()
        ruler.close()
    assert sorted(map(str, told)) == ["(7, [])", "7"]


async def test_what_was_never_proposed_is_not_known() -> None:
    async with ruling() as (ruler, _):
        assert await ruler.reserve(HERE, 3) is Ruling.UNKNOWN
        await ruler.set_aside(HERE, 3)
        await ruler.withdraw(HERE, 3)


async def test_what_has_no_stand_in_yet_does_not_start() -> None:
    async with ruling() as (ruler, _):
        await ruler.propose(HERE, 1, "on", {})
        await settled()
        assert await ruler.reserve(HERE, 1) is Ruling.LET_GO
        await ruler.set_aside(HERE, 1)
        await ruler.withdraw(HERE, 1)


async def test_a_ruler_that_has_ended_takes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async with ruling() as (ruler, _):
        monkeypatch.setattr(module, "PROPOSALS", 1)
        await ruler.propose(HERE, 1, "on", {})
        with pytest.raises(RuntimeError, match="1 calls already wait"):
            await ruler.propose(HERE, 2, "on", {})
        ruler.close()
        assert await ruler.listen(HERE, 7) == (7, [])
        monkeypatch.undo()
        assert await ruler.propose(HERE, 2, "on", {}) == 7
        await settled()
        assert await ruler.reserve(HERE, 1) is Ruling.UNKNOWN


async def test_the_calls_of_a_session_that_is_gone_are_taken_back() -> None:
    async with ruling() as (ruler, log):
        stand_in = ruler.stand_in("switch", Switch)
        for origin in (OTHER, HERE):
            await ruler.propose(origin, 1, "on", {})
            await settled()
        assert await ruler.listen(OTHER, 7) == (7, [1])
        (look,) = log.watchers
        del log.sessions["other"]
        look()
        await settled()
        assert await ruler.listen(HERE, 7) == (7, [1])
        assert stand_in.statistics().tasks_waiting == 1
        assert await ruler.reserve(HERE, 1) is Ruling.STARTED


async def test_what_a_session_proposes_that_is_gone_by_then_is_not_waited_for() -> None:
    async with ruling() as (ruler, log):
        stand_in = ruler.stand_in("switch", Switch)
        del log.sessions["other"]
        await ruler.propose(OTHER, 1, "on", {})
        await ruler.propose(HERE, 1, "on", {})
        await settled()
        assert stand_in.statistics().tasks_waiting == 1
        assert await ruler.listen(HERE, 7) == (7, [1])


async def test_who_hosts_a_name_again_does_not_mean_what_it_proposed_before() -> None:
    again = Origin("here", "switch", 5)
    async with ruling() as (ruler, _):
        stand_in = ruler.stand_in("switch", Switch)
        for origin in (HERE, again):
            await ruler.propose(origin, 1, "on", {})
            await settled()
            assert stand_in.statistics().tasks_waiting == 1
        await ruler.withdraw(HERE, 1)  # which was on its way
        assert await ruler.reserve(HERE, 1) is Ruling.UNKNOWN
        assert await ruler.listen(again, 7) == (7, [1])
        assert await ruler.reserve(again, 1) is Ruling.STARTED
        assert len(ruler.hosts) == 1


async def test_a_call_that_starts_although_it_is_cancelled_has_started() -> None:
    told: list[Ruling] = []
    async with ruling() as (ruler, _):
        ruler.stand_in("switch", Switch)
        await ruler.propose(HERE, 1, "on", {})
        await settled()

        async def reserve() -> None:
            with trio.CancelScope() as scope:
                scope.cancel()
                told.append(await ruler.reserve(HERE, 1))

        await reserve()
    assert told == [Ruling.STARTED]


async def test_calls_of_one_object_are_proposed_to_the_rules_in_force() -> None:
    async with ruling() as (ruler, _), Synchronizer() as rules:
        stand_in = ruler.stand_in("switch", Switch)
        switch: Any = stand_in
        rules.disable(switch.on, when=lambda: True)
        await ruler.propose(HERE, 1, "on", {})
        await settled()
        assert [*ruler.ready.stages.values()] == [Stage.PROPOSED]
        ruler.close()


class Answers:
    """A ruler of whom the first message gets no answer."""

    def __init__(self, ruled: Ruled) -> None:
        self.ruled = ruled
        self.said: list[str] = []
        self.is_gone = False

    async def propose(self, *details: Any) -> int:
        self.said.append("propose")
        if len(self.said) == 1:
            raise CallOutcomeUnknown("radio", "propose")
        if len(self.said) == 2:
            self.ruled._hear(9, [])  # there is another one meanwhile
            return 8
        self.ruled._hear(9, [3])
        return 9

    async def set_aside(self, *details: Any) -> None:
        self.said.append("set aside")

    async def reserve(self, *details: Any) -> Ruling:
        self.said.append("reserve")
        return Ruling.STARTED

    async def withdraw(self, origin: Origin, number: int) -> None:
        self.said.append(f"withdraw {number}")


@pytest.mark.parametrize("is_lost", [True, False])
async def test_what_had_not_begun_when_the_session_was_lost_is_handed_on(is_lost: bool) -> None:
    class Lost:
        async def propose(self, *details: Any) -> int:
            raise LeaseLost("radio")

    session: Any = SimpleNamespace(_lost=is_lost)
    caller: Any = SimpleNamespace(name="radio")
    ruled, switch = Ruled(session, caller, HERE, METHODS, {}), Switch()
    setattr(ruled, "_rules", Lost())  # noqa: B010 - to a type checker it is private
    bound, running = METHODS["listen"].signature.bind_partial(), Running(is_apart=True)
    with pytest.raises(NoAnswer if is_lost else LeaseLost):
        await ruled.call(switch.on, {}, bound, running)
    assert not running.is_begun


async def test_a_call_is_proposed_until_one_has_it_who_rules() -> None:
    async with trio.open_nursery() as nursery:
        session: Any = SimpleNamespace(_nursery=nursery)
        caller: Any = SimpleNamespace(name="radio")
        ruled, switch = Ruled(session, caller, HERE, METHODS, {}), Switch()
        running = Running(is_apart=True)
        answers: Any = Answers(ruled)
        setattr(ruled, "_rules", answers)  # noqa: B010 - to a type checker it is private
        bound = METHODS["listen"].signature.bind_partial()
        await ruled.call(switch.on, {}, bound, running)
        assert switch.is_on
        assert running.is_begun
        ruled._hear(9, [4])
        await settled()
    said = [one for one in answers.said if one != "withdraw 2"]
    assert said == ["propose", "propose", "propose", "reserve", "withdraw 4"] != answers.said
