"""acquire_all holds everything or nothing, from one place in each queue."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
import trio
import trio.testing

from structsync import (
    Arbiter,
    CapacityLimiter,
    Claim,
    Condition,
    Lock,
    Primitive,
    PrimitiveEvent,
    RWLock,
    Semaphore,
    acquire_all,
    acquire_any,
    observe,
)

from ..core.test_cost import lines_run  # noqa: TID252 - how cost is counted has one home

settle = trio.testing.wait_all_tasks_blocked


class Tasks:
    """Starts tasks that hold blocks until they are told to leave, by name."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self.nursery = nursery
        self.holding: list[str] = []
        self.scopes: dict[str, trio.CancelScope] = {}
        self.errors: dict[str, BaseException] = {}
        self.told: dict[str, trio.Event] = {}

    async def start(self, name: str, block: Any) -> None:
        self.scopes[name], self.told[name] = trio.CancelScope(), trio.Event()
        self.nursery.start_soon(self._hold, name, block)
        await settle()

    async def leave(self, name: str) -> None:
        self.told[name].set()
        await settle()

    async def cancel(self, name: str) -> None:
        self.scopes[name].cancel()
        await settle()

    async def _hold(self, name: str, block: Any) -> None:
        with self.scopes[name]:
            try:
                async with block:
                    self.holding.append(name)
                    await self.told[name].wait()
            except (trio.ClosedResourceError, trio.BrokenResourceError) as error:
                self.errors[name] = error
            finally:
                if name in self.holding:
                    self.holding.remove(name)


def waiting(*primitives: Any) -> list[int]:
    return [each.statistics().tasks_waiting for each in primitives]


async def test_all_that_is_free_is_taken_and_given_back() -> None:
    lock, semaphore, limiter = Lock(), Semaphore(3, max_value=3), CapacityLimiter(1)
    with trio.testing.assert_checkpoints():
        async with acquire_all(lock.claim(), semaphore.claim(2), limiter.claim("me")):
            assert lock.statistics().owner is trio.lowlevel.current_task()
            assert semaphore.value == 1
            assert limiter.statistics().borrowers == ["me"]
    assert not lock.locked()
    assert semaphore.value == 3
    assert limiter.borrowed_tokens == 0


async def test_nothing_is_held_until_everything_is_granted() -> None:
    a, b = Lock(), Lock()
    async with trio.open_nursery() as nursery:
        tasks = Tasks(nursery)
        await tasks.start("holder of b", b)
        await tasks.start("both", acquire_all(a.claim(), b.claim()))
        assert not a.locked()
        assert waiting(a, b) == [1, 1]
        await tasks.leave("holder of b")
        assert tasks.holding == ["both"]
        assert waiting(a, b) == [0, 0]
        await tasks.leave("both")
    assert not a.locked()
    assert not b.locked()


async def test_a_waiting_group_holds_up_those_behind_it_where_it_is_free() -> None:
    a, b = Lock(), Lock()
    async with trio.open_nursery() as nursery:
        tasks = Tasks(nursery)
        await tasks.start("holder of b", b)
        await tasks.start("both", acquire_all(a.claim(), b.claim()))
        with pytest.raises(trio.WouldBlock):
            a.acquire_nowait()
        await tasks.start("newcomer at a", a)
        assert tasks.holding == ["holder of b"]
        await tasks.leave("holder of b")
        assert tasks.holding == ["both"]
        await tasks.leave("both")
        assert tasks.holding == ["newcomer at a"]
        await tasks.leave("newcomer at a")


async def test_cancelling_a_group_lets_in_those_behind_it_in_every_queue() -> None:
    a, b, c = Lock(), Lock(), Lock()
    async with trio.open_nursery() as nursery:
        tasks = Tasks(nursery)
        await tasks.start("holder of c", c)
        await tasks.start("all", acquire_all(a.claim(), b.claim(), c.claim()))
        await tasks.start("behind at a", a)
        await tasks.start("behind at b", b)
        await tasks.cancel("all")
        assert sorted(tasks.holding) == ["behind at a", "behind at b", "holder of c"]
        assert waiting(a, b, c) == [0, 0, 0]
        nursery.cancel_scope.cancel()


