"""What a claim on a primitive of one's own is: for acquire_all, for an owner, and with a priority."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import pytest
import trio
from trio.lowlevel import Task, current_task
from trio.testing import wait_all_tasks_blocked

from structsync import Arbiter, Claim, Lock, Primitive, acquire_all, acquire_any, first_of, lowlevel


class TankCore(Arbiter[int]):
    """A claim is an amount."""

    free: int

    def __init__(self, free: int, policy: str = "fifo", ageing: int | None = 100) -> None:
        super().__init__(policy=policy, ageing=ageing)
        self.free = free

    def admits(self, claim: int) -> bool:
        return claim <= self.free

    def admit(self, claim: int) -> None:
        self.free -= claim

    def discharge(self, claim: int) -> None:
        self.free += claim


class Tank(Primitive[int]):
    def __init__(self, free: int, **options: Any) -> None:
        self.core = TankCore(free, **options)
        self.cost = 1
        super().__init__(self.core)

    def claim(self) -> Claim[Tank]:
        return lowlevel.claim(self, lambda task: self.cost)


# ==== acquire_all releases what it was granted ====


@pytest.mark.parametrize("acquire", [acquire_all, acquire_any])
async def test_a_group_releases_what_it_was_granted_whatever_the_claim_would_be_now(
    acquire: Any,
) -> None:
    tank = Tank(5)
    async with acquire(tank.claim()):
        tank.cost = 4
    assert tank.core.free == 5


async def test_a_group_that_waited_releases_what_it_waited_for() -> None:
    tank = Tank(1)
    tank.cost = 2

    async def wait() -> None:
        async with acquire_all(tank.claim()) as held:
            assert tank.core.free == 0
            held.release(*held.claims)
            assert tank.core.free == 2

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        await wait_all_tasks_blocked()
        tank.cost = 4
        lowlevel.release(tank, 1)


async def test_a_group_request_asks_once_what_is_claimed() -> None:
    tank = Tank(5)
    with acquire_all(tank.claim()).request() as request:
        tank.cost = 4
        await request.wait()
    assert tank.core.free == 5


# ==== a claim that cannot be noted ====


class KeyCore(lowlevel.OwnedArbiter[Any]):
    """One key; a claim names the task."""

    owner: Any

    def __init__(self) -> None:
        super().__init__()
        self.owner = None

    def admits(self, claim: Any) -> bool:
        return self.owner is None

    def admit(self, claim: Any) -> None:
        self.owner = claim

    def discharge(self, claim: Any) -> None:
        self.owner = None

    def holds(self, claim: Any) -> bool:
        return bool(self.owner == claim)


class Key(lowlevel.OwnedPrimitive[Any]):
    def __init__(self, checkpoint: Literal["always", "budget"] = "always") -> None:
        self.core = KeyCore()
        super().__init__(self.core, checkpoint=checkpoint)


async def acquire_now(key: Key, claim: Any) -> None:
    lowlevel.acquire_nowait(key, claim)


async def request_now(key: Key, claim: Any) -> None:
    lowlevel.request(key, claim)


async def acquire_together(key: Key, claim: Any) -> None:
    lock = Lock()
    try:
        async with acquire_all(lock.claim(), lowlevel.claim(key, lambda task: claim)):
            raise AssertionError("not reached")
    finally:
        assert not lock.locked()


async def request_together(key: Key, claim: Any) -> None:
    acquire_all(Lock().claim(), lowlevel.claim(key, lambda task: claim)).request()


@pytest.mark.parametrize("used", [False, True])
@pytest.mark.parametrize("checkpoint", ["always", "budget"])
@pytest.mark.parametrize(
    "acquire", [lowlevel.acquire, acquire_now, request_now, acquire_together, request_together]
)
async def test_a_claim_without_a_hash_is_refused_and_takes_nothing(
    acquire: Any, checkpoint: Any, used: bool
) -> None:
    key = Key(checkpoint)
    if used:
        async with lowlevel.held(key, current_task()):
            pass
    with pytest.raises(TypeError, match=r"hash|set element"):
        await acquire(key, [current_task()])
    assert key.core.owner is None


@pytest.mark.parametrize(
    "acquire", [lowlevel.acquire, request_now, acquire_together, request_together]
)
async def test_it_is_refused_before_it_joins_a_queue(acquire: Any) -> None:
    key = Key()
    async with lowlevel.held(key, current_task()):
        with pytest.raises(TypeError, match=r"hash|set element"):
            await acquire(key, [current_task()])
        assert key.statistics().tasks_waiting == 0


# ==== priorities ====


async def acquire_it(tank: Tank, priority: Any) -> None:
    await lowlevel.acquire(tank, 1, priority=priority)


async def request_it(tank: Tank, priority: Any) -> None:
    lowlevel.request(tank, 1, priority=priority)


async def hold_it(tank: Tank, priority: Any) -> None:
    lowlevel.held(tank, 1, priority=priority)


async def acquire_privately(tank: Tank, priority: Any) -> None:
    await tank._acquire(1, priority=priority)


async def request_privately(tank: Tank, priority: Any) -> None:
    tank._request(1, priority=priority)


async def hold_privately(tank: Tank, priority: Any) -> None:
    tank._held(1, priority=priority)


EACH = pytest.mark.parametrize(
    "take",
    [acquire_it, request_it, hold_it, acquire_privately, request_privately, hold_privately],
)


@EACH
@pytest.mark.parametrize("priority", ["high", True, False, None, 1.5, 0.0])
@pytest.mark.parametrize("free", [0, 5])
async def test_a_priority_that_is_no_int_is_refused_and_leaves_the_queue_as_it_was(
    take: Any, priority: Any, free: int
) -> None:
    tank = Tank(free, policy="priority")
    with pytest.raises(TypeError, match="priority must be an int"):
        await take(tank, priority)
    assert (tank.core.free, tank.statistics().tasks_waiting) == (free, 0)


@EACH
async def test_a_priority_where_there_are_none_is_refused(take: Any) -> None:
    tank = Tank(5)
    with pytest.raises(ValueError, match="priority must be 0 with policy 'fifo', not 7"):
        await take(tank, 7)
    assert tank.core.free == 5


# ==== equal primitives ====


@dataclass
class Gate(Primitive[int]):
    kind: str
    core: TankCore = field(default_factory=lambda: TankCore(1), compare=False)

    def __post_init__(self) -> None:
        super().__init__(self.core)


async def test_two_primitives_that_are_equal_are_two_to_first_of() -> None:
    one, other = Gate("x"), Gate("x")
    first = await first_of(lowlevel.claim(one, amount), lowlevel.claim(other, amount))
    assert first.claim.primitive is one
    with pytest.raises(ValueError, match="one claim on each primitive"):
        await first_of(lowlevel.claim(one, amount), lowlevel.claim(one, amount))


def amount(task: Task) -> int:
    return 1
