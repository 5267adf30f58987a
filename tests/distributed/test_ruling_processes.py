"""Rules over objects of real processes, killed while they rule and while they host."""

from __future__ import annotations

import signal
import sys

import pytest
import trio

from structsync._core.monitors.stages import Stage
from structsync.distributed import CallOutcomeUnknown
from tests.distributed.children import child
from tests.distributed.conftest import Place
from tests.distributed.switches import RULED, Lit, Switch, Switching, connected, names, until

pytest.importorskip("msgspec")

pytestmark = [
    pytest.mark.waits,
    pytest.mark.skipif(sys.platform != "linux", reason="sqlite:// needs Linux"),
    pytest.mark.timeout(90),
    pytest.mark.parametrize("place", ["sqlite", "redis"], indirect=True),
]


@pytest.fixture
def place(place: Place) -> Place:
    """Where others get what a process that is killed has held, after its lease."""
    return place.where_leases_end


FIRST, SECOND = names(2)


async def test_the_next_process_rules_when_the_one_that_did_is_killed(place: Place) -> None:
    here = Switch()
    async with place.opens() as session, place.opens() as caller, trio.open_nursery() as nursery:
        async with session.host(FIRST, here, ruled_by="radio", ruled=RULED):
            async with (
                child("switch", *place.arguments, "1") as there,
                child("rule", *place.arguments) as ruler,
            ):
                assert [await there.says(), await ruler.says()] == [["hosts"], ["rules"]]
                first, second = connected(caller, FIRST), connected(caller, SECOND)
                await second.on()
                nursery.start_soon(first.on)
                assert await first.look() is False
                await ruler.kill()
                async with session.synchronizer("radio") as radio:
                    lit = Lit(radio)
                    lit.deny()
                    await until(radio, Stage.PROPOSED)  # what waited for the one that is dead
                    lit.lit = [SECOND]  # which this process would have asked the objects
                    await second.off()
                    while not here.is_on:
                        await trio.lowlevel.checkpoint()
                    assert lit.lit == [FIRST]


async def test_what_was_reserved_for_the_partner_of_a_host_that_is_killed_is_let_go(
    place: Place,
) -> None:
    here = Switch()

    async def join(switch: Switching) -> None:
        with pytest.raises(CallOutcomeUnknown):
            await switch.join()

    async with place.opens() as session, place.opens() as caller:
        async with (
            session.host(FIRST, here, ruled_by="radio", ruled=RULED),
            session.synchronizer("radio") as radio,
            child("switch", *place.arguments, "1") as there,
            trio.open_nursery() as nursery,
        ):
            radio.rules.atomic(*[radio.stand_in(name, Switch).join for name in names(2)])
            assert await there.says() == ["hosts"]
            nursery.start_soon(join, connected(caller, SECOND))
            await until(radio, Stage.PROPOSED)
            there.process.send_signal(signal.SIGSTOP)
            nursery.start_soon(connected(caller, FIRST).join)
            await until(radio, Stage.READY, Stage.ASKED)
            await there.kill()
            await until(radio, Stage.PROPOSED)
            assert await connected(caller, FIRST).look() is False
            assert here.joined == 0
            nursery.cancel_scope.cancel()
