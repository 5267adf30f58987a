"""What must hold of every primitive, without a word of the test about it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import trio
import trio.testing
from trio.lowlevel import checkpoint

import structsync
from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.queue.arbiter import Arbiter
from structsync._core.queue.policy import Fifo, PolicyName
from structsync._runtime.live import everywhere
from structsync.checking.invariants import nothing_grantable_waits
from structsync.testing import ExploredRun, Verdict, explore
from structsync.testing._execution import determinism, watched_queues

from .conftest import failure_of, two_checkpoints

THEIRS_AND_OURS = ["trio's", "ours"]

# ==== what is not given back ====


def keeps(make: Callable[[], Any], take: Callable[[Any], object]) -> Callable[[], Any]:
    async def program() -> None:
        primitive = make()

        async def worker() -> None:
            await checkpoint()

        take(primitive)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(worker)
            nursery.start_soon(worker)

    return program


LEAKS: dict[str, tuple[Callable[[], Any], Callable[[Any], object], str]] = {
    "trio.Lock": (
        trio.Lock,
        lambda one: one.acquire_nowait(),
        "Lock is still locked at the end, by main",
    ),
    "trio.StrictFIFOLock": (
        trio.StrictFIFOLock,
        lambda one: one.acquire_nowait(),
        "StrictFIFOLock is still locked at the end, by main",
    ),
    "structsync.Lock": (
        structsync.Lock,
        lambda one: one.acquire_nowait(),
        "Lock is still locked at the end, by main",
    ),
    "structsync.Lock with a name": (
        lambda: structsync.Lock(name="door"),
        lambda one: one.acquire_nowait(),
        "door is still locked at the end, by main",
    ),
    "structsync.RWLock, read": (
        structsync.RWLock,
        lambda one: one.acquire_read_nowait(),
        "RWLock is still read by main at the end",
    ),
    "structsync.RWLock, written": (
        structsync.RWLock,
        lambda one: one.acquire_write_nowait(),
        "RWLock is still written by main at the end",
    ),
    "trio.Semaphore": (
        lambda: trio.Semaphore(3, max_value=3),
        lambda one: one.acquire_nowait(),
        "Semaphore has the value 2 at the end, not 3",
    ),
    "structsync.Semaphore": (
        lambda: structsync.Semaphore(3, max_value=3),
        lambda one: one.acquire_nowait(2),
        "Semaphore has the value 1 at the end, not 3",
    ),
    "trio.CapacityLimiter": (
        lambda: trio.CapacityLimiter(2),
        lambda one: one.acquire_on_behalf_of_nowait("a borrower"),
        "CapacityLimiter has 1 tokens still lent at the end, to a borrower",
    ),
    "structsync.CapacityLimiter": (
        lambda: structsync.CapacityLimiter(2),
        lambda one: one.acquire_on_behalf_of_nowait("a borrower"),
        "CapacityLimiter has 1 tokens still lent at the end, to a borrower",
    ),
}


@pytest.mark.parametrize("name", LEAKS)
def test_what_is_still_out_at_the_end_is_a_leak(name: str) -> None:
    make, take, text = LEAKS[name]
    failure = failure_of(keeps(make, take))
    assert (failure.kind, failure.message) == ("leak", text)
    assert failure.replayed == "same"


@pytest.mark.parametrize("name", LEAKS)
def test_what_was_never_taken_is_no_leak(name: str) -> None:
    make, _, _ = LEAKS[name]
    assert explore(keeps(make, lambda one: None), cancels=0).failure is None


@pytest.mark.parametrize("kind", [trio.Semaphore, structsync.Semaphore], ids=THEIRS_AND_OURS)
def test_a_semaphore_without_a_bound_may_end_as_it_likes(kind: type[trio.Semaphore]) -> None:
    program = keeps(lambda: kind(1), lambda one: one.release())
    assert explore(program, cancels=0).failure is None


@pytest.mark.parametrize("kind", [trio.Semaphore, structsync.Semaphore], ids=THEIRS_AND_OURS)
@pytest.mark.parametrize("watched", [False, True])
def test_a_bounded_semaphore_that_begins_below_its_bound_is_a_signal_and_no_leak(
    kind: type[trio.Semaphore], watched: bool
) -> None:
    async def program(x: ExploredRun) -> None:
        ready = kind(0, max_value=1)
        if watched:
            x.watch(ready=ready)

        async def works() -> None:
            await checkpoint()
            ready.release()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(works)
            nursery.start_soon(checkpoint)
            await ready.acquire()

    assert explore(program, cancels=0).failure is None


@pytest.mark.parametrize("kind", [trio.Semaphore, structsync.Semaphore], ids=THEIRS_AND_OURS)
def test_a_watched_semaphore_must_return_to_its_value(kind: type[trio.Semaphore]) -> None:
    async def program(x: ExploredRun) -> None:
        semaphore = kind(2)
        x.watch(slots=semaphore)
        semaphore.acquire_nowait()
        await two_checkpoints()

    failure = failure_of(program)
    assert (failure.kind, failure.message) == ("leak", "slots has the value 1 at the end, not 2")


def test_the_owner_of_what_leaks_is_named_as_in_the_schedule() -> None:
    async def program() -> None:
        limiter = trio.CapacityLimiter(2)

        async def borrows() -> None:
            await limiter.acquire()
            await parked.wait()

        parked = trio.Event()
        trio.lowlevel.spawn_system_task(borrows, name="borrows")
        trio.lowlevel.spawn_system_task(borrows, name="borrows")
        await trio.testing.wait_all_tasks_blocked()

    failure = failure_of(program)
    assert failure.kind == "leak"
    assert "system/borrows#0" in failure.message
    assert "system/borrows#1" in failure.message


@pytest.mark.parametrize("kind", [structsync.Lock, structsync.Semaphore, structsync.RWLock])
def test_what_was_closed_need_not_be_possible_to_acquire(kind: Callable[..., Any]) -> None:
    program = keeps(lambda: kind(*[1][: kind is structsync.Semaphore]), lambda one: one.close())
    assert explore(program, cancels=0).failure is None


# ==== what is free and cannot be had ====


@pytest.mark.parametrize(
    ("make", "owner"),
    [
        (structsync.Lock, structsync.Lock),
        (lambda: structsync.Semaphore(2), structsync.Semaphore),
        (trio.Lock, trio.Lock),
        (lambda: trio.Semaphore(1), trio.Semaphore),
    ],
    ids=["our lock", "our semaphore", "trio's lock", "trio's semaphore"],
)
def test_what_is_free_but_refuses_every_task_is_a_leak(
    make: Callable[[], Any], owner: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(self: object, *args: object) -> None:
        raise trio.WouldBlock

    monkeypatch.setattr(owner, "acquire_nowait", refuses)
    failure = failure_of(keeps(make, lambda one: None))
    assert failure.kind == "leak"
    assert failure.message.endswith("is free at the end but cannot be acquired again")


@pytest.mark.parametrize(
    "kind", [trio.CapacityLimiter, structsync.CapacityLimiter], ids=THEIRS_AND_OURS
)
def test_a_limiter_that_refuses_every_task_is_a_leak(
    kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(self: object, borrower: object) -> None:
        raise trio.WouldBlock

    monkeypatch.setattr(kind, "acquire_on_behalf_of_nowait", refuses)
    failure = failure_of(keeps(lambda: kind(1), lambda one: None))
    assert failure.message == "CapacityLimiter is free at the end but cannot be acquired again"


def test_a_read_write_lock_that_refuses_every_task_is_a_leak(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuses(self: object) -> None:
        raise trio.WouldBlock

    monkeypatch.setattr(structsync.RWLock, "acquire_write_nowait", refuses)
    failure = failure_of(keeps(structsync.RWLock, lambda one: None))
    assert failure.message == "RWLock is free at the end but cannot be acquired again"


# ==== planted faults in our own primitives ====


def three_and_one_permit_by(policy: PolicyName) -> Callable[[], Awaitable[None]]:
    async def three_and_one_permit() -> None:
        semaphore = structsync.Semaphore(1, max_value=1, policy=policy)

        async def worker() -> None:
            async with semaphore:
                await checkpoint()

        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(worker)

    return three_and_one_permit


three_and_one_permit = three_and_one_permit_by("fifo")


@pytest.mark.slow
def test_our_own_primitives_have_no_fault() -> None:
    assert explore(three_and_one_permit, cancels=1, cancel="tasks").failure is None


@pytest.mark.parametrize("policy", ["fifo", "eligible", "priority"])
def test_a_lost_wakeup_is_seen_in_the_step_that_loses_it(
    policy: PolicyName, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fault: what was released is granted to no request, whatever kind of queue they are in."""
    monkeypatch.setattr(Arbiter, "settle", lambda self: [])

    failure = failure_of(three_and_one_permit_by(policy))
    assert failure.kind == "violation"
    assert failure.message == "Semaphore: a task waits for what could be granted (lost wakeup)"