async def test_a_grant_lets_in_who_stood_behind_the_group_elsewhere() -> None:
    """A chain: what one group makes room for is the next group's last, and so on."""
    gates = [Semaphore(2, max_value=2) for _ in range(6)]
    key = Lock()
    async with trio.open_nursery() as nursery:
        tasks = Tasks(nursery)
        await tasks.start("holder of the key", key)
        queues: list[Any] = [key, *gates]
        for name, pair in enumerate(pairwise(queues)):
            await tasks.start(str(name), acquire_all(*[each.claim() for each in pair]))
        await tasks.start("last", gates[-1])
        assert tasks.holding == ["holder of the key"]
        await tasks.leave("holder of the key")
        assert sorted(tasks.holding) == [*"012345", "last"]
        nursery.cancel_scope.cancel()


@pytest.mark.unmeasured
async def test_a_chain_of_ten_thousand_groups_is_no_recursion() -> None:
    many = 10_000
    gates = [Semaphore(2, max_value=2) for _ in range(many)]
    holding = 0

    async def hold(first: Semaphore, second: Semaphore) -> None:
        nonlocal holding
        async with acquire_all(first.claim(), second.claim()):
            holding += 1

    gates[0].acquire_nowait(2)
    async with trio.open_nursery() as nursery:
        for first, second in pairwise(gates):
            nursery.start_soon(hold, first, second)
            await trio.lowlevel.checkpoint()
        await settle()
        # each stands behind the one before it, and the first waits for a permit
        gates[0].release(2)
    assert holding == many - 1


def queues_to_close(waiting: int) -> int:
    """Return how many queues it takes to close what so many groups wait for, and for nothing else."""

    async def main() -> int:
        semaphore = Semaphore(0)
        async with trio.open_nursery() as nursery:
            tasks = Tasks(nursery)
            for number in range(waiting):
                await tasks.start(str(number), acquire_all(semaphore.claim()))
            queues = lines_run(semaphore.close)
        assert len(tasks.errors) == waiting
        return queues

    return trio.run(main)


def test_each_of_many_groups_that_end_together_costs_the_same() -> None:
    assert queues_to_close(400) < 5 * queues_to_close(100)


async def test_claims_on_one_semaphore_are_summed() -> None:
    semaphore = Semaphore(3, max_value=3)
    async with acquire_all(semaphore.claim(), semaphore.claim(2)):
        assert semaphore.value == 0
    with pytest.raises(ValueError, match="cannot acquire 4 permits"):
        async with acquire_all(semaphore.claim(2), semaphore.claim(2)):
            raise AssertionError
    assert semaphore.value == 3


async def test_a_lock_twice_is_refused_and_nothing_is_taken() -> None:
    lock, semaphore = Lock(), Semaphore(1)
    with pytest.raises(RuntimeError, match=r"once only.*one of the 2 on <Lock"):
        async with acquire_all(semaphore.claim(), lock.claim(), lock.claim()):
            raise AssertionError
    assert (semaphore.value, lock.locked()) == (1, False)


@pytest.mark.parametrize("acquire", [acquire_all, acquire_any])
async def test_a_lock_that_is_held_already_is_refused_and_nothing_is_taken(acquire: Any) -> None:
    lock, semaphore = Lock(), Semaphore(1)
    async with lock:
        with pytest.raises(RuntimeError, match="already held Lock"):
            async with acquire(semaphore.claim(), lock.claim()):
                raise AssertionError
    assert (semaphore.value, lock.locked()) == (1, False)
    assert waiting(lock, semaphore) == [0, 0]


