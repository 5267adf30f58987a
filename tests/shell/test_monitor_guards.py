"""The oldest call whose guard holds is next; a guard is asked once for all whom it concerns."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import pytest
import trio
import trio.testing
from trio.lowlevel import checkpoint

from structsync import Invocation, Monitor, Semaphore, entry

settle = trio.testing.wait_all_tasks_blocked


class Buffer(Monitor):
    """A bounded buffer, by guards."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self.room = room
        self.items: list[str] = []

    @entry(when=lambda self: len(self.items) < self.room)
    async def put(self, item: str) -> None:
        await checkpoint()
        self.items.append(item)

    @entry(when=lambda self: self.items)
    def get(self) -> str:
        return self.items.pop(0)


class Pool(Monitor):
    """Gives out numbers of units; looks at how many are asked for."""

    def __init__(self, units: int) -> None:
        super().__init__()
        self.units = units
        self.taken: list[int] = []

    @entry(when=lambda self, request: request.args[0] <= self.units)
    def take(self, units: int) -> None:
        self.units -= units
        self.taken.append(units)

    @entry
    def give(self, units: int) -> None:
        self.units += units


class Asked:
    """A guard that counts how often it is asked."""

    def __init__(self, answer: bool) -> None:
        self.answer = answer
        self.times = 0

    def __call__(self) -> bool:
        self.times += 1
        return self.answer


async def start(nursery: trio.Nursery, function: Callable[..., Any], *args: object) -> None:
    nursery.start_soon(function, *args)
    await settle()


async def test_a_call_waits_until_its_guard_holds() -> None:
    buffer, got = Buffer(1), list[str]()

    async def consumer() -> None:
        got.append(await buffer.get())

    async with trio.open_nursery() as nursery:
        await start(nursery, consumer)
        assert buffer.statistics().tasks_waiting == 1
        await buffer.put("a")
    assert got == ["a"]


async def test_a_buffer_by_guards_keeps_the_order_and_its_bound() -> None:
    buffer, got = Buffer(2), list[str]()

    async def producer() -> None:
        for item in "abcdefgh":
            await buffer.put(item)
            assert len(buffer.items) <= 2

    async with trio.open_nursery() as nursery:
        nursery.start_soon(producer)
        for _ in range(8):
            got.append(await buffer.get())
    assert got == [*"abcdefgh"]


async def test_a_guard_may_look_at_the_request() -> None:
    pool, seen = Pool(0), list[Invocation]()

    def look(request: Invocation) -> bool:
        seen.append(request)
        return True

    async def body(a: int, *, b: int) -> None: ...

    async with trio.open_nursery() as nursery:
        await start(nursery, pool.take, 1)
        await pool.entry(body, when=look)(1, b=2)
        pool.units = 1
        pool.changed()
    (request,) = seen
    assert (request.args, dict(request.kwargs)) == ((1,), {"b": 2})
    assert request.task is trio.lowlevel.current_task()
    assert request.ticket == 1
    assert repr(request).startswith("<call body(1, b=2) of <Task")


async def test_the_oldest_permitted_is_next_and_those_not_permitted_are_passed_over() -> None:
    pool = Pool(0)
    async with trio.open_nursery() as nursery:
        for units in (3, 2, 1, 2):
            await start(nursery, pool.take, units)
        await pool.give(2)
        await settle()
        assert pool.taken == [2]
        await pool.give(3)
        await settle()
        assert pool.taken == [2, 3]
        await pool.give(3)
    assert pool.taken == [2, 3, 1, 2]


async def test_the_oldest_is_found_among_the_calls_of_all_entries() -> None:
    monitor, order, shut = Monitor(), list[str](), Asked(False)

    async def body(who: str) -> None:
        order.append(who)
        await checkpoint()

    some, all_ = monitor.entry(body, when=lambda request: shut.answer), monitor.entry(body, shut)
    async with trio.open_nursery() as nursery:
        for which, who in ((some, "a"), (all_, "b"), (some, "c"), (all_, "d")):
            await start(nursery, which, who)
        shut.answer = True
        monitor.changed()
    assert order == [*"abcd"]


async def test_a_guard_on_the_state_is_asked_once_per_change_not_once_per_waiter() -> None:
    monitor, guard = Monitor(), Asked(False)
    entered = monitor.entry(lambda: None, guard)
    async with trio.open_nursery() as nursery:
        for _ in range(100):
            nursery.start_soon(entered)
        await settle()
        assert guard.times == 1
        monitor.changed()
        assert guard.times == 2
        await monitor.entry(lambda: None)()
        assert guard.times == 3
        guard.answer = True
        monitor.changed()


async def test_a_guard_is_not_asked_while_a_task_is_inside() -> None:
    monitor, guard, leave = Monitor(), Asked(True), trio.Event()
    async with trio.open_nursery() as nursery:
        await start(nursery, monitor.entry(leave.wait))
        await start(nursery, monitor.entry(lambda: None, guard))
        monitor.changed()
        assert guard.times == 0
        leave.set()
    assert guard.times == 1


# ==== set, replaced, removed ====


async def test_guards_are_set_replaced_and_removed_while_calls_wait() -> None:
    buffer = Buffer(0)
    async with trio.open_nursery() as nursery:
        for item in "ab":
            await start(nursery, buffer.put, item)
        buffer.constrain(buffer.put, lambda request: request.args == ("b",))
        await settle()
        assert buffer.items == ["b"]
        buffer.unconstrain(buffer.put)
    assert buffer.items == ["b", "a"]
    with trio.move_on_after(0) as scope:
        buffer.constrain(buffer.put, lambda: False)
        await buffer.put("c")
    assert scope.cancelled_caught
    buffer.unconstrain(buffer.put)