OVERTAKEN = "Semaphore: a grant has passed a request that was ahead of it in the queue"


class Door(structsync.Monitor):
    """A guard that returns False first, and raises from a moment on at which nothing is evaluated."""

    is_open: bool | None = False

    @structsync.entry(when=lambda self: self.is_open + 0)
    async def enter(self) -> None:
        raise AssertionError


class Counted(Arbiter[int]):
    """A core of a user that does the same."""

    room: int | None = 0

    def admits(self, claim: int) -> bool:
        return claim <= self.room  # type: ignore[operator]

    def admit(self, claim: int) -> None:
        raise AssertionError

    def discharge(self, claim: int) -> None:
        raise AssertionError


def test_a_guard_that_begins_to_raise_while_a_call_waits_is_no_lost_wakeup() -> None:
    async def program() -> None:
        door = Door()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(door.enter)
            await trio.testing.wait_all_tasks_blocked()
            door.is_open = None
            await checkpoint()
            nursery.cancel_scope.cancel()

    assert explore(program).verdict is Verdict.CONFIRMED


def test_an_own_core_that_begins_to_raise_is_no_lost_wakeup() -> None:
    core = Counted()
    core.submit(1)
    core.room = None
    assert nothing_grantable_waits(core)


def test_an_error_of_our_own_code_is_not_taken_for_that(monkeypatch: pytest.MonkeyPatch) -> None:
    core = SemaphoreCore(0)
    core.submit(1)
    monkeypatch.setattr(SemaphoreCore, "admits", lambda *_: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        nothing_grantable_waits(core)


def test_overtaking_in_the_line_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fault: who came last is served first."""
    backwards = staticmethod(lambda queue: reversed([*queue]))
    monkeypatch.setattr(Fifo, "candidates", backwards)
    monkeypatch.setattr(Fifo, "own_candidates", True)  # patched afterwards, it is not read off
    failure = failure_of(three_and_one_permit)
    assert (failure.kind, failure.message) == ("violation", OVERTAKEN)
    assert failure.replayed == "same"


async def one_large_and_one_small() -> None:
    semaphore = structsync.Semaphore(2, max_value=2)

    async def worker(count: int) -> None:
        await semaphore.acquire(count)
        await checkpoint()
        semaphore.release(count)

    async with trio.open_nursery() as nursery:
        for count in (1, 2, 1):
            nursery.start_soon(worker, count)


def test_barging_past_the_line_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fault: a newcomer takes what is left, although a task waits for more."""
    assert explore(one_large_and_one_small, cancels=0).failure is None
    monkeypatch.setattr(Fifo, "may_pass", lambda self, queue, ticket, priority: True)
    monkeypatch.setattr(Fifo, "may_be_passed", True)
    failure = failure_of(one_large_and_one_small)
    assert (failure.kind, failure.message) == ("violation", OVERTAKEN)


def test_an_observer_of_the_program_takes_no_grant_away_from_the_explorer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The same fault where events are made for others, too, who get all of them."""
    kinds: list[str] = []

    async def observed() -> None:
        kinds.clear()
        with structsync.observe(lambda event: kinds.append(event.kind)):
            await one_large_and_one_small()

    assert explore(observed, cancels=0).failure is None
    assert [kinds.count(one) for one in ("requested", "granted", "released")] == [3, 3, 3]
    monkeypatch.setattr(Fifo, "may_pass", lambda self, queue, ticket, priority: True)
    monkeypatch.setattr(Fifo, "may_be_passed", True)
    assert failure_of(observed).message == OVERTAKEN


def test_who_does_not_promise_an_order_may_be_overtaken() -> None:
    async def program() -> None:
        semaphore = structsync.Semaphore(2, max_value=2, policy="eligible")

        async def worker(count: int) -> None:
            await semaphore.acquire(count)
            await checkpoint()
            semaphore.release(count)

        async with trio.open_nursery() as nursery:
            for count in (1, 2, 1):
                nursery.start_soon(worker, count)

    assert explore(program, cancels=0).failure is None


@pytest.mark.slow
def test_a_notified_waiter_of_a_condition_is_not_overtaken() -> None:
    """It leaves the line of the condition when it is notified, and gets the lock later."""

    async def program() -> None:
        condition = structsync.Condition()
        waiting = 0

        async def waits() -> None:
            nonlocal waiting
            async with condition:
                waiting += 1
                await condition.wait()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(waits)
            nursery.start_soon(waits)
            for _ in range(2):
                while not waiting:
                    await checkpoint()
                async with condition:
                    condition.notify()
                    waiting -= 1

    assert explore(program, cancels=0).failure is None


async def a_writer_becomes_a_reader() -> None:
    lock = structsync.RWLock()

    async def write_and_read() -> None:
        async with lock.writing():
            await checkpoint()
            lock.downgrade()
            await checkpoint()

    async def read() -> None:
        async with lock.reading():
            await checkpoint()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(write_and_read)
        nursery.start_soon(write_and_read)
        nursery.start_soon(read)


@pytest.mark.slow
def test_a_writer_that_becomes_a_reader_passes_no_task() -> None:
    assert explore(a_writer_becomes_a_reader, exhaustive=True).failure is None


def test_a_reader_that_passes_a_writer_in_line_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fault: a newcomer reads beside who reads, although a task waits to write."""
    monkeypatch.setattr(Fifo, "may_pass", lambda self, queue, ticket, priority: True)
    monkeypatch.setattr(Fifo, "may_be_passed", True)
    failure = failure_of(a_writer_becomes_a_reader, cancels=0)
    assert (failure.kind, failure.message) == (
        "violation",
        OVERTAKEN.replace("Semaphore", "RWLock"),
    )


def test_a_grant_between_two_executions_is_of_neither() -> None:
    with determinism.controlled():
        semaphore = structsync.Semaphore(1)
        semaphore.acquire_nowait()
        assert explore(two_checkpoints).failure is None
    assert semaphore.value == 0


def test_a_primitive_that_comes_and_goes_is_forgotten() -> None:
    """A loop that makes an event in each round comes back to its state."""

    async def program() -> None:
        async def rounds() -> None:
            for _ in range(3):
                event = trio.Event()
                event.set()
                await event.wait()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(rounds)
            nursery.start_soon(rounds)

    found = explore(program, search="states", cancels=0)
    assert found.verdict is Verdict.CONFIRMED
    assert found.states < 40


def test_events_are_heard_only_while_a_task_waits() -> None:
    """Each takes longer than a step, and where no task waits no task is passed."""
    heard: list[bool] = []

    async def program() -> None:
        lock = structsync.Lock()

        async def worker() -> None:
            async with lock:
                heard.append(watched_queues.hear in everywhere)
                await trio.lowlevel.checkpoint()
                heard.append(watched_queues.hear in everywhere)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(worker)
            nursery.start_soon(worker)

    assert explore(program, cancels=0, executions=1, search="plain").failure is None
    assert heard[:4] == [True, True, False, False]
    assert watched_queues.hear not in everywhere
