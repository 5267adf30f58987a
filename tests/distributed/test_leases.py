"""What happens when a session cannot reach its engine, is thought dead, or is."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from structsync._core.shared.operations import Operation, Verb
from structsync.distributed import (
    Deliveries,
    LeaseLost,
    ReplicasDiffer,
    SharedEvent,
    SharedStatistics,
    client,
    membership,
    open_session,
)
from structsync.distributed.errors import DeliveryFailed
from structsync.distributed.memory import Fate, MemoryEngine, What, hub_of
from structsync.distributed.waits import Waits

TTL = 9.0


class Plan:
    """What becomes of the next messages of each kind; those after them arrive."""

    def __init__(self, **fates: list[Fate]) -> None:
        self.fates = {what: iter(its) for what, its in fates.items()}

    def __call__(self, what: What) -> Fate:
        return next(self.fates.get(what, iter(())), "in time")


def opens(deliveries: Deliveries | None = None, **options: Any) -> Any:
    return open_session("memory://", namespace="test", deliveries=deliveries, **options)


async def test_a_block_is_cancelled_before_its_lease_is_given_to_others(
    autojump_clock: MockClock,
) -> None:
    cut = Deliveries()
    async with opens(cut, ttl=TTL) as here, opens(ttl=TTL) as there, trio.open_nursery() as nursery:
        over: list[float] = []

        async def hold() -> None:
            with pytest.raises(LeaseLost, match=r"the grant \d+ of 'lock' is over"):
                async with here.lock("lock") as grant:
                    holds.append(grant.token)
                    cut.fate = lambda what: "lost"
                    try:
                        await trio.sleep_forever()
                    finally:
                        over.append(trio.current_time())

        holds: list[int] = []
        nursery.start_soon(hold)
        await wait_all_tasks_blocked()
        async with there.lock("lock") as grant:
            assert grant.token > holds[0]
            assert trio.current_time() - over[0] >= 0.1 * TTL - 0.001
            assert trio.current_time() <= TTL + 0.1


async def test_a_lease_that_is_renewed_does_not_end(autojump_clock: MockClock) -> None:
    async with opens(ttl=TTL) as here:
        async with here.lock("lock"):
            await trio.sleep(10 * TTL)
        assert await here.lock("lock").statistics() == SharedStatistics(0, 0, None)


async def test_a_lease_that_is_renewed_late_counts_from_then_on(autojump_clock: MockClock) -> None:
    cut = Deliveries()
    async with opens(cut, ttl=TTL) as here, here.lock("lock"):
        cut.fate = lambda what: "lost"
        await trio.sleep(0.8 * TTL)
        cut.fate = lambda what: "in time"
        await trio.sleep(2 * TTL)


async def test_a_body_that_reaches_no_checkpoint_is_told_at_its_end(
    autojump_clock: MockClock,
) -> None:
    deliveries = Deliveries()
    async with opens(deliveries) as here:
        with pytest.raises(LeaseLost):
            async with here.lock("lock"):
                deliveries.kill(here.identity)
        with pytest.raises(LeaseLost):
            await here.lock("lock").__aenter__()
        with pytest.raises(LeaseLost):
            await here.lock("lock").statistics()
        assert "lost" in repr(here)
        assert "other" not in here._clients
        with pytest.raises(LeaseLost):
            await here.lock("other").__aenter__()


async def test_an_error_of_the_body_is_not_hidden_by_the_end_of_the_lease(
    autojump_clock: MockClock,
) -> None:
    deliveries = Deliveries()
    async with opens(deliveries) as here:
        with pytest.raises(KeyError):
            async with here.lock("lock"):
                deliveries.kill(here.identity)
                raise KeyError


async def test_errors_beside_the_cancellation_of_a_block_pass(autojump_clock: MockClock) -> None:
    deliveries = Deliveries()

    async def fail() -> None:
        try:
            await trio.sleep_forever()
        finally:
            raise KeyError

    async with opens(deliveries) as here:
        with pytest.raises(ExceptionGroup):
            async with here.lock("lock"), trio.open_nursery() as nursery:
                nursery.start_soon(fail)
                nursery.start_soon(trio.sleep_forever)
                await wait_all_tasks_blocked()
                deliveries.kill(here.identity)


async def test_who_waits_when_the_lease_ends_is_told(autojump_clock: MockClock) -> None:
    deliveries, events = Deliveries(), list[SharedEvent]()
    async with opens() as there, opens(deliveries, observer=events.append) as here:
        async with there.lock("lock"), trio.open_nursery() as nursery:

            async def wait() -> None:
                with pytest.raises(LeaseLost, match="the wait for 'lock'"):
                    await here.lock("lock").__aenter__()

            async def read() -> None:
                with pytest.raises(LeaseLost):
                    await here.lock("lock").statistics()

            nursery.start_soon(wait)
            await wait_all_tasks_blocked()
            deliveries.kill(here.identity)
            nursery.start_soon(read)
    assert [event.kind for event in events] == ["requested", "lost"]


async def test_a_cancelled_wait_whose_lease_ends_is_cancelled(autojump_clock: MockClock) -> None:
    deliveries = Deliveries()
    async with opens() as there, opens(deliveries) as here:
        async with there.lock("lock"):
            with trio.CancelScope() as scope:
                async with trio.open_nursery() as nursery:

                    async def cancel() -> None:
                        await wait_all_tasks_blocked()
                        deliveries.kill(here.identity)
                        scope.cancel()

                    nursery.start_soon(cancel)
                    await here.lock("lock").__aenter__()
            assert scope.cancelled_caught


async def test_a_grant_that_is_lost_before_its_task_runs_is_no_grant(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    resolve = Waits.resolve
    events: list[SharedEvent] = []
    async with opens(observer=events.append) as here:

        def lose_then(self: Waits, one: Any) -> None:
            resolve(self, one)
            here._lose()

        monkeypatch.setattr(Waits, "resolve", lose_then)
        with pytest.raises(LeaseLost):
            await here.lock("lock").__aenter__()
    assert [event.kind for event in events] == ["requested", "lost"]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("task", ["renew", "listen"])
async def test_a_session_that_fails_is_over_for_a_task_that_is_not_cancelled_by_that(
    autojump_clock: MockClock,
    monkeypatch: pytest.MonkeyPatch,
    error: type[BaseException],
    task: str,
) -> None:
    used: list[str] = []

    async def fail(self: MemoryEngine, *args: Any, task_status: Any = None) -> None:
        if task_status is not None:
            task_status.started()
            await trio.sleep(1)
        raise error("a failure")

    monkeypatch.setattr(MemoryEngine, task, fail)
    with pytest.raises(error, match="a failure"):
        async with opens(ttl=TTL) as here:
            with trio.CancelScope(shield=True):
                await trio.sleep(2)
                for _ in range(2):
                    with pytest.raises(trio.ClosedResourceError, match="this session is closed"):
                        await here.lock("lock").__aenter__()
                    used.append(repr(here))
    assert [one.rpartition(", ")[2] for one in used] == ["closed>"] * 2


async def test_a_session_that_fails_is_closed_before_no_task_can_be_started_in_it() -> None:
    class Last(trio.abc.Instrument):
        def task_exited(self, task: trio.lowlevel.Task) -> None:
            if here._nursery._closed:
                states.append(repr(here).rpartition(", ")[2])

    async def fail() -> None:
        raise ValueError("a failure")

    states: list[str] = []
    with pytest.raises(ValueError, match="a failure"):
        async with opens() as here:
            trio.lowlevel.add_instrument(Last())
            here._nursery.start_soon(fail)
            await trio.sleep_forever()
    assert {*states} == {"closed>"}


async def test_who_holds_or_waits_when_the_block_of_its_session_is_left_is_told_that(
    autojump_clock: MockClock,
) -> None:
    told: list[LeaseLost] = []

    async def use(session: Any) -> None:
        try:
            async with session.lock("lock"):
                await trio.sleep_forever()
        except LeaseLost as error:
            told.append(error)

    async with trio.open_nursery() as nursery:
        async with opens() as here:
            for _ in range(2):
                nursery.start_soon(use, here)
            await wait_all_tasks_blocked()
    assert sorted(str(one).partition(": ")[0] for one in told) == [
        "the grant 2 of 'lock' is over",
        "the wait for 'lock' is over",
    ]
    for one in told:
        assert "the block of the session was left; end all that uses" in str(one)
        assert "lease" not in str(one)


async def test_who_holds_or_waits_when_a_lease_cannot_be_renewed_at_all_is_told(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    with pytest.raises(RuntimeError, match="a failure"):
        async with opens(ttl=TTL) as there, there.lock("lock"), opens(ttl=TTL) as here:

            async def fail(*args: Any) -> None:
                raise RuntimeError("a failure")

            async def wait() -> None:
                with trio.CancelScope(shield=True), pytest.raises(LeaseLost, match=r"wait.*failed"):
                    await here.lock("lock").__aenter__()
                told.append("waits")

            async def hold() -> None:
                with (
                    trio.CancelScope(shield=True),
                    pytest.raises(LeaseLost, match=r"grant.*failed"),
                ):
                    async with here.lock("other"):
                        await trio.sleep_forever()
                told.append("holds")

            async with trio.open_nursery() as nursery:
                nursery.start_soon(wait)
                nursery.start_soon(hold)
                await wait_all_tasks_blocked()
                monkeypatch.setattr(here._engine, "renew", fail)
    assert sorted(told) == ["holds", "waits"]
    assert trio.current_time() < 0.5 * TTL, "at once, and not when the lease ends"


# ==== Messages ====


@pytest.mark.parametrize("what", ["request", "answer"])
@pytest.mark.parametrize("fate", ["lost", "twice", "late"])
async def test_what_is_not_answered_is_sent_again_and_counts_once(
    autojump_clock: MockClock, what: What, fate: Fate
) -> None:
    bad = Deliveries(Plan(**{what: [fate] * 7}))
    async with opens(bad) as here, opens() as there:
        async with here.semaphore("db", 2):
            assert (await there.semaphore("db", 2).statistics()).value == 1
        await here.latch("db/latch", 2).count_down()
        assert (await there.latch("db/latch", 2).statistics()).value == 1
        assert (await there.semaphore("db", 2).statistics()).holders == 0


async def test_a_hint_that_is_lost_is_made_up_for_by_the_next_look(
    autojump_clock: MockClock,
) -> None:
    deaf = Deliveries(Plan(hint=["lost"]))
    async with opens(deaf) as here, opens(Deliveries()) as there, trio.open_nursery() as nursery:

        async def wait() -> None:
            async with there.lock("lock"):
                assert 0.5 < trio.current_time() < 1.5

        async with here.lock("lock"):
            nursery.start_soon(wait)
            await wait_all_tasks_blocked()


async def test_a_request_that_arrives_after_the_end_of_its_session_changes_nothing(
    autojump_clock: MockClock,
) -> None:
    late = Deliveries(Plan(request=["late"] * 2))  # the first one renews the lease
    async with opens(late) as here, opens() as there, trio.open_nursery() as nursery:

        async def wait() -> None:
            with pytest.raises(LeaseLost):
                await here.lock("lock").__aenter__()

        nursery.start_soon(wait)
        await trio.sleep(0.01)
        late.kill(here.identity)
        late.kill(here.identity)  # twice is once
        assert await there.lock("lock").statistics() == SharedStatistics(0, 0, None)


async def test_who_dies_is_found_out_when_its_lease_ends(autojump_clock: MockClock) -> None:
    gone = Deliveries()
    async with opens(gone, ttl=TTL) as here, opens(ttl=TTL) as there:
        with pytest.raises(LeaseLost):
            async with here.lock("lock"):
                gone.fate = lambda what: "lost"
                async with there.lock("lock"):
                    assert TTL <= trio.current_time() <= TTL + 0.1


async def test_a_session_that_cannot_reach_its_engine_closes_all_the_same(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    deliveries = Deliveries()
    async with opens(deliveries) as here:
        async with here.lock("lock"):
            pass

        async def close() -> None:
            await trio.sleep_forever()

        monkeypatch.setattr(here._engine, "close", close)
    async with opens(deliveries) as here:
        deliveries.fate = lambda what: "lost"


async def test_what_becomes_of_a_count_is_not_known_when_the_lease_ends(
    autojump_clock: MockClock,
) -> None:
    cut = Deliveries()
    async with opens(cut, ttl=TTL) as here:
        cut.fate = lambda what: "lost"
        with pytest.raises(LeaseLost, match="the wait for 'start'"):
            await here.latch("start", 2).count_down()
        assert trio.current_time() == pytest.approx(0.9 * TTL)


async def test_a_count_that_is_cancelled_before_the_lease_ends_is_not_known_either(
    autojump_clock: MockClock,
) -> None:
    deliveries = Deliveries()
    async with opens() as there, there.lock("latch/lock"), opens(deliveries) as here:
        deliveries.fate = lambda what: "lost" if what == "answer" else "in time"
        trio.lowlevel.spawn_system_task(kill_later, deliveries, here.identity)
        with pytest.raises(LeaseLost, match="'latch/start'"), trio.move_on_after(1):
            await here.latch("latch/start", 5).count_down(2)
        assert (await there.latch("latch/start", 5).statistics()).value == 3


async def test_what_a_cancelled_block_raises_passes_when_its_lease_ends_before_its_release(
    autojump_clock: MockClock,
) -> None:
    deliveries, events = Deliveries(), list[SharedEvent]()
    async with opens(deliveries, observer=events.append) as here:
        with pytest.raises(ValueError, match="of the body"):
            with trio.move_on_after(1):
                async with here.lock("lock"):
                    deliveries.fate = lambda what: "lost" if what == "answer" else "in time"
                    trio.lowlevel.spawn_system_task(kill_later, deliveries, here.identity)
                    raise ValueError("of the body")
    assert [event.kind for event in events] == ["requested", "granted", "lost"]


async def kill_later(deliveries: Deliveries, session: str) -> None:
    await trio.sleep(2)
    deliveries.kill(session)
    deliveries.fate = lambda what: "in time"


async def test_a_party_that_is_cancelled_before_its_lease_ends_may_have_been_counted(
    autojump_clock: MockClock,
) -> None:
    deliveries, events = Deliveries(), list[SharedEvent]()
    async with opens() as there, trio.open_nursery() as nursery:
        nursery.start_soon(there.barrier("barrier", 2).wait)
        await wait_all_tasks_blocked()
        async with opens(deliveries, observer=events.append) as here:
            deliveries.fate = lambda what: "lost" if what == "answer" else "in time"
            trio.lowlevel.spawn_system_task(kill_later, deliveries, here.identity)
            with pytest.raises(LeaseLost, match="'barrier'"), trio.move_on_after(1):
                await here.barrier("barrier", 2).wait()
    assert [event.kind for event in events] == ["requested", "lost"]


async def test_a_wait_on_a_condition_that_is_cancelled_before_its_lease_ends_has_released_the_lock(
    autojump_clock: MockClock,
) -> None:
    deliveries, events = Deliveries(), list[SharedEvent]()
    async with opens() as there, opens(deliveries, observer=events.append) as here:
        lock = here.lock("a/lock")
        with pytest.raises(LeaseLost, match="'a/changed'"), trio.move_on_after(1):
            async with lock:
                deliveries.fate = lambda what: "lost" if what == "answer" else "in time"
                trio.lowlevel.spawn_system_task(kill_later, deliveries, here.identity)
                await here.condition("a/changed", lock).wait()
        async with there.lock("a/lock"):
            pass
    kinds = [event.kind for event in events]
    assert kinds == ["requested", "granted", "requested", "lost", "lost"]


# ==== Compaction ====


async def test_a_long_log_is_replaced_by_a_snapshot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "COMPACT_AFTER", 10)
    unheard = Deliveries()
    unheard.fate = lambda what: "lost" if what == "hint" else "in time"
    async with opens() as here, opens(unheard) as there:
        semaphore = here.semaphore("db", 2)
        async with semaphore:
            for _ in range(20):
                async with there.semaphore("db", 2):
                    pass
            log = hub_of("memory://", "test").logs["db"]
            assert log.start == 0  # one of them has not read for a while
            await semaphore.statistics()
            await semaphore.statistics()
            assert log.start > 0
            assert len(log.entries) < 40
        async with opens() as late:
            async with late.semaphore("db", 2).permits(2):
                assert (await semaphore.statistics()).value == 0


async def test_who_takes_part_reads_when_a_snapshot_is_offered_so_that_the_log_stays_short(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(client, "COMPACT_AFTER", 10)
    async with opens() as here, opens() as there:
        async with here.semaphore("db", 2):
            for _ in range(200):
                async with there.semaphore("db", 2):
                    pass
            assert len(hub_of("memory://", "test").logs["db"].entries) < 40


async def test_a_long_log_is_read_in_parts_between_which_other_tasks_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(client, "AT_ONCE", 10)
    turns: list[int] = []
    async with opens() as here:
        for _ in range(40):
            async with here.lock("lock"):
                pass
        async with opens() as late, trio.open_nursery() as nursery:

            async def note_turns() -> None:
                while True:
                    turns.extend(one.replica.position for one in late._clients.values())
                    await trio.lowlevel.checkpoint()

            nursery.start_soon(note_turns)
            assert (await late.lock("lock").statistics()).holders == 0
            nursery.cancel_scope.cancel()
    # trio runs the two in any order
    assert all(later - earlier <= 20 for earlier, later in pairwise(turns))
    assert turns[-1] >= 80


async def test_a_compaction_that_comes_too_late_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with opens() as here:
        async with here.lock("lock"):
            await here._engine.compact("lock", 1, b"[]")
        assert hub_of("memory://", "test").logs["lock"].offered is None


async def test_a_compaction_that_is_not_answered_is_offered_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    offers: list[str] = []

    async def fail(self: MemoryEngine, log: str, position: int, snapshot: bytes) -> None:
        offers.append(log)
        raise DeliveryFailed

    monkeypatch.setattr(client, "COMPACT_AFTER", 0)
    monkeypatch.setattr(MemoryEngine, "compact", fail)
    async with opens() as here:
        async with here.lock("lock"):
            pass
    assert len(offers) > 1


async def test_a_hint_about_an_unknown_log_is_ignored() -> None:
    async with opens() as here, opens() as there:
        here._engine.hint([there.identity, "no task"], "unknown")


async def test_the_error_of_the_body_of_a_session_passes_as_it_is() -> None:
    with pytest.raises(KeyError):
        async with opens():
            raise KeyError


async def test_a_replica_that_differs_stops_its_session() -> None:
    with pytest.raises(ReplicasDiffer, match="run one version of structsync everywhere"):
        async with opens() as here:
            await here.lock("lock").statistics()
            log = hub_of("memory://", "test").logs["lock"]
            log.entries.append(Operation(Verb.DIGEST, "", 0, ("another",)).encode())
            await here.lock("lock").statistics()


# ==== Events ====


async def test_an_observer_is_told_of_each_step() -> None:
    events: list[SharedEvent] = []
    async with opens(observer=events.append) as here, opens() as there:
        async with here.lock("lock") as grant:
            pass
        async with there.lock("lock"):
            with trio.CancelScope() as scope:
                async with trio.open_nursery() as nursery:

                    async def cancel() -> None:
                        await wait_all_tasks_blocked()
                        scope.cancel()

                    nursery.start_soon(cancel)
                    await here.lock("lock").__aenter__()
    kinds = [(event.kind, event.token) for event in events]
    assert kinds == [
        ("requested", 0),
        ("granted", grant.token),
        ("released", grant.token),
        ("requested", 0),
        ("withdrawn", 0),
    ]
    assert events[0].name == "lock"
    assert events[0].task is trio.lowlevel.current_task()


async def test_an_observer_is_told_of_the_end_of_a_request_that_is_refused() -> None:
    events: list[SharedEvent] = []
    async with opens() as there, opens(observer=events.append) as here, there.lock("lock"):
        with pytest.raises(ValueError, match="is in use as a lock"):
            await here.latch("lock", 2).wait()
        with pytest.raises(ValueError, match="is in use as a lock"):
            await here.semaphore("lock", 2).__aenter__()
    assert [event.kind for event in events] == ["requested", "withdrawn"] * 2


async def test_an_observer_that_raises_is_removed(caplog: pytest.LogCaptureFixture) -> None:
    def fail(event: SharedEvent) -> None:
        raise KeyError

    async with opens(observer=fail) as here:
        async with here.lock("lock"):
            pass
    assert len(caplog.records) == 1
    assert "failed and was removed" in caplog.text


# ==== Arguments ====


async def told_later(event: SharedEvent) -> None:
    """An observer that nothing awaits."""


@pytest.mark.parametrize(
    ("url", "options", "error", "problem"),
    [
        ("gopher://me:secret@h", {}, ValueError, r"no engine for gopher://"),
        ("gopher", {}, ValueError, r"does not begin with the name of an engine; use memory://"),
        ("//me:secret@h", {}, ValueError, r"does not begin with the name of an engine"),
        ("/tmp/a b.db", {}, ValueError, r"for the file /tmp/a b.db write sqlite:///tmp/a%20b.db;"),
        ("/tmp/\ud800", {}, ValueError, r"write sqlite:///tmp/%ED%A0%80"),
        (b"redis://me:secret@h", {}, TypeError, "url must be a str, not a bytes"),
        ("memory://", {"namespace": ""}, ValueError, "must not be empty"),
        ("memory://", {"namespace": "\udc80"}, ValueError, "namespace must be encodable as UTF-8"),
        ("memory://", {"namespace": 3}, TypeError, "must be a str or None, not 3"),
        ("memory://", {"ttl": True}, TypeError, "number of seconds, not True"),
        ("memory://", {"ttl": "1"}, TypeError, "number of seconds, not '1'"),
        ("memory://", {"ttl": 0}, ValueError, "greater than 0, not 0"),
        ("memory://", {"ttl": 10**400}, ValueError, "a time greater than 0, not 1000"),
        ("memory://?a=secret", {}, ValueError, "nothing follows memory://; give namespace="),
        ("memory://secret", {}, ValueError, "nothing follows memory://; give namespace="),
        ("memory://", {"deliveries": 5}, TypeError, "must be a Deliveries or None, not 5"),
        ("memory://", {"observer": 5}, TypeError, "observer must be callable, not 5"),
        ("memory://", {"observer": told_later}, TypeError, "observer must be a sync function"),
    ],
)
async def test_a_session_is_refused_with_the_reason(
    url: Any, options: Any, error: type[Exception], problem: str
) -> None:
    with pytest.raises(error, match=problem) as caught:
        async with open_session(url, **options):
            pytest.fail("it was opened")
    assert "secret" not in str(caught.value)


async def test_all_sessions_of_a_namespace_have_one_ttl(autojump_clock: MockClock) -> None:
    cut = Deliveries()
    async with opens(cut, ttl=TTL) as first:
        for other in (None, TTL + 1):
            with pytest.raises(
                ValueError, match=r"in use with ttl=9, not .*; all its sessions need one ttl"
            ):
                async with opens(ttl=other):
                    pytest.fail("it was opened")
        async with opens(ttl=TTL), open_session("memory://", namespace="another"):
            pass
        cut.kill(first.identity)
        async with opens(ttl=TTL + 1):
            pass


async def test_a_session_whose_lease_is_over_leaves_the_choice_of_a_ttl_to_others(
    autojump_clock: MockClock,
) -> None:
    cut = Deliveries(lambda what: "lost")
    with pytest.raises(LeaseLost):
        async with opens(cut, ttl=TTL) as lost:
            async with lost.lock("lock"):
                await trio.sleep_forever()
    async with opens():
        pass


async def test_the_default_namespace_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "structsync")
    async with open_session("memory://"):
        assert "no namespace given for memory://" in caplog.text


async def test_a_session_with_very_many_prefixes_is_warned_about_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(membership, "MANY", 3)
    async with opens() as session:
        for number in range(5):
            async with session.lock(f"order/{number}"):
                pass
        assert caplog.text == ""
        for number in range(5):
            async with session.lock(f"order-{number}"):
                pass
    (record,) = caplog.records
    assert "has used 3 prefixes, 'order-1' last, and keeps a log for each" in record.getMessage()


async def test_primitives_are_refused_with_the_reason() -> None:
    async with opens() as here, opens() as there:
        lock = here.lock("a/lock")
        attempts: list[tuple[Any, type[Exception], str]] = [
            (lambda: here.lock(3), TypeError, "name must be a str"),
            (lambda: here.lock("/x"), ValueError, "a prefix that is not empty"),
            (
                lambda: here.lock("\udc80"),
                ValueError,
                r"name must be encodable as UTF-8.*'\\udc80'",
            ),
            (lambda: here.lock("a/\udc80"), ValueError, r"lone surrogate '\\udc80' at index 2"),
            (lambda: here.semaphore("db", 0), ValueError, "permits must be >= 1"),
            (lambda: here.semaphore("db", True), TypeError, "permits must be an int"),
            (lambda: here.semaphore("db", 2).permits(0), ValueError, "n must be >= 1"),
            (lambda: here.latch("start", 0), ValueError, "count must be >= 1"),
            (lambda: here.barrier("round", 0), ValueError, "parties must be >= 1"),
            (lambda: here.condition("a/c", here.rwlock("a/b")), TypeError, "needs a SharedLock"),
            (lambda: here.condition("b/c", lock), ValueError, "need the same prefix"),
            (here.acquire_all, ValueError, "not none"),
            (lambda: here.acquire_all(lock.claim(), here.lock("b").claim()), ValueError, "'b'"),
        ]
        for attempt, error, problem in attempts:
            with pytest.raises(error, match=problem):
                attempt()
        condition = here.condition("a/changed", lock)
        for refused in (condition.wait, condition.notify, condition.notify_all):
            with pytest.raises(RuntimeError, match="must hold <shared lock 'a/lock'>"):
                await refused()
        with pytest.raises(TypeError, match="predicate"):
            await condition.wait_for(None)
        assert repr(there.semaphore("db", 2)) == "<shared semaphore 'db' of 2>"
        async with lock as grant:
            assert repr(grant) == f"<grant {grant.token} of 'a/lock'>"
        assert "open" in repr(there)
