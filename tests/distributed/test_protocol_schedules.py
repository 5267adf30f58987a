"""The protocol, explored: messages that are lost, late or twice, cancellations, and sessions that die."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext, suppress
from types import SimpleNamespace
from typing import Any

import pytest
import trio
from trio.lowlevel import checkpoint

from structsync._core.shared.history import Entries, History
from structsync._core.shared.operations import Verb
from structsync._runtime.outcomes import Pending
from structsync.distributed import (
    Deliveries,
    LeaseLost,
    RemoteCall,
    Session,
    SharedMonitor,
    membership,
    open_session,
    urls,
)
from structsync.distributed.client import LogClient
from structsync.distributed.engine import Tail
from structsync.distributed.memory import Fate, MemoryEngine, What
from structsync.distributed.waits import Waits
from structsync.testing import Exploration, ExploredRun, explore
from tests.distributed.shops import Counter, Counting
from tests.distributed.telling import TellingEngine

pytestmark = pytest.mark.slow

#: Random schedules of the larger programs; each planted fault is found within a fifth of it.
SAMPLE = 60


def opens(deliveries: Deliveries | None = None) -> Any:
    return open_session("memory://", namespace="test", deliveries=deliveries)


async def hold(x: ExploredRun, session: Session) -> None:
    with trio.CancelScope():
        async with session.lock("lock"):
            with x.exclusive("lock"):
                await checkpoint()


async def contend(x: ExploredRun, here: Session, there: Session) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(hold, x, here)
        nursery.start_soon(hold, x, there)


async def nothing_is_left(session: Session) -> None:
    with trio.CancelScope(shield=True):
        found = await session.lock("lock").statistics()
    assert (found.tasks_waiting, found.holders) == (0, 0)


async def two_sessions(x: ExploredRun) -> None:
    async with opens() as here, opens() as there:
        await contend(x, here, there)
        await nothing_is_left(here)


async def crowd(x: ExploredRun) -> None:
    """Two tasks in one session, so that it knows by its own log whom a release lets in; the replicas end alike."""
    async with opens() as here, opens() as there:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(contend, x, here, there)
            nursery.start_soon(hold, x, here)
        states = []
        await nothing_is_left(there)  # it joins, if it has not
        for session in (here, there):
            await nothing_is_left(session)
            replica = session._clients["lock"].replica
            states.append((replica.position, replica.core.encode()))
        assert states[0] == states[1]


def badly(what: What, fate: Fate) -> Callable[[ExploredRun], Any]:
    """Return a program in which one message has this fate, at any time."""

    async def program(x: ExploredRun) -> None:
        deliveries = Deliveries()

        def once(message: What) -> Fate:
            if message != what:
                return "in time"
            deliveries.fate = lambda message: "in time"
            return fate

        async def sabotage() -> None:
            await checkpoint()
            deliveries.fate = once

        async with opens(deliveries) as here, opens(deliveries) as there:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(contend, x, here, there)
                nursery.start_soon(sabotage)
            await nothing_is_left(there)

    return program


async def one_dies(x: ExploredRun) -> None:
    deliveries, tokens = Deliveries(), list[int]()

    async def lives(session: Session) -> None:
        try:
            async with session.lock("lock") as grant:
                tokens.append(grant.token)
                await checkpoint()
        except LeaseLost:
            pass

    async def kill(session: Session) -> None:
        await checkpoint()
        deliveries.kill(session.identity)

    async with opens(deliveries) as here, opens(deliveries) as there:
        async with trio.open_nursery() as nursery:
            for session in (here, there):
                nursery.start_soon(lives, session)
            nursery.start_soon(kill, here)
        await nothing_is_left(there)
    assert len({*tokens}) == len(tokens)


async def calls(x: ExploredRun) -> None:
    counter = Counter()
    returned: set[str] = set()

    async def call(session: Session, what: str) -> None:
        with trio.CancelScope():
            await session.connect("counter", Counting).add(what)
            returned.add(what)

    async with opens() as there:
        async with opens() as here, here.host("counter", counter):
            async with trio.open_nursery() as nursery:
                for session, what in ((here, "tea"), (there, "milk")):
                    nursery.start_soon(call, session, what)
        assert returned <= {*counter.added}
        assert {*counter.added.values()} <= {1}


async def cancelled_calls(x: ExploredRun) -> None:
    """A raised ``Cancelled`` means that the method has not come to its end."""
    counter = Counter()

    async def call(session: Session) -> None:
        with trio.CancelScope() as scope:
            await session.connect("counter", Counting).finish("tea")
        assert not (scope.cancelled_caught and counter.added)

    async with opens() as here, opens() as there, here.host("counter", counter):
        await call(there)


async def queued_calls(x: ExploredRun) -> None:
    """A monitor of two sessions: two calls are queued in one, and the other enters."""
    order: list[int] = []

    async def body(number: int) -> None:
        with x.exclusive("lock"):
            await checkpoint()
        order.append(number)

    async with opens() as here, opens() as there:
        with trio.CancelScope():
            monitor = here.monitor("lock")
            queued = [monitor.do_when_free(body, number) for number in range(2)]
            await there.monitor("lock").entry(body)(2)
        for call in queued:
            with suppress(RuntimeError):  # it was cancelled
                await call.wait()
        assert order.index(0) < order.index(1) if {0, 1} <= {*order} else len(order) < 3
        await nothing_is_left(here)


def sampled(program: Callable[[ExploredRun], Any], **settings: Any) -> Exploration:
    return explore(program, **{"search": "random", "executions": SAMPLE, **settings})


def test_one_at_a_time_holds_a_lock_in_every_schedule() -> None:
    found = explore(two_sessions, cancels=0, search="states", exhaustive=True, executions=None)
    found.check()
    assert found.states > 150


def test_a_cancellation_anywhere_leaves_nothing_behind() -> None:
    sampled(two_sessions, cancels=1).check()


@pytest.mark.parametrize(
    ("what", "fate"),
    [
        ("request", "lost"),
        ("request", "twice"),
        ("request", "late"),
        ("answer", "lost"),
        ("hint", "lost"),
    ],
)
def test_a_message_that_goes_wrong_changes_nothing(what: What, fate: Fate) -> None:
    sampled(badly(what, fate), cancels=0).check()


@pytest.fixture
def telling(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Have the sessions use an engine that brings news; return of each whether it was taken."""
    taken: list[bool] = []
    told = LogClient.told

    def noting(self: LogClient, news: Tail) -> bool:
        taken.append(told(self, news))
        return taken[-1]

    monkeypatch.setattr(LogClient, "told", noting)
    monkeypatch.setattr(urls, "MemoryEngine", TellingEngine)
    return taken


