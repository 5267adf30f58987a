"""The event stream: each step once, told to observers, which cannot do harm (I6)."""

import json
import logging
from collections.abc import Callable
from typing import Any

import pytest
import trio
import trio.testing

from structsync import (
    Barrier,
    CapacityLimiter,
    Condition,
    Latch,
    Lock,
    Monitor,
    Parker,
    PrimitiveEvent,
    RWLock,
    Semaphore,
    Value,
    WaitQueue,
    acquire_all,
    acquire_any,
    entry,
    observe,
    open_pool,
)

from ..logged import no_error_only_logged  # noqa: TID252 - of the whole suite

settle = trio.testing.wait_all_tasks_blocked


class Story:
    """An observer that keeps the kinds of the events of one primitive."""

    def __init__(self, primitive: object) -> None:
        self.primitive = primitive
        self.events: list[PrimitiveEvent] = []

    def __call__(self, event: PrimitiveEvent) -> None:
        if event.primitive is self.primitive:
            self.events.append(event)

    @property
    def kinds(self) -> list[str]:
        return [event.kind for event in self.events]


async def test_an_acquire_that_fits_is_requested_and_granted() -> None:
    semaphore = Semaphore(1)
    with observe(story := Story(semaphore)):
        await semaphore.acquire()
    assert story.kinds == ["requested", "granted"]


async def test_an_acquire_without_waiting_is_requested_and_granted() -> None:
    semaphore = Semaphore(1)
    with observe(story := Story(semaphore)):
        semaphore.acquire_nowait()
    assert story.kinds == ["requested", "granted"]


async def test_an_acquire_that_would_block_is_no_event() -> None:
    semaphore = Semaphore(0)
    with observe(story := Story(semaphore)), pytest.raises(trio.WouldBlock):
        semaphore.acquire_nowait()
    assert story.kinds == []


async def test_an_acquire_in_a_cancelled_scope_ends_as_withdrawn_or_is_no_event() -> None:
    semaphore = Semaphore(0)
    with observe(story := Story(semaphore)), trio.move_on_after(0):
        await semaphore.acquire()
    assert story.kinds in ([], ["requested", "withdrawn"])


async def test_a_release_that_lets_a_task_in_is_told_before_the_grant() -> None:
    semaphore = Semaphore(0)
    with observe(story := Story(semaphore)):
        request = semaphore.request(2)
        semaphore.release(2)
    assert story.kinds == ["requested", "released", "granted"]
    assert request.status == "granted"


async def test_a_withdrawal_is_told_before_the_grants_that_it_makes_room_for() -> None:
    semaphore = Semaphore(1)
    with observe(story := Story(semaphore)):
        head = semaphore.request(2)
        semaphore.request(1)
        head.withdraw()
    assert story.kinds == ["requested", "requested", "withdrawn", "granted"]


async def test_a_cancelled_wait_is_told_as_withdrawn() -> None:
    semaphore = Semaphore(0)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(semaphore.acquire)
        await settle()
        with observe(story := Story(semaphore)):
            nursery.cancel_scope.cancel()
    assert story.kinds == ["withdrawn"]


async def test_closing_tells_each_broken_request_and_then_the_closing_once() -> None:
    semaphore = Semaphore(0)
    semaphore.request()
    with observe(story := Story(semaphore)):
        semaphore.close()
        semaphore.close()
    assert story.kinds == ["broken", "closed"]


async def test_an_event_names_claim_and_task() -> None:
    semaphore = Semaphore(3)
    with observe(story := Story(semaphore)):
        await semaphore.acquire(2)
    assert {(e.claim, e.task) for e in story.events} == {(2, trio.lowlevel.current_task())}


def test_outside_a_run_an_event_names_no_task() -> None:
    semaphore = Semaphore(1)
    with observe(story := Story(semaphore)):
        semaphore.acquire_nowait()
        semaphore.release()
        semaphore.close()
    assert [event.task for event in story.events] == [None] * 4


async def test_each_acquire_of_a_mixed_story_ends_exactly_once() -> None:
    lock = Lock()
    with observe(story := Story(lock)):
        async with trio.open_nursery() as nursery:
            for _ in range(5):
                nursery.start_soon(hold_a_moment, lock)
            await trio.lowlevel.checkpoint()
    kinds = story.kinds
    assert kinds.count("requested") == kinds.count("granted") + kinds.count("withdrawn") == 5
    assert kinds.count("released") == kinds.count("granted")


