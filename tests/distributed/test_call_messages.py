"""Messages of calls that are lost, late, twice, or nonsense: each call happens at most once, and no host stops."""

from __future__ import annotations

import gc
import itertools
import random
import weakref
from collections import Counter as Tally
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from structsync._core.shared import calls as core
from structsync.distributed import CallOutcomeUnknown, Deliveries, LeaseLost, Session, open_session
from structsync.distributed.engine import LONGEST
from structsync.distributed.errors import DeliveryFailed
from structsync.distributed.memory import Fate, MemoryEngine, What
from tests.distributed.shops import Counter, Counting

msgspec = pytest.importorskip("msgspec")

from structsync.distributed._calls import hosting, messages  # noqa: E402

pytestmark = pytest.mark.timeout(60)


@asynccontextmanager
async def hosted(
    fate: Callable[[What], Fate] = lambda what: "in time",
    *,
    ttl: float | None = None,
    **options: Any,
) -> AsyncIterator[tuple[Counter, Session, Session]]:
    """Host a counter; what becomes of the messages between the two sessions is said by ``fate``."""
    counter, deliveries = Counter(), Deliveries()
    async with (
        open_session("memory://", namespace="test", deliveries=deliveries, ttl=ttl) as here,
        open_session("memory://", namespace="test", deliveries=deliveries, ttl=ttl) as there,
        here.host("counter", counter, **options),
    ):
        deliveries.fate = fate
        yield counter, here, there
        deliveries.fate = lambda what: "in time"


def badly(seed: int) -> Callable[[What], Fate]:
    choices: list[Fate] = ["in time", "in time", "lost", "twice", "late"]
    chance = random.Random(seed)
    return lambda what: chance.choice(choices) if what == "message" else "in time"


async def storm(seed: int) -> tuple[Tally[str], dict[str, int]]:
    """Call by messages that go wrong; return which calls have returned, and what was done."""
    returned: Tally[str] = Tally()
    chance = random.Random(seed)
    async with hosted(badly(seed)) as (counter, _, there):
        proxy = there.connect("counter", Counting)

        async def call(what: str, patience: float) -> None:
            with trio.move_on_after(patience):
                await proxy.add(what)
                returned[what] += 1

        async with trio.open_nursery() as nursery:
            for n in range(20):
                nursery.start_soon(call, f"call {n}", chance.choice([0.5, 1.5, 1000]))
    return returned, counter.added


@pytest.mark.parametrize("seed", range(12))
async def test_a_call_happens_once_if_it_returns_and_never_twice(
    seed: int, autojump_clock: trio.testing.MockClock
) -> None:
    returned, added = await storm(seed)
    assert {*returned} <= {*added}
    assert {*added.values()} <= {1}
    assert len(added) >= 6


