"""observe.metrics(): how often, how long and who longest, on trio's clock and in bounded memory."""

from __future__ import annotations

import gc
import math
import random
from threading import Thread
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

import structsync
from structsync import Metrics, PrimitiveMetrics, observe
from structsync.observing import histogram, holds, metrics
from structsync.observing.histogram import LAST, Durations, bucket_of, upper_of
from structsync.observing.prometheus import BOUNDS


def only(found: Metrics) -> PrimitiveMetrics:
    (one,) = found.primitives()
    return one


async def hold(lock: Any, seconds: float) -> None:
    async with lock:
        await trio.sleep(seconds)


async def test_waits_and_holds_are_timed_by_trios_clock(autojump_clock: MockClock) -> None:
    lock = structsync.Lock(name="ledger")
    with observe.metrics() as found:
        async with trio.open_nursery() as nursery:
            for number in range(3):
                nursery.start_soon(hold, lock, 1 + number, name=f"task {number}")
                await wait_all_tasks_blocked()
    one = only(found)
    assert (one.kind, one.name) == ("Lock", "ledger")
    assert (one.requested, one.granted, one.released, one.waiting) == (3, 3, 3, 0)
    assert (one.waits.count, one.waits.total, one.waits.longest) == (3, 4.0, 3.0)
    assert (one.holds.count, one.holds.total, one.holds.longest) == (3, 6.0, 3.0)
    assert one.longest_waiter == "task 2"
    assert (one.oldest_wait, one.oldest_waiter) == (None, None)


async def test_who_waits_longest_now_is_told(autojump_clock: MockClock) -> None:
    semaphore = structsync.Semaphore(0)
    with observe.metrics() as found:
        async with trio.open_nursery() as nursery:
            for name in ("first", "second"):
                nursery.start_soon(semaphore.acquire, name=name)
                await trio.sleep(2)
            one = only(found)
            nursery.cancel_scope.cancel()
    assert (one.waiting, one.oldest_wait, one.oldest_waiter) == (2, 4.0, "first")
    assert (only(found).waiting, only(found).withdrawn) == (0, 2)
    assert only(found).waits.count == 0, "only what was granted has waited to the end"
    assert only(found).longest_waiter is None


async def test_who_waits_longest_is_told_in_another_thread_too(autojump_clock: MockClock) -> None:
    semaphore, told = structsync.Semaphore(0), list[str]()
    with observe.metrics() as found:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(semaphore.acquire)
            await trio.sleep(7)
            thread = Thread(target=lambda: told.append(found.to_prometheus()))
            thread.start()
            thread.join()
            nursery.cancel_scope.cancel()
    assert 'structsync_oldest_wait_seconds{kind="Semaphore",name=""} 7.0' in told[0]


async def test_what_ends_by_a_close_is_broken() -> None:
    semaphore = structsync.Semaphore(0)
    semaphore.request()
    with observe.metrics() as found:
        semaphore.request()
        semaphore.close()
    assert (only(found).broken, only(found).waiting) == (2, 0)


async def test_primitives_of_one_name_are_counted_together_and_without_names_by_class() -> None:
    with observe.metrics() as found:
        for name in ("a", "a", "b", None, None):
            structsync.Lock(name=name).acquire_nowait()
        structsync.Semaphore(1).acquire_nowait()
    counted = {(one.kind, one.name): one.granted for one in found.primitives()}
    assert counted == {
        ("Lock", "a"): 2,
        ("Lock", "b"): 1,
        ("Lock", None): 2,
        ("Semaphore", None): 1,
    }


async def test_too_many_names_are_counted_as_others() -> None:
    with observe.metrics(most=3) as found:
        for number in range(10):
            async with structsync.Lock(name=f"lock {number}"):
                pass
    assert len(found.primitives()) == 4
    (others,) = [one for one in found.primitives() if one.kind == metrics.OTHERS]
    assert (others.name, others.granted, others.released) == (None, 7, 7)
    assert others.holds.count == 7


@pytest.mark.parametrize(("most", "error"), [(0, ValueError), (True, TypeError), ("9", TypeError)])
def test_how_many_are_told_apart_must_be_a_positive_int(most: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"^most must be"):
        observe.metrics(most=most)