def test_news_in_any_order_let_one_at_a_time_in(telling: list[bool]) -> None:
    sampled(crowd, cancels=1).check()
    assert {*telling} == {False, True}, (
        "some come when they continue what was read, and some do not"
    )


@pytest.mark.parametrize("what", ["request", "answer", "hint"])
@pytest.mark.parametrize("fate", ["lost", "twice", "late"])
def test_news_that_go_wrong_change_nothing(telling: list[bool], what: What, fate: Fate) -> None:
    sampled(badly(what, fate), cancels=0).check()
    if (what, fate) != (
        "hint",
        "lost",
    ):  # mostly the only one: a look at the log is what helps then
        assert True in telling, "some are taken"


def test_news_of_a_session_that_dies_let_the_others_in(telling: list[bool]) -> None:
    sampled(one_dies, cancels=0).check()


def test_queued_calls_of_a_monitor_keep_their_order_and_leave_nothing_behind() -> None:
    sampled(queued_calls, cancels=1).check()


def test_a_call_that_returns_has_happened_once_in_every_schedule() -> None:
    pytest.importorskip("msgspec")
    sampled(calls, cancels=1, executions=15).check()
    sampled(cancelled_calls, cancels=1, executions=25).check()


def test_a_session_that_dies_lets_the_others_in() -> None:
    sampled(one_dies, cancels=0).check()


# ==== Planted faults: each is found ====


