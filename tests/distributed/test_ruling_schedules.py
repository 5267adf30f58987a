"""Calls under rules, explored: two that start together, with a cancellation anywhere, and messages that go wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import trio
from trio.lowlevel import checkpoint

from structsync.distributed import CallOutcomeUnknown, Deliveries, Session, open_session
from structsync.distributed.memory import Fate, What
from structsync.testing import Exploration, ExploredRun, explore
from tests.distributed.switches import RULED, Switch, connected, names

pytest.importorskip("msgspec")

pytestmark = pytest.mark.slow

#: Random schedules; each planted fault is found within a fifth of them.
SAMPLE = 40


class Pair:
    """Two switches, each of a session, and one call of each from the other's."""

    def __init__(self) -> None:
        self.switches = [Switch(), Switch()]
        self.ran: list[int] = []
        self.is_unknown = False

    async def join(self, session: Session, n: int, together: trio.CancelScope) -> None:
        with trio.CancelScope() as scope:
            try:
                await connected(session, names(2)[n]).join()
            except CallOutcomeUnknown:
                self.is_unknown = True
        if scope.cancelled_caught:
            together.cancel()  # the other one would wait forever

    async def run(self, deliveries: Deliveries | None, *others: Callable[[], Any]) -> None:
        def opens() -> Any:
            return open_session("memory://", namespace="test", deliveries=deliveries)

        async with opens() as here, opens() as there:
            async with (
                here.host(names(2)[0], self.switches[0], ruled_by="radio", ruled=RULED),
                there.host(names(2)[1], self.switches[1], ruled_by="radio", ruled=RULED),
                there.synchronizer("radio") as radio,
            ):
                stand_ins = [radio.stand_in(name, Switch) for name in names(2)]
                radio.rules.atomic(*[one.join for one in stand_ins])
                for n, one in enumerate(stand_ins):
                    radio.rules.trigger(one.join, lambda n=n: self.ran.append(n))
                # In the time of the explorer, which jumps: much longer than it takes to ask again.
                with trio.fail_after(4):
                    async with trio.open_nursery() as nursery:
                        for n, session in enumerate((there, here)):
                            nursery.start_soon(self.join, session, n, nursery.cancel_scope)
                        for other in others:
                            nursery.start_soon(other)
            self.check()

    def check(self) -> None:
        joined = [one.joined for one in self.switches]
        assert joined in ([0, 0], [1, 1])
        assert sorted(self.ran) == [0, 1] * joined[0]
        assert not self.is_unknown
        assert [one.statistics().tasks_waiting for one in self.switches] == [0, 0]


async def two_start_together(x: ExploredRun) -> None:
    await Pair().run(None)


def badly(fate: Fate) -> Callable[[ExploredRun], Any]:
    """Return a program in which one message of those that call and host has this fate, at any time."""

    async def program(x: ExploredRun) -> None:
        deliveries = Deliveries()

        def once(message: What) -> Fate:
            if message != "message":
                return "in time"
            deliveries.fate = lambda message: "in time"
            return fate

        async def sabotage() -> None:
            await checkpoint()
            deliveries.fate = once

        await Pair().run(deliveries, sabotage)

    return program


def sampled(program: Callable[[ExploredRun], Any], **settings: Any) -> Exploration:
    return explore(program, **{"search": "random", "executions": SAMPLE, **settings})


def test_two_calls_start_together_or_not_at_all_in_every_schedule() -> None:
    sampled(two_start_together, cancels=1).check()


@pytest.mark.parametrize("fate", ["lost", "twice", "late"])
def test_a_message_that_goes_wrong_changes_nothing(fate: Fate) -> None:
    sampled(badly(fate), cancels=0).check()


# ==== Planted faults; that of a cancellation is in `test_ruling_storm.py` ====


def test_a_host_that_is_asked_by_a_message_alone_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is lost on the way is not asked for again."""
    from structsync.distributed._calls.caller import Caller

    async def never(self: Caller) -> None:
        await checkpoint()

    monkeypatch.setattr(Caller, "ask", never)
    assert sampled(badly("lost"), cancels=0).failure