async def test_partly_released_permits_are_timed_each(autojump_clock: MockClock) -> None:
    semaphore = structsync.Semaphore(5)
    with observe.metrics() as found:
        await semaphore.acquire(3)
        await trio.sleep(1)
        await semaphore.acquire(2)
        semaphore.release(1)
        await trio.sleep(1)
        semaphore.release(3)
        semaphore.release(9)
    assert only(found).holds.count == 4
    assert only(found).holds.total == 0 + 1 + 2 + 2


async def test_a_permit_that_another_task_gives_back_is_counted_and_not_timed() -> None:
    semaphore = structsync.Semaphore(0)
    with observe.metrics() as found:
        semaphore.release()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(semaphore.acquire)
        semaphore.release()
    one = only(found)
    assert (one.granted, one.released, one.holds.count) == (1, 2, 0)


async def test_what_a_signal_leaves_behind_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "MOST_TIMED", 5)
    monkeypatch.setattr(holds, "MOST_HOLDERS", 5)
    semaphore = structsync.Semaphore(1_000)
    with observe.metrics() as found:
        for _ in range(holds.MOST_OF_ONE + 9):
            semaphore.acquire_nowait()
        (taken,) = found._holds.of(semaphore).values()
        assert len(taken) == holds.MOST_OF_ONE
        async with trio.open_nursery() as nursery:
            for _ in range(20):
                nursery.start_soon(semaphore.acquire)
        requests = [semaphore.request(1_000) for _ in range(20)]
        held = found._holds.of(semaphore)
        assert len(held) == 5
        assert only(found).waiting == 20
        assert [len(row.waiting) for row in found._rows.values()] == [5]
        for one in requests:
            one.withdraw()
    assert only(found).withdrawn == 20


async def test_those_who_are_not_timed_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "MOST_TIMED", 2)
    lock = structsync.Lock()
    with observe.metrics() as found:
        async with trio.open_nursery() as nursery:
            async with lock:
                for _ in range(5):
                    nursery.start_soon(hold, lock, 0)
                await wait_all_tasks_blocked()
                assert only(found).waiting == lock.statistics().tasks_waiting == 5
        one = only(found)
        assert (one.waiting, one.granted, one.waits.count) == (0, 6, 3)


def test_what_is_released_in_another_run_is_not_timed() -> None:
    limiter = structsync.CapacityLimiter(1)

    async def take() -> None:
        await limiter.acquire_on_behalf_of("a job")

    async def release() -> None:
        limiter.release_on_behalf_of("a job")

    with observe.metrics() as found:
        trio.run(take)
        trio.run(release)
        one = only(found)
        assert (one.granted, one.released, one.holds.count) == (1, 1, 0)


async def test_an_empty_name_is_none() -> None:
    with observe.metrics() as found:
        for lock in (structsync.Lock(name=""), structsync.Lock()):
            async with lock:
                pass
            row = found.row(lock)
            assert row is not None
            assert row.name is None
        assert only(found).granted == 2


async def test_what_a_primitive_leaves_is_forgotten_with_it() -> None:
    with observe.metrics() as found:
        lock = structsync.Lock()
        lock.acquire_nowait()
        assert len(found._holds._taken._kept) == 1
        lock.release()
        del lock
        gc.collect()
        assert len(found._holds._taken._kept) == 0


def test_outside_of_a_run_is_counted_and_not_timed() -> None:
    semaphore = structsync.Semaphore(2)
    with observe.metrics() as found:
        semaphore.acquire_nowait()
        semaphore.release()
    one = only(found)
    assert (one.granted, one.released, one.waits.count, one.holds.count) == (1, 1, 0, 0)


def test_what_is_given_back_after_the_run_is_not_timed() -> None:
    limiter = structsync.CapacityLimiter(1)
    with observe.metrics() as found:
        trio.run(limiter.acquire_on_behalf_of, "a borrower")
        limiter.release_on_behalf_of("a borrower")
    assert (only(found).released, only(found).holds.count) == (1, 0)


async def test_a_grant_whose_request_was_not_seen_is_counted_and_not_timed() -> None:
    semaphore = structsync.Semaphore(0)
    semaphore.request()
    with observe.metrics() as found:
        semaphore.release()
    assert (only(found).granted, only(found).waits.count) == (1, 0)