async def test_a_wait_on_a_condition_releases_and_takes_its_lock() -> None:
    lock = Lock()
    condition = Condition(lock)
    with observe(story := Story(lock)):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(wait_once, condition)
            await settle()
            async with condition:
                condition.notify()
    assert story.kinds.count("granted") == story.kinds.count("released") == 3


@pytest.mark.parametrize("end", ["granted", "withdrawn"])
async def test_how_a_wait_on_a_condition_ended_is_told_of_the_condition(end: str) -> None:
    condition = Condition()
    with observe(story := Story(condition)):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(wait_once, condition)
            await settle()
            if end == "withdrawn":
                nursery.cancel_scope.cancel()
            else:
                async with condition:
                    condition.notify()
    assert [kind for kind in story.kinds if kind != "changed"] == ["requested", end]


@pytest.mark.parametrize("make", [Parker, WaitQueue])
async def test_a_wake_grants(make: Callable[[], Any]) -> None:
    primitive = make()
    with observe(story := Story(primitive)):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(primitive.block if make is Parker else primitive.wait)
            await settle()
            primitive.unblock() if make is Parker else primitive.wake()
    assert [k for k in story.kinds if k in ("requested", "granted")] == ["requested", "granted"]


async def test_an_observer_sees_nothing_after_its_block() -> None:
    semaphore = Semaphore(2)
    with observe(story := Story(semaphore)):
        pass
    await semaphore.acquire()
    assert story.events == []


async def test_every_observer_is_told() -> None:
    semaphore = Semaphore(1)
    with observe(first := Story(semaphore)), observe(second := Story(semaphore)):
        semaphore.acquire_nowait()
    assert first.events == second.events != []


async def test_an_event_is_told_after_the_step_is_complete() -> None:
    semaphore, values = Semaphore(1), []
    with observe(lambda event: values.append(semaphore.value)):
        semaphore.acquire_nowait()
        semaphore.release()
    assert values == [0, 0, 1]


