"""log_events(): each leak and each break is one record, with its facts as plain values."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

import structsync
from structsync import log_events, observe, trace_waits
from structsync._runtime import reports
from structsync.observing import logs

#: Not ours, where the suite takes an error for an accident.
LOGGER = logging.getLogger("of the tests")


class Records(logging.Handler):
    """What was logged: the facts."""

    def __init__(self) -> None:
        super().__init__()
        self.facts: list[dict[str, Any]] = []
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.facts.append(record.__dict__["structsync"])
        self.texts.append(record.getMessage())


@pytest.fixture
def records() -> Iterator[Records]:
    handler = Records()
    LOGGER.addHandler(handler)
    yield handler
    LOGGER.removeHandler(handler)


class Said(logging.Filter):
    """What was said to our own logger, where the suite takes an error for an accident: so it is let out."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def filter(self, record: logging.LogRecord) -> bool:
        self.texts.append(record.getMessage())
        return False


async def leave_with(lock: structsync.Lock, waiters: int = 0) -> None:
    await lock.acquire()
    while lock.statistics().tasks_waiting < waiters:
        await trio.lowlevel.checkpoint()


async def fail_to_get(lock: structsync.Lock) -> None:
    with pytest.raises(trio.BrokenResourceError):
        await lock.acquire()


async def test_an_owner_that_has_ended_is_one_record_though_several_wait(records: Records) -> None:
    lock = structsync.Lock(name="ledger")
    with log_events(LOGGER):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(leave_with, lock, 3, name="gone")
            while not lock.locked():
                await trio.lowlevel.checkpoint()
            for _ in range(3):
                nursery.start_soon(fail_to_get, lock)
    (facts,) = records.facts
    assert facts["event"] == "broken"
    assert (facts["kind"], facts["name"]) == ("Lock", "ledger")
    assert "exited without releasing" in facts["reason"]
    assert "gone" in facts["reason"]
    assert isinstance(facts["time"], float)
    assert json.loads(json.dumps(facts)) == facts, "plain values"
    assert records.texts[0].startswith("Lock 'ledger': Owner of this lock")


async def test_an_owner_that_has_ended_is_a_record_though_no_task_waits(records: Records) -> None:
    lock = structsync.Lock()
    with log_events(LOGGER):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(leave_with, lock)
    assert [one["event"] for one in records.facts] == ["broken"]


async def test_a_round_that_is_broken_is_a_record_with_a_waiter(records: Records) -> None:
    barrier = structsync.Barrier(3, cancelled="breaks")

    async def wait() -> None:
        with pytest.raises(trio.BrokenResourceError):
            await barrier.wait()

    with log_events(LOGGER):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(wait, name="the other")
            await wait_all_tasks_blocked()
            with trio.CancelScope() as scope:
                nursery.start_soon(_cancel, scope)
                await barrier.wait()
    (facts,) = records.facts
    assert (facts["event"], facts["kind"], facts["waiter"]) == ("broken", "Barrier", "the other")


async def _cancel(scope: trio.CancelScope) -> None:
    await wait_all_tasks_blocked()
    scope.cancel()


async def test_a_leak_is_a_record(records: Records) -> None:
    with log_events(LOGGER), pytest.raises(structsync.PermitLeakError):
        async with structsync.open_scope() as scope:
            semaphore = scope.own(structsync.Semaphore(2, max_value=2, name="doors"))
            await semaphore.acquire()
    (facts,) = records.facts
    assert (facts["event"], facts["kind"], facts["name"]) == ("leak", "Semaphore", "doors")
    assert facts["reason"].startswith("1 not returned")


async def test_what_is_closed_on_purpose_is_no_record(records: Records) -> None:
    semaphore = structsync.Semaphore(0)
    semaphore.request()
    with log_events(LOGGER):
        semaphore.close()
    assert records.facts == []


async def test_each_round_that_breaks_is_a_record_though_it_is_for_the_same_reason(
    records: Records,
) -> None:
    barrier = structsync.Barrier(3)

    async def wait() -> None:
        with pytest.raises(trio.BrokenResourceError):
            await barrier.wait()

    with log_events(LOGGER):
        for _ in range(3):
            async with trio.open_nursery() as nursery:
                for _ in range(2):
                    nursery.start_soon(wait)
                await wait_all_tasks_blocked()
                barrier.abort()
            barrier.reset()
    assert len(records.facts) == 3
    assert len({one["reason"] for one in records.facts}) == 1


async def test_breaks_are_remembered_in_bounded_number(
    records: Records, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "MOST_BREAKS", 2)
    locks = [structsync.Lock(name=name) for name in "abc"]
    with log_events(LOGGER):
        for one in locks:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(leave_with, one)
        for one in (*locks[1:], locks[0]):
            reports.report("broken", one, "again")
    assert [one["name"] for one in records.facts] == ["a", "b", "c", "a"]


async def test_an_owner_that_has_ended_is_one_record_though_conditions_share_the_lock(
    records: Records,
) -> None:
    lock = structsync.Lock(name="ledger")
    conditions = [structsync.Condition(lock), structsync.Condition(lock)]

    async def wait(condition: structsync.Condition) -> None:
        await lock.acquire()
        with pytest.raises(trio.BrokenResourceError):
            await condition.wait()

    with log_events(LOGGER):
        async with trio.open_nursery() as nursery:
            for one in conditions:
                nursery.start_soon(wait, one)
            await wait_all_tasks_blocked()
            nursery.start_soon(leave_with, lock, name="gone")
    (facts,) = records.facts
    assert (facts["kind"], facts["name"]) == ("Lock", "ledger")