def test_the_wait_of_no_task_has_no_name() -> None:
    row = metrics._Row()
    row.waited(1, None)
    assert row.longest_waiter is None


def test_the_runs_of_other_threads_are_not_counted() -> None:
    semaphore = structsync.Semaphore(2)
    with observe.metrics() as found:
        thread = Thread(target=semaphore.acquire_nowait)
        thread.start()
        thread.join()
    assert found.primitives() == ()


async def test_every_kind_of_claim_is_timed_from_its_grant_to_its_release(
    autojump_clock: MockClock,
) -> None:
    rwlock, limiter = structsync.RWLock(), structsync.CapacityLimiter(2)
    with observe.metrics() as found:
        async with rwlock.reading(), limiter:
            await limiter.acquire_on_behalf_of("a borrower")
            await trio.sleep(3)
            limiter.release_on_behalf_of("a borrower")
        async with structsync.open_pool(1) as pool:
            await pool.submit(trio.sleep, 2)
            await pool.submit(trio.sleep, 2)
    rows = {one.kind: one for one in found.primitives()}
    assert rows["RWLock"].holds.total == 3
    assert (rows["CapacityLimiter"].holds.count, rows["CapacityLimiter"].holds.total) == (2, 6)
    assert (rows["TaskPool"].holds.total, rows["TaskPool"].waits.total) == (4, 2)
    assert rows["TaskPool"].waiting == 0


async def test_what_is_never_given_back_is_not_held() -> None:
    latch = structsync.Latch(0)
    with observe.metrics() as found:
        await latch.wait()
        assert found._holds.of(latch) == {}
    assert only(found).granted == 1


async def test_metrics_stay_when_their_block_has_ended() -> None:
    with observe.metrics() as found:
        assert metrics.open_metrics == [found]
        structsync.Lock().acquire_nowait()
    structsync.Lock().acquire_nowait()
    assert only(found).granted == 1
    assert metrics.open_metrics == []


async def test_how_long_somebody_has_waited_stays_when_the_block_has_ended(
    autojump_clock: MockClock,
) -> None:
    semaphore = structsync.Semaphore(0)
    async with trio.open_nursery() as nursery:
        with observe.metrics() as found:
            structsync.Lock().acquire_nowait()
            nursery.start_soon(semaphore.acquire)
            await trio.sleep(2)
        await trio.sleep(5)
        one = next(each for each in found.primitives() if each.kind == "Semaphore")
        assert (one.waiting, one.oldest_wait) == (1, 2.0)
        nursery.cancel_scope.cancel()


async def test_a_wait_ends_under_the_name_that_it_has_begun_under(
    autojump_clock: MockClock,
) -> None:
    semaphore = structsync.Semaphore(0, name="old")
    with observe.metrics() as found:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(semaphore.acquire)
            await trio.sleep(2)
            semaphore.name = "new"
            semaphore.release()
    old, new = found.primitives()
    assert (old.name, old.waiting, old.oldest_wait) == ("old", 0, None)
    assert (old.requested, old.granted, old.waits.total) == (1, 1, 2.0)
    assert (new.name, new.released, new.granted, new.waits.count) == ("new", 1, 0, 0)


@pytest.mark.parametrize("most", [1, 1_000])
async def test_a_notified_wait_ends_for_its_condition_and_is_granted_the_lock_besides(
    autojump_clock: MockClock, most: int
) -> None:
    condition = structsync.Condition()

    async def wait() -> None:
        async with condition:
            await condition.wait()

    with observe.metrics(most=most) as found:
        structsync.Latch(0).close()  # which has the row of its own where there is one only
        async with trio.open_nursery() as nursery:
            nursery.start_soon(wait)
            await trio.sleep(2)
            async with condition:
                condition.notify()
                assert sum(one.waiting for one in found.primitives()) == 1
                await trio.sleep(1)
    rows = {one.kind: (one.requested, one.granted, one.waiting) for one in found.primitives()}
    expected = {"Condition": (1, 1, 0), "Lock": (2, 3, 0)} if most > 1 else {"others": (3, 4, 0)}
    assert {"Latch": (0, 0, 0), **expected} == rows
    assert sum(one.waits.total for one in found.primitives()) == 3


