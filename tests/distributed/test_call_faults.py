"""Faults in the middle of a call, on real servers and with real processes: it happens once, or its outcome is unknown.

Each has a control: what the fault does where the rule that guards against it is taken away.
"""

from __future__ import annotations

import random
import signal
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from structsync._core.shared.calls import Attempt, CallTable, Ticket, Verdict
from structsync.distributed import CallOutcomeUnknown, Session, open_session
from tests.distributed.children import Child, child
from tests.distributed.conftest import Place
from tests.distributed.servers import LASTS, Server, opens, server
from tests.distributed.shops import Counter, Counting, Journal, Journaling
from tests.distributed.test_redis_faults import promote, replica_of
from tests.distributed.way import Way, way

pytest.importorskip("msgspec")
pytest.importorskip("hiredis")

pytestmark = [
    pytest.mark.waits,
    pytest.mark.skipif(sys.platform != "linux", reason="sqlite:// needs Linux"),
    pytest.mark.timeout(120),
    pytest.mark.slow,
]

anywhere = pytest.mark.parametrize("place", ["sqlite", "redis"], indirect=True)


@pytest.fixture
def place(place: Place) -> Place:
    """Where others get what a process that is killed has held, after its lease."""
    return place.where_leases_end


@asynccontextmanager
async def serving(place: Place, file: Path, *faults: str) -> AsyncIterator[Child]:
    """Run a process that hosts a journal."""
    env = dict.fromkeys(faults, "1")
    async with child("serve", *place.arguments, str(file), env=env) as host:
        assert await host.says() == ["hosts"]
        yield host


# ==== The host is killed between commit and answer ====


async def killed_before_it_answers(place: Place, file: Path) -> None:
    """Call a host that dies before its first answer, and have another one follow it."""
    async with serving(place, file, "DIE_BEFORE_ANSWER"), place.opens() as here:
        call = here.start(here.connect("journal", Journaling).note, "tea")
        async with here.host("journal", Journal(file)):
            try:
                await call.wait()
            except CallOutcomeUnknown:
                pass


@anywhere
async def test_what_was_done_before_the_host_was_killed_is_not_done_again(
    place: Place, tmp_path: Path
) -> None:
    file = tmp_path / "journal"
    await killed_before_it_answers(place, file)
    assert Journal(file).lines() == ["tea"]