async def test_a_borrower_that_holds_a_token_is_refused() -> None:
    limiter = CapacityLimiter(3)
    async with limiter:
        with pytest.raises(RuntimeError, match="already holding"):
            async with acquire_all(limiter.claim(trio.lowlevel.current_task())):
                raise AssertionError


def test_no_claims_are_refused() -> None:
    with pytest.raises(ValueError, match="acquire_all needs at least one claim"):
        acquire_all()
    with pytest.raises(ValueError, match="acquire_any needs at least one claim"):
        acquire_any()


def test_what_is_no_claim_is_refused() -> None:
    with pytest.raises(TypeError, match="acquire_all takes claims"):
        acquire_all(Lock())  # type: ignore[arg-type]  # that is the mistake


@pytest.mark.parametrize("policy", ["priority", "eligible"])
def test_a_policy_that_lets_others_pass_is_refused(policy: Any) -> None:
    with pytest.raises(ValueError, match=f"needs the policy 'fifo', not '{policy}'"):
        acquire_all(Lock().claim(), Semaphore(1, policy=policy).claim())


def test_a_claim_for_no_permits_is_refused() -> None:
    with pytest.raises(ValueError, match="n must be >= 1"):
        Semaphore(1).claim(0)


async def test_closing_one_ends_the_wait_and_the_other_queues_go_on() -> None:
    a, b = Semaphore(1), Lock()
    async with trio.open_nursery() as nursery:
        tasks = Tasks(nursery)
        await tasks.start("holder of b", b)
        await tasks.start("both", acquire_all(a.claim(), b.claim()))
        await tasks.start("behind at a", a)
        b.close()
        await settle()
        assert isinstance(tasks.errors["both"], trio.ClosedResourceError)
        assert tasks.holding == ["holder of b", "behind at a"]
        with pytest.raises(trio.ClosedResourceError):
            async with acquire_all(a.claim(), b.claim()):
                raise AssertionError
        assert waiting(a, b) == [0, 0]
        nursery.cancel_scope.cancel()


async def test_an_owner_that_exits_breaks_the_group_that_waits_for_its_lock() -> None:
    a, b = Semaphore(1), Lock()
    async with trio.open_nursery() as nursery:
        tasks = Tasks(nursery)

        async def quitter() -> None:
            await b.acquire()
            await settle()

        nursery.start_soon(quitter)
        await trio.lowlevel.checkpoint()
        await tasks.start("both", acquire_all(a.claim(), b.claim()))
        await tasks.start("behind at a", a)
        assert isinstance(tasks.errors["both"], trio.BrokenResourceError)
        assert tasks.holding == ["behind at a"]
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("waits", [False, True])
async def test_a_task_that_ends_with_the_block_entered_breaks_its_locks(waits: bool) -> None:
    lock = Lock()
    if waits:
        lock.acquire_nowait()

    async def quitter() -> None:
        await acquire_all(lock.claim()).__aenter__()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(quitter)
        await settle()
        if waits:
            lock.release()
    with pytest.raises(trio.BrokenResourceError):
        lock.acquire_nowait()


async def test_what_can_be_given_back_is_though_something_else_cannot() -> None:
    a, b, c = Semaphore(1, max_value=1), Lock(), Semaphore(1)
    with pytest.raises(ValueError, match="released too many times"):
        async with acquire_all(c.claim(), a.claim(), b.claim()):
            a.release()
    assert (a.value, b.locked(), c.value) == (1, False, 1)


async def test_what_cannot_be_given_back_does_not_hide_the_error_of_the_body() -> None:
    a, b = Lock(), Lock()
    with pytest.raises(RuntimeError, match="don't own") as caught:
        async with acquire_all(a.claim(), b.claim()):
            a.release()
            b.release()
            raise LookupError("the body's")
    second = caught.value.__context__
    assert second
    assert (type(second), type(second.__context__)) == (RuntimeError, LookupError)