# ==== the histogram ====


def test_each_duration_is_in_the_bucket_whose_bounds_enclose_it() -> None:
    draw = random.Random(1).uniform
    for seconds in [*(2 ** draw(-25, 25) for _ in range(2_000)), *(2.0**n for n in range(-25, 25))]:
        bucket = bucket_of(seconds)
        assert seconds <= upper_of(bucket)
        if bucket:
            assert seconds > upper_of(bucket - 1)
        if 1 < bucket < LAST:
            assert upper_of(bucket) <= seconds * (1 + 1 / histogram.PARTS) * (1 + 1e-12)


def test_nothing_and_a_clock_that_went_back_are_in_the_first_bucket() -> None:
    assert bucket_of(0) == bucket_of(-5) == 0
    assert upper_of(0) == 0
    assert upper_of(bucket_of(1e-9)) == 2.0**histogram.LOWEST
    assert upper_of(bucket_of(1e30)) == math.inf


def test_a_quantile_is_at_most_an_eighth_too_long() -> None:
    durations = Durations()
    for number in range(1, 101):
        durations.add(number / 100)
    found = durations.shown()
    for share in (0.01, 0.5, 0.9, 1):
        assert share <= found.quantile(share) <= share * 1.125
    assert found.quantile(1) == found.longest == 1
    assert found.at_most(0.25) == 25


def test_those_who_have_not_waited_are_told_apart_from_those_who_have_hardly() -> None:
    durations = Durations()
    for seconds in (0.0, 0.0, 0.0, 1e-7, 0.5):
        durations.add(seconds)
    found = durations.shown()
    assert (found.at_most(0), found.quantile(0.5)) == (3, 0)
    assert found.quantile(0.8) == 2.0**histogram.LOWEST


def test_a_share_that_is_reached_exactly_is_reached() -> None:
    durations = Durations()
    for number in range(100):
        durations.add(0.001 if number < 7 else 1.0)
    assert durations.shown().quantile(0.07) < 0.002  # 0.07 * 100 is more than 7


def test_a_share_is_between_nothing_and_all() -> None:
    assert Durations().shown().quantile(0.5) == 0
    with pytest.raises(ValueError, match=r"^share must be between 0 and 1, not 2$"):
        Durations().shown().quantile(2)


def test_a_histogram_has_a_bounded_number_of_counters() -> None:
    durations = Durations()
    durations.add(0)
    for power in range(-60, 60):
        for part in range(100):
            durations.add(2.0**power * (1 + part / 100))
    assert len(durations.shown().buckets) == LAST + 1 == 323


# ==== Prometheus ====


async def test_prometheus_reads_what_is_exported(autojump_clock: MockClock) -> None:
    parser = pytest.importorskip("prometheus_client.parser")
    name = 'a "name" with \\n and\na new line'
    lock = structsync.Lock(name=name)
    with observe.metrics() as found:
        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(hold, lock, 1)
            await trio.sleep(1.5)
            text = found.to_prometheus()
        idle = found.to_prometheus()
    assert "oldest_wait_seconds{" not in idle, "no task waits"
    families = {one.name: one for one in parser.text_string_to_metric_families(text)}
    assert {one.type for one in families.values()} == {"counter", "gauge", "histogram"}
    assert all(
        sample.labels["name"] == name and sample.labels["kind"] == "Lock"
        for one in families.values()
        for sample in one.samples
    )
    values = {
        (s.name, s.labels.get("le"), s.labels.get("how")): s.value
        for one in families.values()
        for s in one.samples
    }
    assert values["structsync_requests_total", None, None] == 3
    assert values["structsync_requests_ended_total", None, "granted"] == 2
    assert values["structsync_oldest_wait_seconds", None, None] == 1.5
    assert values["structsync_wait_seconds_bucket", "0.25", None] == 1
    assert values["structsync_wait_seconds_bucket", "1.0", None] == 2, "a bound is included"
    assert values["structsync_wait_seconds_bucket", "+Inf", None] == 2
    assert values["structsync_wait_seconds_sum", None, None] == 1


def test_the_exported_bounds_are_bounds_of_the_counters() -> None:
    for bound in BOUNDS:
        assert upper_of(bucket_of(bound)) == bound