@pytest.mark.parametrize("queued", [0, 2])
async def test_a_pool_that_a_job_has_failed_in_is_a_record_though_no_job_waits(
    records: Records, queued: int
) -> None:
    async def fail() -> None:
        raise KeyError("of the job")

    with log_events(LOGGER), pytest.RaisesGroup(KeyError):
        async with structsync.open_pool(1, max_queued=9, name="kitchen") as pool:
            for _ in range(1 + queued):
                pool.submit_nowait(fail)
    (facts,) = records.facts
    assert (facts["kind"], facts["name"]) == ("TaskPool", "kitchen")
    assert facts["reason"] == "this TaskPool was cancelled, because a job of it failed"


async def test_a_pool_that_is_cancelled_and_a_buffer_that_is_complete_are_no_records(
    records: Records,
) -> None:
    buffer: structsync.Buffer[int] = structsync.Buffer(1)

    async def take_all() -> None:
        assert [item async for item in buffer] == []

    with log_events(LOGGER):
        async with structsync.open_pool(1) as pool, trio.open_nursery() as nursery:
            for _ in range(2):
                pool.submit_nowait(trio.sleep_forever)
            nursery.start_soon(take_all)
            await wait_all_tasks_blocked()
            pool.cancel_scope.cancel()
            buffer.complete()
    assert records.facts == []


async def test_a_logger_and_a_level_may_be_chosen(caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger("mine")
    lock = structsync.Lock()
    with caplog.at_level(logging.INFO), log_events(logger, level=logging.INFO):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(leave_with, lock)
    (record,) = caplog.records
    assert (record.name, record.levelname) == ("mine", "INFO")


async def test_the_logger_is_by_default_ours(caplog: pytest.LogCaptureFixture) -> None:
    lock = structsync.Lock()
    with caplog.at_level(logging.INFO), log_events(level=logging.INFO):
        reports.report("leak", lock, "1 not returned")
    assert [one.name for one in caplog.records] == ["structsync.events"]


@pytest.mark.parametrize("level", ["ERROR", True, None])
def test_a_level_is_an_int(level: Any) -> None:
    with pytest.raises(TypeError, match=r"^level must be an int, such as logging\.ERROR"):
        log_events(level=level)


def test_a_logger_is_one_that_logs() -> None:
    with pytest.raises(TypeError, match=r"^logger must be a logging\.Logger or None, not 'app'"):
        log_events("app")  # type: ignore[arg-type]  # the mistake


async def test_a_handler_that_raises_is_no_error_of_the_program_and_does_not_end_the_log() -> None:
    asked = []

    class Broken(logging.Logger):
        def log(self, level: int, msg: object, *args: Any, **kwargs: Any) -> None:
            asked.append(args)
            raise OSError("the disk is full")

    logger = logging.getLogger("structsync")
    logger.addFilter(said := Said())
    try:
        with log_events(Broken("broken")):
            for lock in (structsync.Lock(), structsync.Lock(), structsync.Lock()):
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(leave_with, lock)
    finally:
        logger.removeFilter(said)
    assert len(asked) == 3
    assert said.texts == ["a handler of log_events() failed; the other records are logged"]


async def test_a_listener_that_raises_is_removed() -> None:
    def fails(*_: object) -> None:
        raise ValueError

    reports.listeners.append(fails)
    logging.disable()
    try:
        reports.report("leak", structsync.Lock(), "x")
    finally:
        logging.disable(logging.NOTSET)
    assert reports.listeners == []


async def test_a_listener_that_removes_itself_and_raises_is_removed_once() -> None:
    def fails(*_: object) -> None:
        reports.listeners.remove(fails)
        raise ValueError

    reports.listeners.append(fails)
    logging.disable()
    try:
        reports.report("leak", structsync.Lock(), "x")
    finally:
        logging.disable(logging.NOTSET)
    assert reports.listeners == []


# ==== the line that acquired ====


async def test_a_leak_names_the_lines_that_acquired_where_waits_are_traced() -> None:
    with trace_waits(), pytest.raises(structsync.PermitLeakError) as raised:
        async with structsync.open_scope() as scope:
            semaphore = scope.own(structsync.Semaphore(5, max_value=5))
            await semaphore.acquire(2)
            semaphore.acquire_nowait()
            semaphore.release()
            semaphore.acquire_nowait()
    lines = [one for one in str(raised.value).split() if one.startswith("test_logs.py:")]
    assert len(lines) == 2, raised.value
    assert ", acquired at test_logs.py:" in str(raised.value)


async def test_a_leak_names_no_line_without_a_trace_or_for_what_was_not_seen() -> None:
    with pytest.raises(structsync.PermitLeakError) as raised:
        async with structsync.open_scope() as scope:
            limiter = scope.own(structsync.CapacityLimiter(2))
            await limiter.acquire_on_behalf_of("a borrower")
    assert "acquired at" not in str(raised.value)


async def test_a_borrower_that_is_no_task_has_a_line_too() -> None:
    with (
        trace_waits(),
        observe(lambda event: None),
        pytest.raises(structsync.PermitLeakError) as raised,
    ):
        async with structsync.open_scope() as scope:
            limiter = scope.own(structsync.CapacityLimiter(2))
            await limiter.acquire_on_behalf_of("a borrower")
    assert "'a borrower' took 1 too many, acquired at test_logs.py:" in str(raised.value)
