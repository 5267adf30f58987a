"""What is remembered of the claims that a task made on an owned primitive: no more than what it still has."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import trio
from trio.lowlevel import Task, current_task
from trio.testing import wait_all_tasks_blocked

from structsync import PermitLeakError, log_events, lowlevel, observe, threads
from structsync._runtime import ownership


class Key(NamedTuple):
    name: object
    task: Task


class KeysCore(lowlevel.OwnedArbiter[Key]):
    """Who has which key."""

    taken: frozenset[Key]

    def __init__(self) -> None:
        super().__init__(policy="eligible")
        self.taken = frozenset()

    def admits(self, claim: Key) -> bool:
        return all(key.name != claim.name for key in self.taken)

    def admit(self, claim: Key) -> None:
        self.taken |= {claim}

    def discharge(self, claim: Key) -> None:
        self.taken -= {claim}

    def holds(self, claim: Key) -> bool:
        return claim in self.taken


class Keys(lowlevel.OwnedPrimitive[Key]):
    def __init__(self) -> None:
        super().__init__(KeysCore(), owner_exit="releases")

    def key(self, name: object) -> Any:
        return lowlevel.held(self, Key(name, current_task()))

    def request(self, name: object) -> Any:
        return lowlevel.request(self, Key(name, current_task()))

    def take(self, name: object) -> None:
        lowlevel.acquire_nowait(self, Key(name, current_task()))

    def taken(self) -> set[object]:
        core: Any = self._core
        return {key.name for key in core.taken}


async def use_many(keys: Keys, count: int = 200) -> None:
    for number in range(count):
        async with keys.key(number):
            pass


def remembered(keys: Keys) -> list[object]:
    """Return the names, and check that the primitive and the task remember the same ones."""
    noted = [claim for live, claim in ownership._by_task[current_task()] if live() is keys]
    assert {*noted} == {one for one in keys._touched_by or () if one.task is current_task()}
    return [claim.name for claim in noted]


async def test_a_task_forgets_the_claims_that_are_over() -> None:
    keys = Keys()
    await use_many(keys)
    assert len(remembered(keys)) <= 2 * 16 + 1


async def test_a_claim_is_noted_anew_after_it_was_forgotten() -> None:
    keys = Keys()

    async def end_with_a_key() -> None:
        keys.take("a")
        lowlevel.release(keys, Key("a", current_task()))
        await use_many(keys)
        assert "a" not in remembered(keys)
        keys.take("a")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(end_with_a_key)
    assert keys.taken() == set()


async def test_what_a_task_holds_and_what_it_queues_for_is_not_forgotten() -> None:
    keys = Keys()

    async def end_with_both() -> None:
        keys.take("a")
        requests.append(keys.request("b"))
        await use_many(keys)
        assert {*remembered(keys)} >= {"a", "b"}

    requests: list[Any] = []
    async with keys.key("b"):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(end_with_both)
        assert keys.taken() == {"b"}
        assert [request.status for request in requests] == ["withdrawn"]


async def test_claims_are_forgotten_too_where_each_of_them_had_to_wait() -> None:
    keys = Keys()

    async def hold(number: int, task_status: trio.TaskStatus[None]) -> None:
        async with keys.key(number):
            task_status.started()
            await wait_all_tasks_blocked()

    async with trio.open_nursery() as nursery:
        for number in range(60):
            await nursery.start(hold, number)
            async with keys.key(number):
                pass
    assert len(ownership._by_task[current_task()]) <= 2 * 16 + 1


async def test_a_long_queue_is_looked_at_no_more_often_than_its_length_allows() -> None:
    keys = Keys()

    async def wait() -> None:
        async with keys.key("a"):
            pass

    async with trio.open_nursery() as nursery, keys.key("a"):
        for _ in range(100):
            nursery.start_soon(wait)
        await wait_all_tasks_blocked()
        await use_many(keys, 20)
        assert ownership._purge_at[current_task()] >= 100
        await use_many(keys)
        assert len(remembered(keys)) <= 2 * 16 + 100


async def test_what_another_run_used_last_is_not_looked_at_from_here() -> None:
    here, elsewhere = Keys(), Keys()
    async with elsewhere.key("a"):
        pass

    async def use_elsewhere() -> None:
        async with elsewhere.key("b"):
            pass

    await trio.to_thread.run_sync(trio.run, use_elsewhere)
    await use_many(here)
    assert remembered(elsewhere) == ["a"]


# ==== a core that fails when an owner exits ====


class Shaky(KeysCore):
    """Fails where it is asked of a key that is free."""

    def holds(self, claim: Key) -> bool:
        return dict(self.taken)[claim.name] is claim.task


class Sticky(KeysCore):
    """Fails to take a key back."""

    def discharge(self, claim: Key) -> None:
        raise KeyError(claim.name)


class Stuck(Sticky):
    """Fails even to be closed."""

    def end(self, cause: object) -> Any:
        raise RuntimeError("no end")


def primitive_of(core: KeysCore) -> lowlevel.OwnedPrimitive[Key]:
    return lowlevel.OwnedPrimitive(core, owner_exit="releases", name="k")


async def in_one_step(keys: lowlevel.OwnedPrimitive[Key], claim: Key) -> None:
    lowlevel.acquire_nowait(keys, claim)


async def take_and_end(keys: lowlevel.OwnedPrimitive[Key], *, gives_back: bool) -> None:
    claim = Key("a", current_task())
    await lowlevel.acquire(keys, claim)
    if gives_back:
        lowlevel.release(keys, claim)


@pytest.mark.parametrize(("core", "gives_back"), [(Shaky, True), (Sticky, False)])
async def test_a_core_that_fails_when_its_owner_exits_breaks_its_primitive_and_no_other(
    core: Callable[[], KeysCore], gives_back: bool, caplog: pytest.LogCaptureFixture
) -> None:
    keys, others = primitive_of(core()), Keys()

    async def end_with_both() -> None:
        await take_and_end(keys, gives_back=gives_back)
        await take_and_end(others, gives_back=False)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(end_with_both)
    assert not others.taken()
    message = r"ownedprimitive 'k' broke because its core failed when .*end_with_both.*: KeyError\('a'\); holds"
    for acquire in (lowlevel.acquire, in_one_step):
        with pytest.raises(trio.BrokenResourceError, match=message) as caught:
            await acquire(keys, Key("b", current_task()))
        assert isinstance(caught.value.__cause__, KeyError)
    assert [record.name for record in caplog.records] == ["structsync"]


async def test_who_waits_for_what_a_failing_core_holds_is_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    keys = primitive_of(Sticky())

    async def wait() -> None:
        with pytest.raises(trio.BrokenResourceError, match="its core failed"):
            await lowlevel.acquire(keys, Key("a", current_task()))

    async def hold(task_status: trio.TaskStatus[None]) -> None:
        await take_and_end(keys, gives_back=False)
        task_status.started()
        await wait_all_tasks_blocked()

    async with trio.open_nursery() as nursery:
        await nursery.start(hold)
        nursery.start_soon(wait)


@pytest.mark.parametrize("waiters", [0, 2])
async def test_a_core_that_fails_when_its_owner_exits_is_one_record_of_the_breaks(
    waiters: int, caplog: pytest.LogCaptureFixture
) -> None:
    keys = primitive_of(Sticky())
    logger = logging.getLogger("of the test")

    async def wait() -> None:
        with pytest.raises(trio.BrokenResourceError, match="its core failed"):
            await lowlevel.acquire(keys, Key("a", current_task()))

    async def hold(task_status: trio.TaskStatus[None]) -> None:
        await take_and_end(keys, gives_back=False)
        task_status.started()
        await wait_all_tasks_blocked()

    with log_events(logger):
        async with trio.open_nursery() as nursery:
            await nursery.start(hold)
            for _ in range(waiters):
                nursery.start_soon(wait)
    (record,) = [record for record in caplog.records if record.name == logger.name]
    assert record.__dict__["structsync"]["event"] == "broken"
    assert "its core failed" in record.getMessage()


async def test_a_core_that_cannot_even_be_ended_ends_no_run(
    caplog: pytest.LogCaptureFixture,
) -> None:
    keys = primitive_of(Stuck())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(lambda: take_and_end(keys, gives_back=False))
    assert "OwnedPrimitive 'k' could not be broken" in caplog.text


# ==== a task that holds the same claim several times ====


class Reentrant(lowlevel.OwnedArbiter[Task]):
    """A lock that its owner may take again."""

    owner: Task | None
    depth: int

    def __init__(self) -> None:
        super().__init__()
        self.owner, self.depth = None, 0

    def admits(self, claim: Task) -> bool:
        return self.owner in (None, claim)

    def admit(self, claim: Task) -> None:
        self.owner, self.depth = claim, self.depth + 1

    def discharge(self, claim: Task) -> None:
        self.depth -= 1
        if not self.depth:
            self.owner = None

    def holds(self, claim: Task) -> bool:
        return self.owner is claim


class NeverReleased(Reentrant):
    def discharge(self, claim: Task) -> None:
        pass


async def test_what_a_task_took_several_times_is_released_as_often_when_it_exits() -> None:
    core, kinds = Reentrant(), list[str]()
    lock = lowlevel.OwnedPrimitive(core, owner_exit="releases")

    async def end_with_three() -> None:
        for _ in range(2):
            await lowlevel.acquire(lock, current_task())
        requests.append(lowlevel.request(lock, current_task()))

    requests: list[Any] = []
    with observe(lambda event: kinds.append(event.kind)):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(end_with_three)
    assert core.owner is None
    assert kinds.count("granted") == kinds.count("released") == 3
    await lowlevel.acquire(lock, current_task())
    lowlevel.release(lock, current_task())


async def test_a_request_that_a_task_leaves_beside_what_it_holds_is_withdrawn() -> None:
    keys = Keys()

    async def end_with_both() -> None:
        keys.take("a")
        requests.append(keys.request("a"))

    requests: list[Any] = []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(end_with_both)
    assert [request.status for request in requests] == ["withdrawn"]
    assert not keys.taken()


async def test_a_core_that_releases_nothing_is_told_so_and_broken(
    caplog: pytest.LogCaptureFixture,
) -> None:
    lock = lowlevel.OwnedPrimitive(NeverReleased(), owner_exit="releases")

    async def end_with_it() -> None:
        await lowlevel.acquire(lock, current_task())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(end_with_it)
    assert lock.broken
    assert "holds() is true after discharge() was called 10000 times" in caplog.text


async def test_what_a_thread_took_several_times_is_released_as_often_when_its_block_ends() -> None:
    core = Reentrant()
    lock = lowlevel.OwnedPrimitive(core)

    async def take_twice() -> None:
        for _ in range(2):
            await lowlevel.acquire(lock, current_task())

    def work() -> None:
        with pytest.raises(PermitLeakError, match="OwnedPrimitive"):
            threads.call(take_twice)

    await trio.to_thread.run_sync(work)
    assert core.owner is None
