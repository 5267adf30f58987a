"""What is remembered of the claims that a task made on an owned primitive: no more than what it still has."""

from __future__ import annotations

from typing import Any, NamedTuple

import trio
from trio.lowlevel import Task, current_task
from trio.testing import wait_all_tasks_blocked

from structsync import lowlevel
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
