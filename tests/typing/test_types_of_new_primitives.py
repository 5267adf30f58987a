"""What the younger primitives take and return: for mypy, for pyright, and when it runs."""

# pyright: reportUnnecessaryTypeIgnoreComment=error

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import assert_type

from structsync import (
    Changes,
    Claim,
    Lock,
    LockMap,
    LockMapStatistics,
    PoolItem,
    RateLimiter,
    RateLimiterStatistics,
    Request,
    ResourcePool,
    ResourcePoolStatistics,
    Status,
    Value,
    ValueStatistics,
    acquire_all,
)


async def test_a_rate_limiter_takes_numbers_and_returns_nothing() -> None:
    limiter = RateLimiter(0.5, 60, burst=3, name="calls")
    assert_type(await limiter.acquire(2), None)
    assert_type(limiter.acquire_nowait(), None)
    with assert_type(limiter.request(2), Request[int]) as request:
        assert_type(request.status, Status)
    assert type(assert_type(limiter.value, int)) is int
    assert type(assert_type(limiter.rate, float)) is float
    assert type(assert_type(limiter.closed, bool)) is bool
    assert type(assert_type(limiter.name, str | None)) is str
    assert isinstance(assert_type(limiter.statistics(), RateLimiterStatistics).value, int)


async def test_a_value_keeps_the_type_of_its_first_value() -> None:
    value = Value(1, name="number")
    assert_type(value, Value[int])
    assert type(assert_type(value.value, int)) is int
    changes = value.changes()
    assert isinstance(assert_type(changes, Changes[int]), Changes)
    value.value = 2
    assert (
        type(assert_type(await value.wait_for(lambda number: number.bit_length() > 1), int)) is int
    )
    async for number in changes:
        assert type(assert_type(number, int)) is int
        break
    optional: Value[str | None] = Value(None)
    assert assert_type(optional.value, str | None) is None
    optional.value = "text"
    assert isinstance(assert_type(value.statistics(), ValueStatistics).value, int)


async def test_a_lock_map_knows_the_type_of_its_keys() -> None:
    locks = LockMap[str](name="keys")
    assert isinstance(assert_type(locks["a"], Lock), Lock)
    assert type(assert_type(locks.claim("a"), Claim[Lock])) is Claim
    async with locks["a"]:
        for key in locks:
            assert type(assert_type(key, str)) is str
        assert assert_type("a" in locks, bool)
        assert type(assert_type(len(locks), int)) is int
    async with acquire_all(locks.claim("a"), locks.claim("b")):
        pass
    assert isinstance(assert_type(locks.statistics(), LockMapStatistics).tasks_waiting, int)


async def number() -> int:
    return 1


async def is_odd(number: int) -> bool:
    return number % 2 == 1


async def drop(number: int) -> None: ...


async def test_a_pool_lends_what_its_factory_makes() -> None:
    pool = ResourcePool(number, 2, min_size=1, check=is_odd, close=drop, max_idle=60, name="odd")
    assert_type(pool, ResourcePool[int])
    async with pool as entered:
        assert_type(entered, ResourcePool[int])
        assert isinstance(assert_type(pool.item(), PoolItem[int]), PoolItem)
        async with pool.item(keep_on_error=True) as one:
            assert type(assert_type(one, int)) is int
            assert_type(pool.discard(one), None)
        async with AsyncExitStack() as stack:
            other = await stack.enter_async_context(pool.item())
            assert type(assert_type(other, int)) is int
        assert_type(pool.resize(3), None)
        assert_type(await pool.fill(), None)
        assert_type(await pool.close_stale(), None)
        assert isinstance(assert_type(pool.statistics(), ResourcePoolStatistics).lent, int)
        assert type(assert_type(pool.max_size, int)) is int
        assert type(assert_type(pool.min_size, int)) is int
    assert_type(await pool.aclose(), None)


async def pool_ends_well() -> int:
    async with ResourcePool(number, 1).item() as one:  # it swallows no error: this returns
        return one


def pool_rejected_by_the_checkers() -> None:  # pragma: no cover - not run
    ResourcePool(lambda: 3, 1)  # type: ignore[arg-type, return-value]
    ResourcePool(number, 1, 2)  # type: ignore[call-arg]
    ResourcePool(number, 1, check=drop)  # type: ignore[arg-type]
    ResourcePool[str](number, 1)  # type: ignore[arg-type]
    ResourcePool(number, 1).discard("1")  # type: ignore[arg-type]
    with ResourcePool(number, 1).item():  # type: ignore[attr-defined]
        pass


def lock_map_rejected_by_the_checkers() -> None:  # pragma: no cover - not run
    LockMap[str]()[3]  # type: ignore[index]
    LockMap[list[int]]()  # type: ignore[type-var]


async def value_rejected_by_the_checkers() -> None:  # pragma: no cover - not run
    value = Value(1)
    value.value = "1"  # type: ignore[assignment]
    await value.wait_for(lambda number: number.upper())  # type: ignore[attr-defined]


def rejected_by_the_checkers() -> None:  # pragma: no cover - not run
    RateLimiter("1")  # type: ignore[arg-type]
    RateLimiter(1, 1, 1)  # type: ignore[call-arg]
    RateLimiter(1).acquire_nowait("1")  # type: ignore[arg-type]
    RateLimiter(1).request("1")  # type: ignore[arg-type]


class Connection:
    def send(self, text: str) -> int:
        return len(text)

    async def aclose(self) -> None: ...


async def connect() -> Connection:
    return Connection()


async def test_a_pool_lends_items_of_the_type_that_its_factory_makes() -> None:
    pool = ResourcePool(connect, 2, min_size=1, close=Connection.aclose, max_idle=60, name="pool")
    assert_type(pool, ResourcePool[Connection])
    async with pool:
        block = assert_type(pool.item(keep_on_error=True), PoolItem[Connection])
        async with block as connection:
            assert assert_type(connection, Connection).send("text") == 4
            pool.discard(connection)
        assert assert_type(pool.max_size, int) == 2
        statistics = assert_type(pool.statistics(), ResourcePoolStatistics)
        assert assert_type(statistics.idle, int) == 0
        async with AsyncExitStack() as stack:
            lent = await stack.enter_async_context(pool.item())
            assert type(assert_type(lent, Connection)) is Connection


async def resource_pool_rejected_by_the_checkers() -> None:  # pragma: no cover - not run
    ResourcePool(Connection, 2)  # type: ignore[arg-type]
    ResourcePool(connect, 2, 1)  # type: ignore[call-arg]
    pool = ResourcePool(connect, 2)
    pool.discard("text")  # type: ignore[arg-type]
    async with pool.item() as connection:
        connection.send(1)  # type: ignore[arg-type]
