"""Hosts whose objects are ruled over: what may go wrong around them ends no session, and no call for good."""

from __future__ import annotations

from typing import Any, Protocol

import pytest
import trio
import trio.testing

from structsync import Monitor, entry
from structsync._core.monitors.stages import Stage
from structsync.distributed import CallOutcomeUnknown, Session
from structsync.distributed._calls import exchange, hosting
from tests.distributed.conformance.test_synchronizers import rule
from tests.distributed.conftest import Open
from tests.distributed.switches import RULED, Lit, Switch, connected, hosted, names, until

pytest.importorskip("msgspec")

pytestmark = pytest.mark.timeout(60)

(NAME,) = names(1)


class Plain:
    """What is hosted under the name of a synchronizer, and is none."""

    async def other(self) -> None: ...


async def test_a_name_that_others_use_for_something_else_ends_no_host(opens: Open) -> None:
    async with opens() as host, opens() as other:
        remote = connected(other, NAME)
        async with other.lock("radio"), host.host(NAME, Switch(), ruled_by="radio", ruled=RULED):
            with pytest.raises(ValueError, match="'radio' is in use as a lock"):
                await remote.on()
            assert await remote.look() is False
        async with host.host(NAME, Switch(), ruled_by="radio", ruled=RULED):
            async with other.host("radio", Plain()):
                with pytest.raises(AttributeError, match="'radio' has no method 'propose'"):
                    await remote.on()
            async with other.synchronizer("radio") as radio:
                Lit(radio, 1)
                await remote.on()


async def test_who_is_cancelled_on_the_way_to_rule_leaves_nothing_running(opens: Open) -> None:
    async with opens() as session:
        async with session.synchronizer("radio"):
            pass  # from here on the log is followed, and calls are asked about
        tasks = len(session._nursery.child_tasks)
        for steps in range(12):
            with trio.CancelScope() as scope:

                async def cancel(steps: int = steps, scope: trio.CancelScope = scope) -> None:
                    for _ in range(steps):
                        await trio.lowlevel.cancel_shielded_checkpoint()
                    scope.cancel()

                async with trio.open_nursery() as nursery:
                    nursery.start_soon(cancel)
                    async with session.synchronizer("radio"):
                        await trio.sleep_forever()
        while (
            len(session._nursery.child_tasks) != tasks
        ):  # what is asked now and then may be on its way
            await trio.lowlevel.checkpoint()


async def test_a_host_that_stops_does_not_cancel_what_has_started_together_with_others(
    opens: Open,
) -> None:
    told: list[int] = []
    async with opens() as host, opens() as here, opens() as caller:
        async with here.synchronizer("radio") as radio, trio.open_nursery() as nursery:
            started = trio.Event()
            radio.rules.trigger(radio.stand_in(NAME, Switch).join, started.set)

            async def join() -> None:
                told.append(await connected(caller, NAME).join())

            async with host.host(NAME, Switch(), ruled_by="radio", ruled=RULED):
                nursery.start_soon(join)
                await started.wait()  # and its host does not know of that yet
    assert told == [1]


async def test_a_cancelled_call_says_so_where_it_is_not_known_whether_it_has_started(
    opens: Open,
) -> None:
    """Its triggers may have run, so that it must not say that nothing has happened."""
    async with hosted(opens) as all_hosted, trio.open_nursery() as nursery:
        async with opens() as theirs:
            radio = await nursery.start(rule, theirs)
            radio.rules.atomic(*[radio.stand_in(name, Switch).join for name in names(2)])
            assert theirs._calls is not None
            setattr(theirs._calls.hosts["radio"], "_cancel", lambda message: None)  # noqa: B010 - it does not hear that
            all_hosted.deafen(1)
            nursery.start_soon(all_hosted.remote[1].join)
            await until(radio, Stage.PROPOSED)
            call = all_hosted.sessions[1].start(connected(all_hosted.sessions[1], NAME).join)
            await until(radio, Stage.READY, Stage.ASKED)
            call.cancel()
            assert all_hosted.sessions[0]._calls is not None
            (running,) = all_hosted.sessions[0]._calls.hosts[NAME].calls.values()
            while not running.scope.cancel_called:
                await trio.lowlevel.checkpoint()
        with pytest.raises(CallOutcomeUnknown):
            await call.wait()
        nursery.cancel_scope.cancel()