async def test_a_host_that_does_not_look_what_it_has_done_does_it_twice(
    autojump_clock: trio.testing.MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def careless(self: core.CallTable, ticket: core.Ticket) -> core.Verdict:
        return core.Verdict.NOT_TAKEN

    monkeypatch.setattr(core.CallTable, "answer_to", careless)
    most = 0
    for seed in range(6):
        _, added = await storm(seed)
        most = max(most, *added.values())
    assert most > 1


async def test_without_asking_a_call_whose_answer_is_lost_never_ends(
    autojump_clock: trio.testing.MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(self: Any, interval: float) -> None:
        await trio.sleep_forever()

    from structsync.distributed._calls.exchange import Exchange

    monkeypatch.setattr(Exchange, "_keep_asking", never)
    with trio.move_on_after(1000) as in_time:
        async with open_session("memory://", namespace="end") as there:
            lost = [0]

            def fate(what: What) -> Fate:
                lost[0] += what == "message"
                return "lost" if lost[0] == 2 and what == "message" else "in time"

            async with hosted(fate) as (counter, _, there), trio.open_nursery() as nursery:
                call = there.start(there.connect("counter", Counting).add, "tea")
                await trio.sleep(500)
                assert (call.status, counter.added) == ("pending", {"tea": 1})
                nursery.cancel_scope.cancel()
    assert not in_time.cancelled_caught


# ==== Hostile peers ====

texts = st.sampled_from(["counter", "session 7", "session 99", "add", "__init__", ""])
numbers = st.one_of(st.integers(0, 3), st.integers(-(1 << 63), 1 << 63))
leaves = st.one_of(st.none(), st.booleans(), numbers, texts, st.binary(max_size=8), st.floats())
values = st.recursive(
    leaves, lambda one: st.lists(one, max_size=4) | st.dictionaries(texts, one, max_size=3)
)
tags = st.sampled_from(
    ["call", "cancel", "ask", "returned", "raised", "cancelled", "not taken", "stopped", "gone"]
)
lists = st.tuples(tags, texts, numbers).flatmap(
    lambda head: st.lists(values, max_size=6).map(lambda rest: [*head, *rest])
)
right = st.tuples(
    st.just("call"),
    st.just("counter"),
    st.integers(0, 2),
    texts,
    st.integers(0, 3),
    st.integers(0, 3),
    st.sampled_from(["add", "open", "__class__", "say", "added"]),
    st.dictionaries(st.sampled_from(["what", "self", "other"]), values, max_size=2),
)


def packed(value: Any) -> bytes:
    try:
        return messages.encode(value)
    except Exception:  # noqa: BLE001 - what cannot be sent at all
        return b"\xc1"


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.one_of(st.binary(max_size=64), lists.map(packed), right.map(packed)), max_size=30)
)
def test_nonsense_stops_no_host(said: list[bytes]) -> None:
    async def run() -> None:
        async with hosted() as (_, here, there):
            there.connect("counter", Counting)
            for message in said:
                for session in (here, there):
                    session._received(message)
            await trio.testing.wait_all_tasks_blocked()
            assert await there.connect("counter", Counting).add("honest") == 1

    trio.run(run, clock=trio.testing.MockClock(autojump_threshold=0))


@pytest.mark.parametrize(
    "nonsense",
    [
        pytest.param(b"\x91" * 200_000, id="deep"),
        pytest.param(b"\xdf\xff\xff\xff\xff", id="a dictionary that is said to be huge"),
        pytest.param(b"\xdd\xff\xff\xff\xff", id="a list that is said to be huge"),
        pytest.param(b"x" * (LONGEST + 1), id="too long"),
        pytest.param(b"\x91\xa1\x80", id="a text that is none"),
    ],
)
async def test_what_is_no_message_is_passed_over(nonsense: bytes) -> None:
    assert messages.decode(nonsense) is None


def call(here: Session, caller: str, slot: int, what: Any, method: str = "add") -> bytes:
    """Return a message that calls the counter that a session hosts."""
    assert here._calls is not None
    token = here._calls.hosts["counter"].token
    argument = {"what": msgspec.Raw(what if isinstance(what, bytes) else packed(what))}
    return messages.encode(messages.Call("counter", token, caller, slot, 1, method, argument))


async def test_an_argument_that_is_nested_deeply_is_refused() -> None:
    deep = b"\x91" * 100_000 + b"\x01"
    async with hosted() as (counter, here, there):
        here._received(call(here, there.identity, 5, deep))
        await trio.testing.wait_all_tasks_blocked()
        assert await there.connect("counter", Counting).add("tea") == 1
        assert counter.added == {"tea": 1}


async def test_an_argument_that_is_no_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    async with hosted() as (counter, here, there):
        assert await there.connect("counter", Counting).add("tea") == 1
        told: list[Any] = []
        monkeypatch.setattr(there, "_received", lambda data: told.append(messages.decode(data)))
        here._received(call(here, there.identity, 5, b"\xa1\x80"))
        await trio.testing.wait_all_tasks_blocked()
        (answer,) = told
        assert (answer.error, counter.added) == ("TypeError", {"tea": 1})


async def test_a_caller_of_whom_no_log_tells_is_forgotten_and_its_calls_are_cancelled() -> None:
    async with hosted() as (_, here, there):
        here._received(call(here, "no task", 0, "tea", "wait"))
        assert await there.connect("counter", Counting).add("tea") == 1
        await trio.testing.wait_all_tasks_blocked()
        assert here._calls is not None
        host = here._calls.hosts["counter"]
        assert (host.calls, {*host.table.callers}) == ({}, {there.identity})