async def test_a_lock_that_ended_in_the_body_adds_no_second_error() -> None:
    condition, semaphore = Condition(lock := Lock()), Semaphore(1)
    async with trio.open_nursery() as nursery:
        tasks = Tasks(nursery)

        async def wait() -> None:
            async with acquire_all(lock.claim(), semaphore.claim()):
                await condition.wait()

        async def close() -> None:
            await settle()
            lock.close()

        nursery.start_soon(close)
        with pytest.raises(trio.ClosedResourceError):
            await wait()
        assert tasks.errors == {}
    assert semaphore.value == 1


async def test_each_members_steps_are_told_with_its_primitive() -> None:
    a, b = Lock(), Semaphore(1)
    told: list[tuple[str, object]] = []

    def note(event: PrimitiveEvent) -> None:
        told.append((event.kind, event.primitive))

    async with trio.open_nursery() as nursery:
        tasks = Tasks(nursery)
        await tasks.start("holder of a", a)
        with observe(note):
            await tasks.start("both", acquire_all(b.claim(), a.claim()))
            await tasks.start("behind at b", b)
            await tasks.leave("holder of a")
            await tasks.cancel("both")
        nursery.cancel_scope.cancel()
    assert told == [
        ("requested", b),
        ("requested", a),
        ("requested", b),
        ("released", a),
        ("granted", a),
        ("granted", b),
        ("released", a),
        ("released", b),
        ("granted", b),
    ]


@pytest.mark.parametrize(
    ("how", "end"),
    [
        ("close", ["withdrawn", "granted"]),
        ("resize", ["granted"]),
        ("total_tokens", ["granted"]),
        ("downgrade", ["granted"]),
    ],
)
async def test_what_a_change_of_one_primitive_ends_elsewhere_is_told_there(
    how: str, end: list[str]
) -> None:
    semaphore, limiter, rwlock = Semaphore(0, max_value=1), CapacityLimiter(0), RWLock()
    await rwlock.acquire_write()
    changes: dict[str, tuple[Claim[Any], Callable[[], object]]] = {
        "close": (semaphore.claim(), semaphore.close),
        "resize": (semaphore.claim(), partial(semaphore.resize, 2)),
        "total_tokens": (limiter.claim(), partial(setattr, limiter, "total_tokens", 1)),
        "downgrade": (rwlock.read_claim(), rwlock.downgrade),
    }
    claim, change = changes[how]
    other = Semaphore(1)
    told: list[str] = []

    def note(event: PrimitiveEvent) -> None:
        if event.primitive is other:
            told.append(event.kind)

    async with trio.open_nursery() as nursery:
        tasks = Tasks(nursery)
        await tasks.start("both", acquire_all(claim, other.claim()))
        await tasks.start("behind at the other", other)
        with observe(note):
            change()
        assert told == end
        nursery.cancel_scope.cancel()
    rwlock.release()


class GateCore(Arbiter[str]):
    """Lets any task in while it is open."""

    mood: str

    def __init__(self) -> None:
        super().__init__()
        self.mood = "shut"

    def admits(self, claim: str) -> bool:
        if self.mood == "bad":
            raise LookupError("in a bad mood")
        return self.mood == "open"

    def admit(self, claim: str) -> None:
        pass

    def discharge(self, claim: str) -> None:
        pass


class Gate(Primitive[str]):
    """A primitive as a user writes one, with a claim."""

    _core: GateCore

    def __init__(self) -> None:
        super().__init__(GateCore())

    def claim(self) -> Claim[Gate]:
        return self._claim("in")

    def change(self, mood: str) -> None:
        self._core.mood = mood
        self._release("in")