async def test_the_error_of_an_observer_is_logged_and_the_step_holds(
    caplog: pytest.LogCaptureFixture,
) -> None:
    semaphore = Semaphore(1)
    with caplog.at_level(logging.ERROR, "structsync"), observe(lambda event: 1 // 0):
        await semaphore.acquire()
    assert semaphore.value == 0
    (record,) = caplog.records
    assert "failed and was removed" in record.getMessage()
    assert record.exc_info is not None
    assert record.exc_info[0] is ZeroDivisionError


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, GeneratorExit])
async def test_no_error_of_an_observer_makes_an_acquire_half_done(
    error: type[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    semaphore = Semaphore(1)

    def fail(event: PrimitiveEvent) -> None:
        raise error

    with observe(fail):
        async with semaphore:
            pass
    assert semaphore.value == 1


async def test_an_observer_that_failed_is_removed_and_the_others_are_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    semaphore, calls = Semaphore(1), []

    def fail(event: PrimitiveEvent) -> None:
        calls.append(event.kind)
        raise KeyError

    with observe(fail), observe(story := Story(semaphore)):
        semaphore.acquire_nowait()
    assert calls == ["requested"]
    assert story.kinds == ["requested", "granted"]


CHANGES: dict[str, Callable[[Semaphore], object]] = {
    "acquire": Semaphore.acquire_nowait,
    "request": Semaphore.request,
    "resize": lambda semaphore: semaphore.resize(9),
    "close": Semaphore.close,
}


STEPS: dict[str, Callable[[Semaphore], object]] = {
    "granted": Semaphore.acquire_nowait,
    "released": Semaphore.release,
    "changed": lambda semaphore: semaphore.resize(8),
    "closed": Semaphore.close,
}


@pytest.mark.parametrize("kind", STEPS)
def test_an_observer_is_refused_whatever_it_is_told_of(
    kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    watched, other = Semaphore(1, max_value=4), Semaphore(1)

    def acquire(event: PrimitiveEvent) -> None:
        if event.kind == kind:
            other.acquire_nowait()

    with observe(acquire):
        STEPS[kind](watched)
    (record,) = caplog.records
    assert "observer must not change" in str(record.exc_info and record.exc_info[1])
    assert other.value == 1


async def test_what_an_observer_releases_when_it_hears_of_a_closing_is_released_right_after() -> (
    None
):
    watched, other, values = Semaphore(1), Semaphore(0), list[int]()

    def release(event: PrimitiveEvent) -> None:
        if event.kind == "closed":
            other.release()
            values.append(other.value)

    with observe(release):
        watched.close()
    assert (values, other.value) == ([0], 1)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
async def test_an_observer_that_changes_a_primitive_is_refused(
    change: Callable[[Semaphore], object], caplog: pytest.LogCaptureFixture
) -> None:
    watched, other = Semaphore(1), Semaphore(1, max_value=2)
    with observe(lambda event: change(other)):
        watched.acquire_nowait()
    (record,) = caplog.records
    assert record.exc_info is not None
    assert "observer must not change" in str(record.exc_info[1])
    assert other.statistics() == Semaphore(1, max_value=2).statistics()


async def asynchronous(event: PrimitiveEvent) -> None:
    pass


@pytest.mark.parametrize("observer", [asynchronous, None], ids=["async", "None"])
def test_an_observer_that_is_no_sync_function_is_a_type_error(observer: Any) -> None:
    with pytest.raises(TypeError, match=r"observer must be (callable|a sync function)"):
        observe(observer).__enter__()


async def test_what_an_observer_releases_is_released_right_after_the_step() -> None:
    watched, other, values = Semaphore(1), Semaphore(0), list[int]()

    def release(event: PrimitiveEvent) -> None:
        if event.primitive is watched and event.kind == "granted":
            other.release()
            values.append(other.value)

    with observe(release):
        watched.acquire_nowait()
    assert (values, other.value) == ([0], 1)


async def test_a_scope_cancelled_by_an_observer_ends_its_waiter_right_after_the_step() -> None:
    semaphore, scope, seen = Semaphore(0), trio.CancelScope(), list[int]()

    async def wait() -> None:
        with scope:
            await semaphore.acquire(2)

    def cancel(event: PrimitiveEvent) -> None:
        scope.cancel()
        seen.append(semaphore.statistics().tasks_waiting)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        await settle()
        with observe(cancel):
            semaphore.release()
        assert semaphore.statistics().tasks_waiting == 0
    assert seen[0] == 1
    assert scope.cancelled_caught
    assert semaphore.value == 1


async def test_a_grant_of_the_step_whose_observer_cancels_still_wins() -> None:
    semaphore, scope, got = Semaphore(0), trio.CancelScope(), []

    async def wait() -> None:
        with scope:
            await semaphore.acquire()
            got.append("granted")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        await settle()
        with observe(lambda event: scope.cancel()):
            semaphore.release()
    assert got == ["granted"]
    assert (semaphore.value, scope.cancelled_caught) == (0, False)


async def hold_a_moment(lock: Lock) -> None:
    with trio.CancelScope() as scope:
        async with lock:
            await trio.lowlevel.checkpoint()
            scope.cancel()


async def wait_once(condition: Condition) -> None:
    async with condition:
        await condition.wait()


async def test_an_observer_that_drives_a_coroutine_by_hand_is_refused() -> None:
    semaphore, refused = Semaphore(2), []

    def drive(event: PrimitiveEvent) -> None:
        coroutine = semaphore.acquire()
        try:
            coroutine.send(None)
        except RuntimeError as error:
            refused.append(str(error))
        finally:
            coroutine.close()

    with observe(drive):
        semaphore.acquire_nowait()
    assert len(refused) == 2
    assert "must not change" in refused[0]
    assert semaphore.value == 1


async def test_an_observer_that_left_and_then_fails_is_not_removed_twice(
    caplog: pytest.LogCaptureFixture,
) -> None:
    semaphore = Semaphore(1)

    def leave_and_fail(event: PrimitiveEvent) -> None:
        observing.__exit__(None, None, None)
        raise KeyError

    observing = observe(leave_and_fail)
    observing.__enter__()
    semaphore.acquire_nowait()
    assert semaphore.value == 0


# ==== what an event carries ====


async def test_the_events_of_one_request_name_it_and_those_of_another_do_not() -> None:
    semaphore = Semaphore(1)
    with observe(story := Story(semaphore)):
        semaphore.acquire_nowait()
        first, second = semaphore.request(), semaphore.request()
        second.withdraw()
        semaphore.release()
    assert first.status == "granted"
    told = [(event.kind, event.request) for event in story.events]
    assert [kind for kind, _ in told] == [
        *("requested", "granted", "requested", "requested", "withdrawn", "released", "granted")
    ]
    (_, a), (_, b), (_, c), (_, d), (_, e), (_, none), (_, f) = told
    assert a is b
    assert (c is f, d is e, none) == (True, True, None)
    assert len({id(one) for one in (a, c, d)}) == 3


@pytest.mark.parametrize("acquire", [acquire_all, acquire_any])
@pytest.mark.parametrize("free", [0, 1])
async def test_a_group_has_one_request_at_each_primitive(acquire: Any, free: int) -> None:
    semaphores = Semaphore(free), Semaphore(free)
    with observe(first := Story(semaphores[0])), observe(second := Story(semaphores[1])):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(hold_once, acquire(*[one.claim() for one in semaphores]))
            await settle()
            for one in semaphores:
                one.release()
    for story in (first, second):
        requests = {id(event.request) for event in story.events if event.kind != "released"}
        assert len(requests) <= 1
    assert len(first.events) > 1


async def hold_once(block: Any) -> None:
    async with block:
        pass


async def test_a_wait_is_one_request_at_its_condition_and_its_lock() -> None:
    lock = Lock()
    condition = Condition(lock)
    with observe(at_condition := Story(condition)), observe(at_lock := Story(lock)):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(wait_once, condition)
            await settle()
            async with condition:
                condition.notify()
    asked, notified, ended = at_condition.events
    assert (asked.kind, notified.kind, ended.kind) == ("requested", "changed", "granted")
    assert asked.request is ended.request
    granted = [event.request for event in at_lock.events if event.kind == "granted"]
    assert granted[-1] is asked.request


async def test_an_event_has_the_time_of_trios_clock(autojump_clock: trio.testing.MockClock) -> None:
    semaphore = Semaphore(1)
    started = trio.current_time()
    with observe(story := Story(semaphore)):
        semaphore.acquire_nowait()
        await trio.sleep(5)
        semaphore.release()
    assert [event.time for event in story.events] == [started, started, started + 5]


def test_outside_a_run_an_event_has_no_time() -> None:
    semaphore = Semaphore(1)
    with observe(story := Story(semaphore)):
        semaphore.release()
        semaphore.close()
    assert [event.time for event in story.events] == [None, None]
    assert story.events[-1].details == {"task": None}


class Shelf(Monitor):
    @entry
    def put(self, item: str) -> None: ...


async def use_a_semaphore(p: Semaphore) -> None:
    await p.acquire(2)


async def read(p: RWLock) -> None:
    async with p.reading():
        pass


async def use(p: Any) -> None:
    async with p:
        pass


DETAILS: list[tuple[Callable[[], Any], Callable[[Any], Any], dict[str, object]]] = [
    (lambda: Semaphore(2), use_a_semaphore, {"n": 2}),
    (Lock, use, {"owner": "ann"}),
    (lambda: CapacityLimiter(1), use, {"borrower": "ann"}),
    (
        lambda: CapacityLimiter(1),
        lambda p: p.acquire_on_behalf_of("bob"),
        {"borrower": "'bob'"},
    ),
    (RWLock, read, {"mode": "read", "owner": "ann"}),
    (Shelf, lambda p: p.put("book"), {"entry": "put", "owner": "ann"}),
    (lambda: Barrier(1), lambda p: p.wait(), {}),
    (lambda: Latch(0), lambda p: p.wait(), {"claim": 0}),
    (lambda: Value(1), lambda p: p.wait_for(is_set), {"predicate": "is_set"}),
]


def is_set(value: object) -> bool:
    return True


@pytest.mark.parametrize(("make", "call", "expected"), DETAILS)
async def test_the_details_of_an_event_are_plain_values(
    make: Callable[[], Any], call: Callable[[Any], Any], expected: dict[str, object]
) -> None:
    primitive = make()
    with observe(story := Story(primitive)):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(call, primitive, name="ann")
    assert story.events[0].details == {"task": "ann", **expected}
    json.dumps(story.events[0].details)


async def test_the_details_of_a_job_are_plain_values() -> None:
    async with open_pool(1) as pool:
        with observe(story := Story(pool)):
            await pool.run(trio.sleep, 0)
    assert story.kinds == ["requested", "granted", "released"]
    assert [event.details["job"] for event in story.events] == ["sleep"] * 3
    json.dumps([event.details for event in story.events])


CHANGED: list[tuple[Callable[[], Any], Callable[[Any], object], dict[str, object]]] = [
    (lambda: Semaphore(1, max_value=1), lambda p: p.resize(5), {"resize": 5}),
    (
        lambda: CapacityLimiter(1),
        lambda p: setattr(p, "total_tokens", 5),
        {"total_tokens": 5},
    ),
    (
        lambda: Value(1),
        lambda p: setattr(p, "value", (2, ["a", None])),
        {"assign": (2, ["a", None])},
    ),
    (lambda: Value(1), lambda p: setattr(p, "value", {"a": 2}), {"assign": {"a": 2}}),
    (lambda: Value(1), lambda p: setattr(p, "value", {"a": {3}}), {"assign": "{'a': {3}}"}),
    (lambda: Value(1), lambda p: setattr(p, "value", ({3},)), {"assign": "({3},)"}),
    (WaitQueue, lambda p: p.wake(2), {"wake": 2}),
    (WaitQueue, lambda p: p.wake_all(), {"wake": None}),
    (lambda: Barrier(2), lambda p: p.abort(), {"abort": None}),
    (lambda: Barrier(2), lambda p: p.reset(), {"reset": None}),
]


@pytest.mark.parametrize(("make", "change", "expected"), CHANGED)
async def test_a_call_that_changes_what_is_granted_is_told_with_its_value(
    make: Callable[[], Any], change: Callable[[Any], object], expected: dict[str, object]
) -> None:
    primitive = make()
    with observe(story := Story(primitive)):
        change(primitive)
    (event,) = story.events
    assert (event.kind, event.request) == ("changed", None)
    assert event.details == {"task": trio.lowlevel.current_task().name, **expected}


async def test_a_resize_is_told_before_the_grants_that_it_makes_room_for() -> None:
    semaphore = Semaphore(0, max_value=0)
    semaphore.resize(1)
    with semaphore.request() as held, semaphore.request() as waiting:
        with observe(story := Story(semaphore)):
            semaphore.resize(2)
        assert (held.status, waiting.status) == ("granted", "granted")
    assert story.kinds == ["changed", "granted"]


async def test_a_wait_inside_a_monitor_is_told_with_its_notification() -> None:
    monitor = Monitor()
    condition = monitor.condition()
    with observe(story := Story(condition)):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(monitor.entry(condition.wait), name="ann")
            await settle()
            await monitor.entry(condition.notify_all)()
    assert [(event.kind, event.details) for event in story.events] == [
        ("requested", {"task": "ann", "entry": "wait", "owner": "ann"}),
        ("changed", {"task": trio.lowlevel.current_task().name, "notify": None}),
        ("granted", {"task": "ann", "entry": "wait", "owner": "ann"}),
    ]


class Stack(Monitor):
    """A monitor that is false while it is empty."""

    def __init__(self) -> None:
        super().__init__()
        self.filled = self.condition()

    def __len__(self) -> int:
        return 0

    @entry
    async def pop(self) -> None:
        await self.filled.wait()


async def test_whom_the_end_of_a_condition_lets_in_is_told_of_its_monitor_though_that_is_false() -> (
    None
):
    stack = Stack()
    with pytest.RaisesGroup(trio.ClosedResourceError):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(stack.pop)
            await settle()
            with observe(story := Story(stack)):
                stack.filled.close()
    assert story.kinds == ["granted"]


async def test_the_details_of_a_wait_on_a_condition_name_who_is_to_own_the_lock() -> None:
    condition = Condition()
    async with trio.open_nursery() as nursery:
        with observe(story := Story(condition)):
            nursery.start_soon(wait_once, condition, name="ann")
            await settle()
        nursery.cancel_scope.cancel()
    assert [event.details for event in story.events] == [{"task": "ann", "owner": "ann"}]


def test_an_observer_that_fails_fails_its_test(caplog: pytest.LogCaptureFixture) -> None:
    def fails(event: PrimitiveEvent) -> None:
        raise ValueError("planted")

    with pytest.raises(AssertionError, match="observer"), no_error_only_logged(), observe(fails):
        Semaphore(1).acquire_nowait()
    with no_error_only_logged():
        Semaphore(1).acquire_nowait()


async def test_what_an_observer_releases_while_a_wait_is_cancelled_is_released_right_after() -> (
    None
):
    waited_for, other = Semaphore(0), Semaphore(0)
    values: list[int] = []

    def release_other(event: PrimitiveEvent) -> None:
        if event.kind == "withdrawn":
            other.release()
            values.append(other.value)

    with observe(release_other), trio.CancelScope() as scope:
        scope.cancel()
        await waited_for.acquire()
    assert values == [0]  # not in the middle of the withdrawal
    assert other.value == 1


def test_every_test_fails_for_what_is_only_logged(request: pytest.FixtureRequest) -> None:
    assert "no_error_is_only_logged" in request.fixturenames