async def test_a_call_that_comes_again_after_its_caller_was_forgotten_runs_once() -> None:
    async with hosted() as (counter, here, there):
        assert here._calls is not None
        host = here._calls.hosts["counter"]
        async with open_session("memory://", namespace="test") as mine:
            assert await mine.connect("counter", Counting).add("milk") == 1
            again = call(here, mine.identity, 7, "tea", "insist")
            here._received(again)
            await trio.testing.wait_all_tasks_blocked()
        await trio.testing.wait_all_tasks_blocked()
        for _ in range(2):
            here._received(again)
            await trio.testing.wait_all_tasks_blocked()
            assert (counter.added, host.table.running) == ({"milk": 1, "tea": 1}, 1)
        counter.open.set()
        await trio.testing.wait_all_tasks_blocked()
        here._received(again)  # it has ended, and nothing is known of its caller
        await trio.testing.wait_all_tasks_blocked()
        assert (host.calls, host.table.running, {*host.table.callers}) == ({}, 0, set())
        assert await there.connect("counter", Counting).add("tea") == 2


async def test_strangers_beyond_a_number_are_not_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosting, "STRANGERS", 2)
    async with hosted() as (_, here, there):
        for n in range(5):
            here._received(call(here, f"stranger {n}", 0, "tea", "wait"))
        assert here._calls is not None
        assert len(here._calls.hosts["counter"].table.callers) == 2
        assert await there.connect("counter", Counting).add("tea") == 1


async def test_calls_beyond_a_number_are_not_taken_and_come_again(
    monkeypatch: pytest.MonkeyPatch, autojump_clock: trio.testing.MockClock
) -> None:
    monkeypatch.setattr(hosting, "WAITING", 1)
    async with hosted(concurrent=1) as (counter, here, there):
        proxy = there.connect("counter", Counting)
        async with trio.open_nursery() as nursery:
            for n in range(6):
                nursery.start_soon(proxy.wait, str(n))
            await trio.testing.wait_all_tasks_blocked()
            assert here._calls is not None
            assert here._calls.hosts["counter"].table.running == 2
            counter.open.set()


async def test_a_host_whose_lease_is_over_takes_nothing() -> None:
    async with hosted() as (_, here, there):
        assert here._calls is not None
        host = here._calls.hosts["counter"]
        ends, here._deadline = here._deadline, trio.current_time()
        here._received(call(here, there.identity, 0, "tea"))
        assert host.calls == {}
        here._deadline = ends
        here._received(call(here, there.identity, 1, "tea"))
        assert len(host.calls) == 1


async def fails() -> None:
    raise ZeroDivisionError


async def test_a_message_to_a_session_that_has_failed_goes_to_the_next_host(
    autojump_clock: trio.testing.MockClock,
) -> None:
    counter = Counter()
    async with open_session("memory://", namespace="test") as there:
        with pytest.raises(ZeroDivisionError):
            async with open_session("memory://", namespace="test") as here:
                async with here.host("counter", Counter()):
                    proxy = there.connect("counter", Counting)
                    assert await proxy.add("tea") == 1
                    with trio.CancelScope(shield=True):
                        here._nursery.start_soon(fails)
                        await trio.testing.wait_all_tasks_blocked()
                        call = there.start(proxy.add, "tea")
                        await trio.testing.wait_all_tasks_blocked()
        async with open_session("memory://", namespace="test") as here:
            async with here.host("counter", counter):
                assert await call.wait() == 1


@pytest.mark.parametrize("steps", range(1, 9))  # until the call comes; its tasks end in any order
async def test_a_host_takes_no_call_when_its_session_fails(steps: int) -> None:
    class Calling(trio.abc.Instrument):
        def after_task_step(self, task: trio.lowlevel.Task) -> None:
            is_failing = here._nursery.cancel_scope.cancel_called and here._nursery.child_tasks
            if is_failing and next(later) == steps:
                here._received(call(here, there.identity, 0, "tea"))

    later, calling = itertools.count(1), Calling()
    with pytest.raises(ZeroDivisionError):
        async with hosted() as (_, here, there):
            here._nursery.start_soon(fails)
            trio.lowlevel.add_instrument(calling)
            await trio.sleep_forever()
    trio.lowlevel.remove_instrument(calling)  # which is there still if it has raised nothing