def test_an_entry_of_another_monitor_cannot_be_constrained_here() -> None:
    with pytest.raises(ValueError, match="is not an entry of"):
        Buffer(1).constrain(Buffer(1).put, lambda: True)


def test_what_is_no_entry_cannot_be_constrained() -> None:
    with pytest.raises(TypeError, match="must be an entry of this monitor"):
        Buffer(1).unconstrain(Buffer.put)  # type: ignore[arg-type]  # the point of the test


# ==== guards that fail or misbehave ====


async def test_a_guard_that_raises_fails_a_newcomer_at_once() -> None:
    pool = Pool(1)
    with pytest.raises(TypeError):
        await pool.take("many")  # type: ignore[arg-type]  # the guard compares it with a number
    await pool.take(1)


async def test_a_cancelled_caller_is_cancelled_though_the_guard_raises() -> None:
    with trio.CancelScope() as scope:
        scope.cancel()
        await Pool(1).take("many")  # type: ignore[arg-type]  # the guard compares it with a number
    assert scope.cancelled_caught


async def test_a_guard_that_raises_fails_the_caller_it_was_asked_about_and_no_other() -> None:
    pool, told = Pool(0), list[str]()
    error = LookupError("broken")

    def guard(request: Invocation) -> bool:
        if request.args == (2,) and pool.units:
            raise error
        return bool(request.args[0] <= pool.units)

    pool.constrain(pool.take, guard)

    async def take(units: int) -> None:
        try:
            await pool.take(units)
        except LookupError as caught:
            told.append(f"{units} failed: {caught is error}")

    async with trio.open_nursery() as nursery:
        for units in (2, 1, 2, 1):
            await start(nursery, take, units)
        await pool.give(2)
    assert told == ["2 failed: True", "2 failed: True"]
    assert pool.taken == [1, 1]


async def test_a_guard_on_the_state_that_raises_fails_all_whom_it_was_asked_about() -> None:
    monitor, broken = Monitor(), list[int]()
    guarded = monitor.entry(lambda: None, lambda: bool(broken and 1 // 0))

    async def call() -> None:
        with pytest.raises(ZeroDivisionError):
            await guarded()

    async with trio.open_nursery() as nursery:
        for _ in range(3):
            await start(nursery, call)
        broken.append(1)
        monitor.changed()
    assert monitor.statistics().tasks_waiting == 0


async def test_a_guard_that_changes_a_primitive_is_refused() -> None:
    monitor, semaphore = Monitor(), Semaphore(1)
    forbidden: Any
    for forbidden in (semaphore.acquire_nowait, monitor.changed, monitor.close):
        with pytest.raises(RuntimeError, match="must not change"):
            await monitor.entry(lambda: None, forbidden)()
    assert semaphore.value == 1


async def test_a_guard_that_enters_is_refused() -> None:
    monitor = Monitor()
    other = monitor.entry(lambda: None)

    def enter() -> Any:
        other().send(None)

    with pytest.raises(RuntimeError, match="must not change"):
        await monitor.entry(lambda: None, enter)()


async def test_a_guard_that_cancels_a_task_that_waits_does_no_harm() -> None:
    monitor, order = Monitor(), list[str]()
    scope, shut = trio.CancelScope(), Asked(False)

    async def waiter() -> None:
        with scope:
            await monitor.entry(lambda: order.append("a"), shut)()

    def cancels() -> bool:
        scope.cancel()
        return True

    async with trio.open_nursery() as nursery:
        await start(nursery, waiter)
        await monitor.entry(lambda: order.append("b"), cancels)()
    assert order == ["b"]
    assert monitor.statistics().tasks_waiting == 0


async def test_a_guard_that_returns_a_coroutine_is_refused() -> None:
    async def verdict() -> bool:
        return True

    def verdict_of() -> Any:
        return verdict()

    with pytest.raises(TypeError, match="a guard must be a sync function"):
        await Monitor().entry(answer, verdict_of)()


async def async_guard() -> bool:
    return True


def answer() -> int:
    return 3


async def async_generator() -> Any:
    yield


def generator() -> Any:
    yield


@pytest.mark.parametrize(
    ("guard", "match"),
    [
        (async_guard, "guard must be a sync function"),
        (async_generator, "guard must be a sync function"),
        (generator, "guard must be a sync function"),
        (3, "guard must be callable"),
        (lambda a, b: True, r"guard must take \(\) or \(request\), not \(a, b\)"),
        (lambda *, key: True, r"not \(\*, key\)"),
        (type, "guard has no signature to read.*lambda"),
    ],
)
def test_a_guard_is_refused_at_registration(guard: Any, match: str) -> None:
    monitor = Monitor()
    with pytest.raises(TypeError, match=match):
        monitor.entry(answer, guard)
    with pytest.raises(TypeError, match=match):
        monitor.constrain(monitor.entry(answer), guard)


def test_the_guard_of_a_method_takes_self_first() -> None:
    with pytest.raises(TypeError, match=r"guard must take \(self\) or \(self, request\), not \(\)"):
        entry(when=lambda: True)(lambda self: None)


async def test_what_has_a_default_is_not_taken_for_the_request() -> None:
    monitor = Monitor()
    assert await monitor.entry(answer, when=lambda limit=3: limit == 3)() == 3


class Ready:
    def __call__(self, gate: Any) -> bool:
        return len(gate) > 0


@pytest.mark.parametrize("guard", [Ready(), functools.partial(operator.lt, 0), len])
async def test_the_guard_of_a_method_may_be_any_callable(guard: Any) -> None:
    class Gate(Monitor):
        def __len__(self) -> int:
            return 1

        def __gt__(self, other: int) -> bool:
            return True

        @entry(when=guard)
        def go(self) -> str:
            return "through"

    assert await Gate().go() == "through"