class Errands:
    """Two calls; one at a time runs."""

    def __init__(self) -> None:
        self.go = trio.Event()
        self.is_done = trio.Event()
        self.begun = 0

    async def first(self) -> None:
        await self.go.wait()
        self.is_done.set()

    async def second(self) -> None:
        self.begun += 1
        await trio.lowlevel.checkpoint()


async def test_a_call_that_has_its_turn_when_the_host_stops_is_handed_on(opens: Open) -> None:
    async with opens() as host, opens() as following, opens() as caller:
        for attempt in range(8):  # trio runs the two tasks that this wakes in any order
            name, ours, theirs = f"errands/{attempt}", Errands(), Errands()

            async def stand_by(name: str = name, theirs: Errands = theirs) -> None:
                async with following.host(name, theirs):
                    await trio.sleep_forever()

            remote = caller.connect(name, Errands)
            async with trio.open_nursery() as nursery:
                async with trio.open_nursery() as calls:
                    async with host.host(name, ours, concurrent=1):
                        nursery.start_soon(stand_by)
                        calls.start_soon(remote.first)
                        await until_running(host, name, 1)
                        calls.start_soon(remote.second)
                        await until_running(host, name, 2)
                        ours.go.set()
                        await ours.is_done.wait()
                nursery.cancel_scope.cancel()
            assert ours.begun + theirs.begun == 1


async def until_running(session: Session, name: str, count: int) -> None:
    """Return once a host has so many calls, of which the first one runs and the others wait."""
    assert session._calls is not None
    its = session._calls.hosts[name]
    while (
        its.permits.statistics().tasks_waiting != count - 1
        or [one.is_begun for one in its.calls.values()] != [True, False][:count]
    ):
        await trio.lowlevel.checkpoint()


async def test_what_waits_for_the_rules_keeps_out_nothing_else(
    opens: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosting, "WAITING", 1)
    monkeypatch.setattr(hosting, "APART", 5)
    switch = Switch()
    async with opens() as host, opens() as here, opens() as caller:
        remote = connected(caller, NAME)
        async with (
            host.host(NAME, switch, ruled_by="radio", ruled=RULED, concurrent=1),
            here.synchronizer("radio") as radio,
            trio.open_nursery() as nursery,
        ):
            lit = Lit(radio, 1)
            lit.deny()
            for _ in range(7):  # as many as there is room for calls of all kinds
                nursery.start_soon(remote.on)
            await until(radio, *[Stage.PROPOSED] * 5)
            assert await remote.look() is False
            lit.lit.clear()
            lit.stand_ins[0].changed()
            while not switch.is_on:
                await trio.lowlevel.checkpoint()
            nursery.cancel_scope.cancel()


class Named(Monitor):
    """Its entry is called as what a stand-in knows of it."""

    @entry
    def methods(self) -> int:
        return 7


async def test_entries_may_have_any_names(opens: Open) -> None:
    async with opens() as host, opens() as here, here.synchronizer("radio") as radio:
        radio.stand_in(NAME, Named)
        async with host.host(NAME, Named(), ruled_by="radio"):
            assert await here.connect(NAME, Named).methods() == 7


async def test_a_session_that_hosts_again_is_one_host_to_who_rules(opens: Open) -> None:
    async with opens() as host, opens() as here, here.synchronizer("radio") as radio:
        ruler: Any = getattr(radio._make, "__self__")  # noqa: B009 - to a type checker a function has none
        for times in range(1, 4):
            async with host.host(NAME, Switch(), ruled_by="radio", ruled=RULED) as grant:
                while [one.token for one in ruler.hosts.values()] != [grant.token]:
                    await trio.lowlevel.checkpoint()
            assert len(ruler.hosts) == 1, times


class Half(Monitor):
    """One of its methods is an entry, and the other one is not."""

    @entry
    def count(self) -> int:
        return 1

    async def wait(self) -> int:
        return 2


class Whole(Protocol):
    """Both of them, as callers see them."""

    async def count(self) -> int: ...
    async def wait(self) -> int: ...