async def test_who_asks_a_session_that_never_was_a_host_is_answered() -> None:
    async with hosted() as (counter, here, there):
        proxy = there.start(there.connect("counter", Counting).wait, "tea")
        await trio.testing.wait_all_tasks_blocked()
        assert here._calls is not None
        del here._calls.hosts["counter"]  # as if it never had been
        assert there._calls is not None
        await there._calls.callers["counter"].ask()
        with pytest.raises(CallOutcomeUnknown):
            await proxy.wait()
        counter.open.set()


async def test_what_was_hosted_is_forgotten_with_its_last_caller() -> None:
    async with open_session("memory://", namespace="test") as here:
        counters: weakref.WeakSet[Counter] = weakref.WeakSet()
        async with open_session("memory://", namespace="test") as there:
            for n in range(3):
                counters.add(counter := Counter())
                async with here.host(f"counters/{n}", counter):
                    if n < 2:
                        await there.connect(f"counters/{n}", Counting).add("tea")
                del counter
            gc.collect()
            assert not counters
            assert here._calls is not None
            assert [*here._calls.hosts] == ["counters/0", "counters/1"], "who called may ask again"
            (client,) = here._clients.values()
            assert len(client.watchers) == 1
        async with here.lock("counters/lock"):
            assert (here._calls.hosts, client.watchers) == ({}, {})


async def test_a_name_that_is_hosted_again_is_not_forgotten() -> None:
    async with open_session("memory://", namespace="test") as here:
        async with open_session("memory://", namespace="test") as there:
            proxy = there.connect("counter", Counting)
            for _ in range(2):
                async with here.host("counter", Counter()):
                    assert await proxy.add("tea") == 1
        async with here.host("counter", Counter()):
            assert await here.connect("counter", Counting).add("tea") == 1


async def test_a_name_that_is_not_called_costs_the_log_nothing() -> None:
    async with hosted() as (counter, _, there):
        proxy = there.connect("counter", Counting)
        client = there._client("counter")
        assert client.watchers == {}
        calls = [there.start(proxy.wait, "tea") for _ in range(2)]
        await trio.testing.wait_all_tasks_blocked()
        assert len(client.watchers) == 1
        counter.open.set()
        for one in calls:
            await one.wait()
        assert client.watchers == {}


async def test_a_host_remembers_what_it_did_when_it_had_the_name_before(
    autojump_clock: trio.testing.MockClock,
) -> None:
    """The answer is lost, the name is hosted anew, and the call comes once more."""
    seen: list[bytes] = []
    deliveries = Deliveries()
    first, second = Counter(), Counter()
    async with (
        open_session("memory://", namespace="test", deliveries=deliveries) as here,
        open_session("memory://", namespace="test", deliveries=deliveries) as there,
    ):
        async with here.host("counter", first):
            here._received = seen.append
            proxy = there.connect("counter", Counting)
            call = there.start(proxy.add, "tea")
            await trio.testing.wait_all_tasks_blocked()
            (data,) = seen
            deliveries.fate = lambda what: "lost" if what == "message" else "in time"
            assert here._calls is not None
            here._calls.received(data)
            await trio.testing.wait_all_tasks_blocked()
        async with here.host("counter", second):
            deliveries.fate = lambda what: "in time"
            here._calls.received(data)
            assert await call.wait() == 1
        assert (first.added, second.added) == ({"tea": 1}, {})


