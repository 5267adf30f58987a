"""What the younger primitives take and return: for mypy, for pyright, and when it runs."""

# pyright: reportUnnecessaryTypeIgnoreComment=error

from __future__ import annotations

from typing import assert_type

from structsync import RateLimiter, RateLimiterStatistics


async def test_a_rate_limiter_takes_numbers_and_returns_nothing() -> None:
    limiter = RateLimiter(0.5, 60, burst=3, name="calls")
    assert_type(await limiter.acquire(2), None)
    assert_type(limiter.acquire_nowait(), None)
    assert type(assert_type(limiter.value, int)) is int
    assert type(assert_type(limiter.rate, float)) is float
    assert type(assert_type(limiter.closed, bool)) is bool
    assert type(assert_type(limiter.name, str | None)) is str
    assert isinstance(assert_type(limiter.statistics(), RateLimiterStatistics).value, int)


def rejected_by_the_checkers() -> None:  # pragma: no cover - not run
    RateLimiter("1")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    RateLimiter(1, 1, 1)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    RateLimiter(1).acquire_nowait("1")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