async def test_a_primitive_of_the_users_can_be_claimed() -> None:
    gate, lock = Gate(), Lock()
    async with trio.open_nursery() as nursery:
        tasks = Tasks(nursery)
        await tasks.start("in", acquire_all(lock.claim(), gate.claim()))
        assert tasks.holding == []
        gate.change("open")
        await settle()
        assert tasks.holding == ["in"]
        nursery.cancel_scope.cancel()
    with pytest.raises(RuntimeError, match="once only"):
        async with acquire_all(gate.claim(), gate.claim()):
            raise AssertionError


@pytest.mark.parametrize("asked_by", ["its own queue", "the other queue"])
async def test_a_guard_that_fails_ends_the_group_and_leaves_the_other_queues(asked_by: str) -> None:
    gate, semaphore = Gate(), Semaphore(0)
    async with trio.open_nursery() as nursery:
        failed = False

        async def both() -> None:
            nonlocal failed
            with pytest.raises(LookupError):
                async with acquire_all(semaphore.claim(), gate.claim()):
                    raise AssertionError
            failed = True

        nursery.start_soon(both)
        await settle()
        if asked_by == "its own queue":
            gate.change("bad")
        else:
            gate._core.mood = "bad"
            semaphore.release()
        await settle()
        assert failed
        assert waiting(semaphore, gate) == [0, 0]


@pytest.mark.parametrize("acquire", [acquire_all, acquire_any])
async def test_a_task_is_gone_at_once_when_it_has_used_a_block(acquire: Any) -> None:
    lock, semaphore, tasks = Lock(), Semaphore(2), []

    async def once() -> None:
        tasks.append(weakref.ref(trio.lowlevel.current_task()))
        async with acquire(lock.claim(), semaphore.claim()):
            await trio.lowlevel.checkpoint()

    gc.disable()
    try:
        async with trio.open_nursery() as nursery:
            for _ in range(3):  # the first need not wait
                nursery.start_soon(once)
        await trio.lowlevel.checkpoint()
        assert [reference() for reference in tasks] == [None] * 3
    finally:
        gc.enable()


async def test_a_block_may_be_used_again_but_not_twice_at_once() -> None:
    lock = Lock()
    block = acquire_all(lock.claim())
    for _ in range(2):
        async with block:
            with pytest.raises(RuntimeError, match="entered already"):
                await block.__aenter__()
            assert "held" in repr(block)
    assert repr(block) == "<acquire_all of 1 claims: idle>"
    with trio.CancelScope() as scope:
        scope.cancel()
        async with block:
            raise AssertionError
    assert "idle" in repr(block)


async def test_a_primitive_in_use_by_another_run_is_refused() -> None:
    lock, semaphore = Lock(), Semaphore(1)
    async with lock:

        async def elsewhere() -> None:
            with pytest.raises(RuntimeError, match="in use by another trio run"):
                async with acquire_all(semaphore.claim(), lock.claim()):
                    raise AssertionError

        await trio.to_thread.run_sync(trio.run, elsewhere)
    assert semaphore.value == 1


async def test_an_observer_must_not_enter_a_block() -> None:
    lock, refused = Lock(), []

    def enter(event: PrimitiveEvent) -> None:
        try:
            acquire_all(Lock().claim()).__aenter__().send(None)
        except RuntimeError as error:
            refused.append(str(error))

    with observe(enter):
        async with lock:
            pass
    assert len(refused) == 3
    assert "must not change" in refused[0]


def test_a_claim_shows_what_it_is_on() -> None:
    assert repr(Lock().claim()).startswith("<Claim on <Lock")


async def test_what_would_be_refused_is_cancelled_in_a_cancelled_scope() -> None:
    closed, held, few = Semaphore(1), Lock(), Semaphore(1, max_value=1)
    closed.close()
    await held.acquire()
    for primitive, claim in ((closed, closed.claim()), (held, held.claim()), (few, few.claim(2))):
        before = primitive.statistics()
        with trio.CancelScope() as scope:
            scope.cancel()
            async with acquire_all(Semaphore(1).claim(), claim):
                pass
        assert scope.cancelled_caught
        assert primitive.statistics() == before