async def test_an_answer_that_no_caller_waits_for_says_nothing() -> None:
    async with hosted() as (_, here, there):
        proxy = there.connect("counter", Counting)
        assert await proxy.add("tea") == 1
        assert here._calls is not None
        token = here._calls.hosts["counter"].token
        for number in (1, 2):
            there._received(messages.encode(messages.NotTaken("counter", token, 0, number)))
            there._received(messages.encode(messages.Cancelled("counter", token, 0, number)))
        there._received(messages.encode(messages.Gone("nothing", token)))
        assert await proxy.add("tea") == 2


async def test_who_is_told_of_a_cancellation_that_it_has_not_asked_for_does_not_know() -> None:
    async with hosted() as (counter, here, there):
        call = there.start(there.connect("counter", Counting).wait, "tea")
        await trio.testing.wait_all_tasks_blocked()
        assert here._calls is not None
        token = here._calls.hosts["counter"].token
        there._received(messages.encode(messages.Cancelled("counter", token, 0, 1)))
        with pytest.raises(CallOutcomeUnknown):
            await call.wait()
        counter.open.set()


async def test_who_loses_its_lease_during_a_call_does_not_know(
    autojump_clock: trio.testing.MockClock,
) -> None:
    deliveries = Deliveries()
    async with (
        hosted(ttl=3) as (_, _here, _there),
        open_session("memory://", namespace="test", deliveries=deliveries, ttl=3) as mine,
    ):
        call = mine.start(mine.connect("counter", Counting).wait, "tea")
        deliveries.kill(mine.identity)
        with pytest.raises((CallOutcomeUnknown, LeaseLost)):
            await call.wait()


async def test_calls_end_with_the_lease_of_the_host_while_its_block_cleans_up(
    autojump_clock: trio.testing.MockClock,
) -> None:
    deliveries, changed = Deliveries(), [trio.Event(), trio.Event()]
    counter = Counter(lambda what, _: changed[what == "cancelled"].set())

    async def host(here: Session) -> None:
        with pytest.raises(LeaseLost):
            async with here.host("counter", counter):
                try:
                    await trio.sleep_forever()
                finally:
                    with trio.CancelScope(shield=True):
                        await trio.sleep(1000)

    async with (
        open_session("memory://", namespace="test", deliveries=deliveries, ttl=3) as there,
        open_session("memory://", namespace="test", deliveries=deliveries, ttl=3) as here,
        trio.open_nursery() as nursery,
    ):
        nursery.start_soon(host, here)
        call = there.start(there.connect("counter", Counting).wait, "tea")
        await changed[0].wait()
        deliveries.kill(here.identity)
        with trio.fail_after(10):
            await changed[1].wait()
            with pytest.raises(CallOutcomeUnknown):
                await call.wait()


async def test_a_call_that_may_have_been_sent_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    send = MemoryEngine.send

    async def unknown(self: MemoryEngine, session: str, message: bytes) -> bool:
        await send(self, session, message)
        await trio.testing.wait_all_tasks_blocked()
        raise DeliveryFailed

    async with hosted() as (_, _here, there):
        monkeypatch.setattr(MemoryEngine, "send", unknown)
        assert await there.connect("counter", Counting).add("tea") == 1


async def test_a_call_that_was_not_sent_is_sent_again(
    monkeypatch: pytest.MonkeyPatch, autojump_clock: trio.testing.MockClock
) -> None:
    send = MemoryEngine.send

    async def unsent(self: MemoryEngine, session: str, message: bytes) -> bool:
        monkeypatch.setattr(MemoryEngine, "send", send)
        await trio.lowlevel.checkpoint()
        return False

    async with hosted() as (_, _here, there):
        monkeypatch.setattr(MemoryEngine, "send", unsent)
        assert await there.connect("counter", Counting).add("tea") == 1


async def test_the_first_that_is_said_of_a_call_counts() -> None:
    async with hosted() as (counter, here, there):
        call = there.start(there.connect("counter", Counting).wait, "tea")
        await trio.testing.wait_all_tasks_blocked()
        assert here._calls is not None
        token = here._calls.hosts["counter"].token
        value = msgspec.Raw(packed("first"))
        there._received(messages.encode(messages.Returned("counter", token, 0, 1, value)))
        there._received(messages.encode(messages.Gone("counter", token)))
        assert await call.wait() == "first"
        counter.open.set()