@anywhere
async def test_a_caller_that_sends_again_what_is_unknown_has_it_done_twice(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def again(self: Attempt, token: int | None = None) -> bool:
        return token == self.token and self.hear(self.token, self.number, Verdict.NOT_TAKEN)

    monkeypatch.setattr(Attempt, "lose", again)
    file = tmp_path / "journal"
    await killed_before_it_answers(place, file)
    assert Journal(file).lines() == ["tea", "tea"]


# ==== The host is stopped ====


async def stopped(place: Place, file: Path, *faults: str) -> int:
    """Stop a host in the middle of a call, for longer than its lease; return how often it went on too late."""
    async with serving(place, file, *faults) as old, place.opens() as here:
        call = here.start(here.connect("journal", Journaling).tick)
        assert await old.says() == ["entered"]
        old.process.send_signal(signal.SIGSTOP)
        async with here.host("journal", Journal(file)):
            followed = time.monotonic_ns()
            with pytest.raises(CallOutcomeUnknown):
                await call.wait()
            old.process.send_signal(signal.SIGCONT)
            while old.process.poll() is None and not late(file, followed):  # noqa: ASYNC110
                await trio.sleep(0.01)  # until it has ended, because its session is over
    return late(file, followed)


def late(file: Path, followed: int) -> int:
    """Return how often a host went on after another one had followed it."""
    return len([one for one in Journal(file).lines() if int(one) > followed])


@pytest.mark.parametrize("place", ["redis"], indirect=True)
async def test_a_host_that_wakes_after_its_lease_does_nothing_more(
    place: Place, tmp_path: Path
) -> None:
    assert await stopped(place, tmp_path / "journal") == 0


@pytest.mark.parametrize("place", ["redis"], indirect=True)
async def test_a_host_that_wakes_and_does_not_count_its_lease_goes_on(
    place: Place, tmp_path: Path
) -> None:
    assert await stopped(place, tmp_path / "journal", "COUNTS_NO_LEASE") > 0


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
async def test_a_host_without_a_lease_that_was_stopped_goes_on_where_it_was(
    place: Place, tmp_path: Path
) -> None:
    file = tmp_path / "journal"
    async with serving(place, file) as host, place.opens() as here:
        host.process.send_signal(signal.SIGSTOP)
        call = here.start(here.connect("journal", Journaling).note, "tea")
        with trio.move_on_after(2):  # longer than any task is asked again
            await call.wait()
        assert call.status == "pending"
        host.process.send_signal(signal.SIGCONT)
        await call.wait()
        assert Journal(file).lines() == ["tea"]


# ==== The server fails during a call ====

#: In seconds: a lease that outlasts what fails here, and the time after which an answer is not sent any more.
LEASE = 4.0
GIVEN_UP = 0.3 * LEASE

Fail = Callable[[Counter], Awaitable[None]]


async def fails_during_a_call(here: Session, there: Session, fail: Fail) -> str:
    """Have something fail while a call runs, whose method returns meanwhile; return its status some time after that."""
    counter = Counter()
    entered = trio.Event()
    counter.say = lambda *words: entered.set()
    async with here.host("counter", counter):
        call = there.start(there.connect("counter", Counting).wait, "tea")
        await entered.wait()
        await fail(counter)
        with trio.move_on_after(LEASE):
            await call.wait()
        status = call.status
        assert there._calls is not None
        await there._calls.callers["counter"].ask()  # so that the control ends, too
        assert await call.wait() == "tea"
    return status


async def restart() -> str:
    """Kill a server during a call, have the method return, and start the server again."""
    with server("--appendonly", "yes", "--appendfsync", "always") as victim:
        victim.is_no_news("test")

        async def fail(counter: Counter) -> None:
            victim.kill()
            await trio.sleep(0.1)
            counter.open.set()
            await trio.sleep(GIVEN_UP)  # the answer: there is nothing to send it over
            victim.start()

        async with opens(victim, ttl=LEASE) as here, opens(victim, ttl=LEASE) as there:
            return await fails_during_a_call(here, there, fail)


def never_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(self: Any, interval: float) -> None:
        await trio.sleep_forever()

    from structsync.distributed._calls.exchange import Exchange

    monkeypatch.setattr(Exchange, "_keep_asking", never)


async def test_a_call_outlives_a_restart_of_the_server() -> None:
    assert await restart() == "returned"


async def test_a_call_whose_answer_a_restart_has_lost_waits_for_a_caller_that_never_asks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    never_asks(monkeypatch)
    assert await restart() == "pending"


async def failover(folder: Path, primary: Server) -> str:
    """Kill a primary during a call, have the method return, and let its replica take its place."""
    with server("--repl-diskless-sync-delay", "0") as replica:
        await replica_of(primary, replica)
        async with way(folder, primary) as one, by(one) as here, by(one) as there:

            async def fail(counter: Counter) -> None:
                await trio.sleep(0.1)
                await promote(primary, replica)
                primary.kill()
                await trio.sleep(0.1)
                counter.open.set()
                await trio.sleep(GIVEN_UP)
                one.server = replica

            return await fails_during_a_call(here, there, fail)


def by(one: Way, ttl: float = LEASE) -> Any:
    return open_session(one.url, namespace="test", ttl=ttl)


async def test_a_call_outlives_a_failover(tmp_path: Path, victim: Server) -> None:
    assert await failover(tmp_path, victim) == "returned"


async def test_a_call_whose_answer_a_failover_has_lost_waits_for_a_caller_that_never_asks(
    tmp_path: Path, victim: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    never_asks(monkeypatch)
    assert await failover(tmp_path, victim) == "pending"


# ==== The connection is cut, again and again ====


async def cut_again_and_again(folder: Path, victim: Server, calls: int) -> Counter:
    """Call while the connections of both sessions are cut at random times; return what was done."""
    counter, cuts = Counter(), 0
    async with way(folder, victim) as one, by(one, LASTS) as here, by(one, LASTS) as there:
        async with here.host("counter", counter), trio.open_nursery() as nursery:
            proxy = there.connect("counter", Counting)

            async def call(number: int) -> None:
                for n in range(calls):
                    assert await proxy.add(f"{number}: {n}")
                    await trio.sleep(random.uniform(0, 0.01))

            async def cut() -> None:
                nonlocal cuts
                while True:
                    await trio.sleep(random.uniform(0, 0.1))
                    one.cut()
                    cuts += 1

            async with trio.open_nursery() as callers:
                nursery.start_soon(cut)
                for number in range(4):
                    callers.start_soon(call, number)
            nursery.cancel_scope.cancel()
    assert (len(counter.added), cuts > 3) == (4 * calls, True)
    return counter


@pytest.mark.usefixtures("asks_soon")
async def test_calls_over_a_connection_that_is_cut_happen_once(
    tmp_path: Path, victim: Server
) -> None:
    counter = await cut_again_and_again(tmp_path, victim, 40)
    assert {*counter.added.values()} == {1}


@pytest.mark.usefixtures("asks_soon")
async def test_a_host_that_knows_nothing_of_calls_it_has_answered_does_them_again(
    tmp_path: Path, victim: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    def careless(self: CallTable, ticket: Ticket) -> Verdict:
        return Verdict.NOT_TAKEN

    monkeypatch.setattr(CallTable, "answer_to", careless)
    most = 0
    while most < 2:  # within the limit of time
        counter = await cut_again_and_again(tmp_path, victim, 40)
        most = max(counter.added.values())
        (tmp_path / "way").unlink()
