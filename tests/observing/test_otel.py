"""structsync.otel: waits and holds as metrics and spans, as the SDK's own exporters see them."""

from __future__ import annotations

import logging
import subprocess
import sys
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

import structsync
import structsync.otel
from structsync import otel

pytest.importorskip("opentelemetry.sdk", reason="opentelemetry-sdk is not installed")

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter


class Exported:
    """Providers that keep what they get."""

    def __init__(self) -> None:
        self.reader = InMemoryMetricReader()
        self.meters = MeterProvider([self.reader])
        self._spans = InMemorySpanExporter()
        self.tracers = TracerProvider()
        self.tracers.add_span_processor(SimpleSpanProcessor(self._spans))

    def points(self) -> dict[tuple[str, str | None], Any]:
        """The data points by the name of the metric and the outcome, if they have one."""
        data = self.reader.get_metrics_data()
        assert data is not None
        return {
            (metric.name, dict(point.attributes or {}).get("structsync.outcome")): point  # type: ignore[misc]
            for resource in data.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
            for point in metric.data.data_points
        }

    def spans(self) -> Any:
        return self._spans.get_finished_spans()

    def on(self, **options: Any) -> Any:
        return otel.export(meter_provider=self.meters, tracer_provider=self.tracers, **options)


async def hold(lock: Any, seconds: float) -> None:
    async with lock:
        await trio.sleep(seconds)


async def test_a_wait_ends_under_the_name_that_it_has_begun_under() -> None:
    exported, semaphore = Exported(), structsync.Semaphore(0, name="old")
    with exported.on():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(semaphore.acquire)
            await wait_all_tasks_blocked()
            semaphore.name = "new"
            semaphore.release()
    assert exported.points()["structsync.waiting", None].value == 0


async def test_the_wait_of_who_is_notified_is_one_for_the_condition(
    autojump_clock: MockClock,
) -> None:
    exported, condition = Exported(), structsync.Condition(name="news")

    async def wait() -> None:
        async with condition:
            await condition.wait()

    with exported.on():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(wait)
            await trio.sleep(2)
            async with condition:
                condition.notify()
    names = [span.name for span in exported.spans()]
    assert [name for name in names if name.startswith("waits")] == ["waits for Condition 'news'"]
    assert exported.points()["structsync.waiting", None].value == 0


async def test_waits_and_holds_are_metrics_by_kind_and_name(autojump_clock: MockClock) -> None:
    exported, lock = Exported(), structsync.Lock(name="ledger")
    with exported.on():
        async with trio.open_nursery() as nursery:
            for name in ("first", "second"):
                nursery.start_soon(hold, lock, 2, name=name)
                await wait_all_tasks_blocked()
            assert exported.points()["structsync.waiting", None].value == 1
            with trio.move_on_after(1):
                await lock.acquire()
    points = exported.points()
    assert points["structsync.requests", "granted"].value == 2
    assert points["structsync.requests", "withdrawn"].value == 1
    assert points["structsync.waiting", None].value == 0
    waits, holds = (points[f"structsync.{one}.duration", None] for one in ("wait", "hold"))
    assert (waits.count, waits.sum, holds.count, holds.sum) == (1, 2, 2, 4)
    assert dict(holds.attributes) == {"structsync.kind": "Lock", "structsync.name": "ledger"}


async def test_a_wait_is_a_span_inside_of_that_in_which_the_task_asked(
    autojump_clock: MockClock,
) -> None:
    exported, lock = Exported(), structsync.Lock()

    async def asks() -> None:
        with exported.tracers.get_tracer("mine").start_as_current_span("order 7"):
            await hold(lock, 0)

    with exported.on():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(hold, lock, 3, name="first")
            await wait_all_tasks_blocked()
            nursery.start_soon(asks, name="second")
    spans = {one.name.partition(" at ")[0]: one for one in exported.spans()}
    assert set(spans) == {"holds Lock", "waits for Lock", "order 7"}, "too short ones are no spans"
    wait = spans["waits for Lock"]
    assert wait.parent.span_id == spans["order 7"].context.span_id
    assert wait.end_time - wait.start_time == pytest.approx(3e9, abs=1e3)
    assert dict(wait.attributes) == {
        "structsync.kind": "Lock",
        "structsync.outcome": "granted",
        "structsync.task": "second",
    }
    assert spans["holds Lock"].end_time == wait.end_time


async def test_all_are_spans_on_request_and_many_requests_are_not_remembered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(otel, "MOST_CONTEXTS", 1)
    exported = Exported()
    limiter, semaphore = structsync.CapacityLimiter(1), structsync.Semaphore(0)
    with exported.on(spans_at_least=0):
        await limiter.acquire_on_behalf_of("a borrower")
        limiter.release_on_behalf_of("a borrower")
        one, two = semaphore.request(), semaphore.request()
        two.withdraw()
        one.withdraw()
    assert len(exported.spans()) == 3
    assert exported.points()["structsync.waiting", None].value == 0


def test_each_run_has_a_clock_of_its_own() -> None:
    exported = Exported()
    with exported.on(spans_at_least=1):
        for start in (5, 1_000_000):
            clock = MockClock(autojump_threshold=0)
            clock.jump(start)
            trio.run(hold, structsync.Lock(), 2, clock=clock)
    first, second = exported.spans()
    assert abs(first.start_time - second.start_time) < 60e9


async def test_an_exporter_that_fails_is_no_error_of_the_program(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Broken:
        def __getattr__(self, name: str) -> Any:
            return lambda *_, **__: self

        def add(self, *_: Any) -> None:
            raise OSError("no network")

    exported = otel._Export(Broken(), Broken(), 0)
    with caplog.at_level(logging.CRITICAL, "structsync"), structsync.observe(exported.note):
        await hold(structsync.Lock(), 0)


@pytest.mark.parametrize(
    ("seconds", "error"), [("1", TypeError), (True, TypeError), (-1, ValueError)]
)
def test_the_least_duration_of_a_span_is_a_number_of_seconds(
    seconds: Any, error: type[Exception]
) -> None:
    with pytest.raises(error, match=r"^spans_at_least must be"):
        otel.export(spans_at_least=seconds).__enter__()


def test_without_opentelemetry_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.metrics", None)
    with pytest.raises(ImportError, match=r"pip install 'structsync\[otel\]'$"):
        otel.export().__enter__()


def test_importing_it_does_not_import_opentelemetry() -> None:
    program = "import sys, structsync.otel; print([*filter(lambda n: 'telem' in n, sys.modules)])"
    ran = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert ran.stdout == "[]\n"