async def test_of_the_methods_of_an_interface_the_entries_are_ruled_over(opens: Open) -> None:
    async with opens() as host, opens() as here:
        with pytest.raises(ValueError, match="'wait' cannot be ruled over: it is not among count"):
            host.host(NAME, Half(), Whole, ruled_by="radio", ruled=["wait"])
        async with (
            host.host(NAME, Half(), Whole, ruled_by="radio"),
            here.synchronizer("radio") as radio,
        ):
            radio.stand_in(NAME, Half)
            remote = here.connect(NAME, Whole)
            assert [await remote.count(), await remote.wait()] == [1, 2]


class Door(Monitor):
    """One of the process that rules."""

    @entry
    def enter(self) -> None: ...

    @entry
    async def stay(self, inside: trio.Event, leave: trio.Event) -> None:
        inside.set()
        await leave.wait()


@pytest.mark.parametrize("first", ["remote", "local"])
async def test_calls_of_an_object_here_and_of_one_there_start_together(
    opens: Open, first: str
) -> None:
    switch, door = Switch(), Door()
    async with opens() as host, opens() as here, opens() as caller:
        async with (
            host.host(NAME, switch, ruled_by="radio", ruled=RULED),
            here.synchronizer("radio") as radio,
            trio.open_nursery() as nursery,
        ):
            radio.rules.atomic(radio.stand_in(NAME, Switch).join, door.enter)
            if first == "local":
                nursery.start_soon(door.enter)
                while not door.statistics().tasks_waiting:
                    await trio.lowlevel.checkpoint()
            nursery.start_soon(connected(caller, NAME).join)
            if first == "remote":
                await until(radio, Stage.PROPOSED)
                nursery.start_soon(door.enter)
        assert switch.joined == 1


async def test_an_object_there_is_free_while_its_partner_here_is_occupied(opens: Open) -> None:
    switch, door, inside, leave = Switch(), Door(), trio.Event(), trio.Event()
    async with opens() as host, opens() as here, opens() as caller:
        remote = connected(caller, NAME)
        async with (
            host.host(NAME, switch, ruled_by="radio", ruled=RULED),
            here.synchronizer("radio") as radio,
            trio.open_nursery() as nursery,
        ):
            radio.rules.atomic(radio.stand_in(NAME, Switch).join, door.enter)
            nursery.start_soon(door.stay, inside, leave)
            await inside.wait()
            nursery.start_soon(door.enter)
            nursery.start_soon(remote.join)
            await until(radio, Stage.PROPOSED)
            assert await remote.look() is False
            assert switch.joined == 0
            leave.set()
        assert switch.joined == 1


# ==== How many ====


async def objects(session: Session, count: int, nursery: trio.Nursery) -> None:
    """Host so many objects."""

    async def host(name: str, task_status: Any) -> None:
        async with session.host(name, Switch(), ruled_by="radio", ruled=RULED):
            task_status.started()
            await trio.sleep_forever()

    for name in names(count):
        await nursery.start(host, name)


@pytest.mark.timeout(240)  # it computes all the while, on a busy machine beside others
async def test_as_many_objects_as_a_session_may_host_can_be_reserved_at_a_time(
    opens: Open,
) -> None:
    async with opens() as host, opens() as here, opens() as caller:
        async with here.synchronizer("radio") as radio, trio.open_nursery() as nursery:
            every = names(exchange.RULED)
            await objects(host, exchange.RULED, nursery)
            with pytest.raises(
                RuntimeError, match="objects of this session are ruled over by 'radio'"
            ):
                async with host.host("switches/more", Switch(), ruled_by="radio"):
                    raise AssertionError("it is refused")
            async with host.host("switches/more", Switch(), ruled_by="others"):
                pass
            radio.rules.atomic(*[radio.stand_in(name, Switch).join for name in every])
            async with trio.open_nursery() as calls:
                for name in every:
                    calls.start_soon(connected(caller, name).join)
            nursery.cancel_scope.cancel()


@pytest.mark.slow
@pytest.mark.timeout(240)
async def test_more_objects_would_leave_no_slot_for_what_they_wait_for(
    opens: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "RULED", 1000)
    async with opens() as host, opens() as here:
        async with here.synchronizer("radio") as radio, trio.open_nursery() as nursery:
            radio.stand_in(NAME, Switch)
            await objects(host, 256, nursery)
            with trio.move_on_after(2) as scope:
                await connected(here, NAME).on()
            assert scope.cancelled_caught
            nursery.cancel_scope.cancel()
