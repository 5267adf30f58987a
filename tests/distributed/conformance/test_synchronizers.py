"""Rules over objects of several sessions, whatever the engine is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest
import trio

from structsync import Invocation, Monitor, Synchronizer, entry
from structsync._core.monitors.stages import Stage
from structsync.distributed import (
    CallOutcomeUnknown,
    LeaseLost,
    RemoteError,
    Session,
)
from tests.distributed.conftest import Open
from tests.distributed.switches import RULED, Lit, NoMore, Switch, connected, hosted, names, until

pytest.importorskip("msgspec")

pytestmark = pytest.mark.timeout(60)

PROPOSED, ASKED, ASIDE, READY = Stage.PROPOSED, Stage.ASKED, Stage.ASIDE, Stage.READY


async def fail(call: Callable[[], Awaitable[object]]) -> None:
    with pytest.raises(CallOutcomeUnknown):
        await call()


async def rule(session: Session, task_status: Any = trio.TASK_STATUS_IGNORED) -> None:
    """Rule until the session is over."""
    with pytest.raises(LeaseLost):
        async with session.synchronizer("radio") as radio:
            task_status.started(radio)
            await trio.sleep_forever()


async def test_of_the_switches_of_several_sessions_one_is_on(opens: Open) -> None:
    async with hosted(opens, 3) as (switches, remote, _), opens() as here:
        async with here.synchronizer("radio") as radio:
            lit = Lit(radio, 3)
            assert repr(radio) == "<shared synchronizer 'radio'>"
            async with trio.open_nursery() as nursery:

                async def turn(n: int) -> None:
                    for _ in range(3):
                        await remote[n].on()
                        assert [one.is_on for one in switches].count(True) == 1
                        await remote[n].off()

                for n in range(3):
                    nursery.start_soon(turn, n)
            assert lit.most == 1
            assert not any(one.is_on for one in switches)


async def test_calls_that_no_rule_concerns_overtake_one_that_waits(opens: Open) -> None:
    async with hosted(opens) as (switches, remote, _), opens() as here:
        async with here.synchronizer("radio") as radio, trio.open_nursery() as nursery:
            Lit(radio)
            await remote[0].on()
            nursery.start_soon(remote[1].on)
            await until(radio, PROPOSED)
            assert await remote[1].look() is False
            assert await remote[1].join() == 1
            await remote[0].off()
        assert switches[1].is_on


async def test_more_calls_wait_than_run_at_a_time_and_none_keeps_out_what_ends_the_wait(
    opens: Open,
) -> None:
    async with hosted(opens) as (_, remote, _), opens() as here, opens() as there:
        async with here.synchronizer("radio") as radio, trio.open_nursery() as nursery:
            Lit(radio)
            await remote[0].on()
            for _ in range(120):  # and 100 run at a time
                nursery.start_soon(connected(there, names(2)[1]).on)
            await until(radio, *[PROPOSED] * 120)
            await remote[0].off()
            await until(radio, *[PROPOSED] * 119)
            nursery.cancel_scope.cancel()


async def test_calls_start_together_or_not_at_all(opens: Open) -> None:
    async with hosted(opens) as (switches, remote, _), opens() as here:
        async with here.synchronizer("radio") as radio, trio.open_nursery() as nursery:
            ran: list[int] = []
            stand_ins = [radio.stand_in(name, Switch) for name in names(2)]
            radio.rules.atomic(*[one.join for one in stand_ins])
            for n, one in enumerate(stand_ins):
                radio.rules.trigger(one.join, partial(ran.append, n))
            async with trio.open_nursery() as first:
                first.start_soon(remote[0].join)
                await until(radio, PROPOSED)
                first.cancel_scope.cancel()
            nursery.start_soon(remote[1].join)
            await until(radio, PROPOSED)
            assert ran == []
            assert await remote[0].join() == 1
        assert sorted(ran) == [0, 1]
        assert [one.joined for one in switches] == [1, 1]


async def test_an_object_is_let_go_while_that_of_a_partner_is_occupied(opens: Open) -> None:
    async with hosted(opens) as (switches, remote, _), opens() as here:
        async with here.synchronizer("radio") as radio, trio.open_nursery() as nursery:
            radio.rules.atomic(*[radio.stand_in(name, Switch).join for name in names(2)])
            nursery.start_soon(remote[0].join)
            await until(radio, PROPOSED)
            nursery.start_soon(remote[1].stay)
            await switches[1].inside.wait()
            nursery.start_soon(remote[1].join)
            while not switches[1].statistics().tasks_waiting:  # it is not proposed before
                await trio.lowlevel.checkpoint()
            await until(radio, PROPOSED)
            switches[1].free.set()
        assert [one.joined for one in switches] == [1, 1]


async def test_a_call_whose_object_was_occupied_when_it_was_asked_for_is_next(opens: Open) -> None:
    async with hosted(opens) as (switches, remote, _), opens() as here:
        async with here.synchronizer("radio") as radio, trio.open_nursery() as nursery:
            Lit(radio)
            await remote[0].on()
            nursery.start_soon(remote[1].on)
            await until(radio, PROPOSED)
            nursery.start_soon(remote[1].stay)
            await switches[1].inside.wait()
            await remote[0].off()
            await until(radio, ASIDE)
            assert not switches[1].is_on
            switches[1].free.set()
        assert switches[1].is_on


@pytest.mark.parametrize("how", ["trigger", "guard"])
async def test_what_a_rule_raises_is_for_the_caller(opens: Open, how: str) -> None:
    def fail() -> bool:
        raise NoMore("only 3", 3)

    async with hosted(opens) as (switches, remote, _), opens() as here:
        async with here.synchronizer("radio", errors=[NoMore]) as radio:
            one = radio.stand_in(names(1)[0], Switch)
            if how == "trigger":
                radio.rules.trigger(one.on, fail)
            else:
                radio.rules.disable(one.on, when=fail)
            for _ in range(2):
                with pytest.raises(NoMore) as found:
                    await remote[0].on()
                assert found.value.args == ("only 3", 3)
            assert await remote[0].join() == 1
            assert not switches[0].is_on


async def test_rules_see_the_arguments_of_a_call(opens: Open) -> None:
    async with hosted(opens, 1) as (_, remote, _), opens() as here:
        async with here.synchronizer("radio") as radio, trio.open_nursery() as nursery:
            seen: list[object] = []
            (one,) = [radio.stand_in(name, Switch) for name in names(1)]

            def is_much(amount: int) -> bool:
                return amount > 5 and not seen

            radio.rules.disable(one.join, when=is_much)

            def note(request: Invocation) -> None:
                seen.append(request.args)

            radio.rules.trigger(one.join, note)
            nursery.start_soon(remote[0].join, 6)
            await until(radio, PROPOSED)
            await remote[0].join(3)
        assert seen == [(3,), (6,)]


async def test_a_call_that_is_cancelled_while_it_waits_has_run_no_trigger(opens: Open) -> None:
    async with hosted(opens) as (_, remote, _), opens() as here:
        async with here.synchronizer("radio") as radio, trio.open_nursery() as nursery:
            lit = Lit(radio)
            await remote[0].on()
            nursery.start_soon(remote[1].on)
            await until(radio, PROPOSED)
            nursery.cancel_scope.cancel()
        async with here.synchronizer("radio") as radio:
            lit = Lit(radio)
            await remote[1].on()
            assert lit.lit == [names(2)[1]]


async def test_calls_wait_for_who_rules_and_for_the_next_one(opens: Open) -> None:
    async with hosted(opens) as (switches, remote, _), opens() as here, opens() as there:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(remote[0].on)
            async with here.synchronizer("radio") as radio:
                stand_in = Lit(radio).stand_ins[0]
                while not switches[0].is_on:
                    await trio.lowlevel.checkpoint()
                nursery.start_soon(remote[1].on)
                await until(radio, PROPOSED)
            with pytest.raises(trio.ClosedResourceError, match="no longer rules"):
                radio.stand_in("switches/9", Switch)
            async with there.synchronizer("radio") as second:
                lit = Lit(second)
                while not switches[1].is_on:
                    await trio.lowlevel.checkpoint()
                assert lit.lit == [names(2)[1]]
            assert stand_in.statistics().tasks_waiting == 0


async def test_calls_wait_for_a_stand_in(opens: Open) -> None:
    async with hosted(opens, 1) as (switches, remote, _), opens() as here:
        async with here.synchronizer("radio") as radio, trio.open_nursery() as nursery:
            nursery.start_soon(remote[0].on)
            assert await remote[0].look() is False
            radio.stand_in("switches/other", Switch)
            assert await remote[0].look() is False
            Lit(radio, 1)
        assert switches[0].is_on


async def test_a_host_that_stops_hands_on_what_waits(opens: Open) -> None:
    second = Switch()
    async with opens() as host, opens() as here, opens() as caller:
        async with here.synchronizer("radio") as radio, trio.open_nursery() as nursery:
            lit = Lit(radio, 1)
            lit.deny()
            (name,) = names(1)
            async with host.host(name, Switch(), ruled_by="radio"):
                nursery.start_soon(connected(caller, name).on)
                await until(radio, PROPOSED)
            await until(radio)
            async with here.host(name, second, ruled_by="radio"):
                await until(radio, PROPOSED)
                lit.lit.clear()
                lit.stand_ins[0].changed()
                while not second.is_on:
                    await trio.lowlevel.checkpoint()


async def test_the_partner_of_a_host_that_is_gone_is_let_go(opens: Open) -> None:
    switch, partner = Switch(), Switch()
    async with opens() as mine, opens() as here, opens() as caller:
        first, second = [connected(caller, name) for name in names(2)]

        async def host(theirs: Session, task_status: Any = trio.TASK_STATUS_IGNORED) -> None:
            with pytest.raises(LeaseLost):
                async with theirs.host(names(2)[1], partner, ruled_by="radio", ruled=RULED):
                    task_status.started()
                    await trio.sleep_forever()

        async with here.synchronizer("radio") as radio, trio.open_nursery() as nursery:
            radio.rules.atomic(*[radio.stand_in(name, Switch).join for name in names(2)])
            async with mine.host(names(2)[0], switch, ruled_by="radio", ruled=RULED):
                async with opens() as theirs:
                    await nursery.start(host, theirs)
                    nursery.start_soon(first.join)
                    nursery.start_soon(fail, second.stay)
                    await partner.inside.wait()
                    nursery.start_soon(fail, second.join)
                    await until(radio, PROPOSED)
                await until(radio, PROPOSED)
                assert await first.look() is False
                nursery.cancel_scope.cancel()


async def test_what_was_proposed_to_one_that_is_gone_is_proposed_to_the_next(opens: Open) -> None:
    async with hosted(opens) as (switches, remote, _), opens() as here:
        async with trio.open_nursery() as nursery:
            async with opens() as theirs:
                radio = await nursery.start(rule, theirs)
                Lit(radio).deny()
                nursery.start_soon(remote[0].on)
                await until(radio, PROPOSED)
            async with here.synchronizer("radio") as second:
                Lit(second)
                while not switches[0].is_on:
                    await trio.lowlevel.checkpoint()


async def test_no_process_knows_of_a_call_that_was_to_start_when_the_ruler_was_gone(
    opens: Open,
) -> None:
    async with hosted(opens) as all_hosted, opens() as here:
        switches, remote, _ = all_hosted
        async with trio.open_nursery() as nursery:
            async with opens() as theirs:
                radio = await nursery.start(rule, theirs)
                radio.rules.atomic(*[radio.stand_in(name, Switch).join for name in names(2)])
                all_hosted.deafen(1)
                nursery.start_soon(remote[1].join)
                await until(radio, PROPOSED)
                nursery.start_soon(fail, remote[0].join)
                await until(radio, READY, ASKED)
            assert await remote[0].look() is False
            async with here.synchronizer("radio") as second:
                Lit(second)
                await remote[0].on()
            nursery.cancel_scope.cancel()
        assert [one.joined for one in switches] == [0, 0]


async def test_a_call_that_is_cancelled_while_its_object_is_reserved_lets_it_go(
    opens: Open,
) -> None:
    async with hosted(opens) as all_hosted, opens() as here:
        switches, remote, _ = all_hosted
        async with here.synchronizer("radio") as radio, trio.open_nursery() as nursery:
            radio.rules.atomic(*[radio.stand_in(name, Switch).join for name in names(2)])
            all_hosted.deafen(1)
            nursery.start_soon(remote[1].join)
            await until(radio, PROPOSED)
            async with trio.open_nursery() as first:
                first.start_soon(remote[0].join)
                await until(radio, READY, ASKED)
                first.cancel_scope.cancel()
            assert await remote[0].look() is False
            await until(radio, PROPOSED)
            nursery.cancel_scope.cancel()
        assert [one.joined for one in switches] == [0, 0]


async def test_what_cannot_be_ruled_over_is_refused(opens: Open) -> None:
    class Plain:
        async def on(self) -> None: ...

    class Other(Monitor):
        @entry
        def jump(self) -> None: ...

    async with opens() as session, session.synchronizer("radio") as radio:
        with pytest.raises(TypeError, match="entries of a Monitor"):
            session.host("plain", Plain(), ruled_by="radio")
        with pytest.raises(ValueError, match=r"'sleep' cannot be ruled over: .* among join, look"):
            session.host("switch", Switch(), ruled_by="radio", ruled=["sleep"])
        wrong: Any = Plain
        with pytest.raises(TypeError, match="entries of a Monitor"):
            radio.stand_in("plain", wrong)
        stand_in = radio.stand_in("switch", Other)
        with pytest.raises(ValueError, match="'switch' has a stand-in here already"):
            radio.stand_in("switch", Other)
        with pytest.raises(RuntimeError, match="jump stands in for an entry in another process"):
            await stand_in.jump()
        switch = Switch()
        async with session.host("switch", switch, ruled_by="radio"):
            remote = connected(session, "switch")
            with pytest.raises(KeyError, match="on"):
                await remote.on()
            async with Synchronizer() as local:
                local.trigger(switch.on, lambda: None)
                with pytest.raises(RuntimeError, match="Synchronizer of this process, too"):
                    await remote.on()


async def test_who_rules_has_the_errors_of_others_told(opens: Open) -> None:
    class Strange(Exception):
        pass

    def fail() -> None:
        raise Strange

    async with hosted(opens, 1) as (_, remote, _), opens() as here:
        async with here.synchronizer("radio") as radio:
            radio.rules.trigger(radio.stand_in(names(1)[0], Switch).on, fail)
            with pytest.raises(RemoteError, match="Strange"):
                await remote[0].on()