def test_without_hints_and_looks_a_wakeup_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MemoryEngine, "hint", lambda *_: None)
    assert sampled(two_sessions, cancels=0).failure


def test_without_looks_a_lost_hint_is_a_lost_wakeup(monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(self: membership.Membership) -> None:
        await trio.sleep_forever()

    monkeypatch.setattr(membership.Membership, "_renew", never)
    assert sampled(badly("hint", "lost"), cancels=0).failure


def test_news_that_are_taken_whatever_was_read_are_noticed(
    telling: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    def bold(self: History, start: int, entries: Entries) -> Entries:
        return entries

    monkeypatch.setattr(History, "continued_by", bold)
    unexplored: Any = SimpleNamespace(exclusive=lambda _: nullcontext())
    with pytest.raises(
        AssertionError
    ):  # in the first schedule: to make it shorter takes half a minute
        trio.run(crowd, unexplored)


def test_an_engine_that_tells_not_what_it_was_to_tell_loses_a_wakeup(
    telling: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    append_soon = TellingEngine.append_soon

    def mute(self: Any, log: str, operations: Any, after: int, done: Any, told: Any) -> bool:
        return append_soon(self, log, operations, after, done, {})

    monkeypatch.setattr(TellingEngine, "append_soon", mute)
    assert sampled(crowd, cancels=0).failure


def test_a_session_that_is_let_in_unforeseen_and_not_hinted_is_a_lost_wakeup(
    telling: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TellingEngine, "hint", lambda *_: None)
    assert sampled(crowd, cancels=0).failure


def test_an_operation_that_is_sent_under_a_new_number_counts_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    append = MemoryEngine.append

    async def renumbered(self: Any, log: str, operations: Any, after: int) -> Any:
        tail = await append(self, log, operations, after)
        if operations and b'"release"' not in operations[0]:
            again = [one.replace(b",0,", b",9,").replace(b",1,", b",8,") for one in operations]
            await append(self, log, again, after)
        return tail

    monkeypatch.setattr(MemoryEngine, "append", renumbered)
    assert sampled(two_sessions, cancels=0).failure


def test_a_cancellation_that_withdraws_nothing_loses_the_permit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def abort(self: Any, raise_cancel: Any) -> trio.lowlevel.Abort:
        return trio.lowlevel.Abort.SUCCEEDED

    resolve = Waits.resolve

    def lenient(self: Waits, one: Any) -> None:
        try:
            resolve(self, one)
        except (AttributeError, AssertionError, KeyError):
            pass  # no task waits

    monkeypatch.setattr(Pending, "_abort", abort)
    monkeypatch.setattr(Waits, "resolve", lenient)
    assert sampled(two_sessions, cancels=1).failure


def test_a_host_that_answers_a_cancellation_before_the_call_has_ended_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("msgspec")
    from structsync._core.shared.calls import Verdict
    from structsync.distributed._calls.hosting import Hosting
    from structsync.distributed._calls.messages import Cancel

    def hasty(self: Hosting, message: Cancel) -> None:
        # as if the caller was not even heard
        self._session._nursery.start_soon(self._send, message.ticket, self.token, Verdict.NOT_TAKEN)

    monkeypatch.setattr(Hosting, "_cancel", hasty)
    assert sampled(cancelled_calls, cancels=1, executions=25).failure


def test_a_call_that_is_queued_when_its_task_runs_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def late(self: SharedMonitor, fn: Callable[[int], Any], number: int) -> RemoteCall[None]:
        session: Any = self._session
        call: RemoteCall[None] = session.start(self.entry(fn), number)
        return call

    monkeypatch.setattr(SharedMonitor, "do_when_free", late)
    assert sampled(queued_calls, cancels=0).failure


def test_a_release_that_is_not_sent_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    ask = LogClient.ask

    async def quiet(self: LogClient, name: str, verb: Verb, *details: Any, **options: Any) -> Any:
        return None if verb is Verb.RELEASE else await ask(self, name, verb, *details, **options)

    monkeypatch.setattr(LogClient, "ask", quiet)
    assert sampled(two_sessions, cancels=0).failure
