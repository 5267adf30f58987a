"""A guard that raises ends its own request, and no other task's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from structsync._core.primitives.buffer import BufferCore
from structsync._core.primitives.capacity_limiter import CapacityLimiterCore
from structsync._core.primitives.job_queue import JobQueueCore
from structsync._core.primitives.lock import LockCore
from structsync._core.primitives.rate_limiter import RateLimiterCore
from structsync._core.primitives.rwlock import READ, WRITE, Access, RWLockCore
from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.primitives.sides import One
from structsync._core.primitives.value import Awaited, ValueCore
from structsync._core.queue.arbiter import Arbiter
from structsync._core.queue.request import Request


class Guarded(Arbiter[str]):
    """Grants what is not feared; raises for what is."""

    calm: bool = False

    def admits(self, claim: str) -> bool:
        if claim == "feared" and self.calm:
            raise LookupError(claim)
        return self.calm

    def admit(self, claim: str) -> None:
        pass

    def discharge(self, claim: str) -> None:
        self.calm = True


@pytest.mark.parametrize("policy", ["fifo", "eligible", "priority"])
def test_the_error_of_a_guard_ends_its_own_request_only(policy: str) -> None:
    core = Guarded(policy=policy)
    requests = [core.submit(claim) for claim in ("a", "feared", "b")]
    assert core.release("") == requests
    assert [one.status for one in requests] == ["granted", "broken", "granted"]
    assert isinstance(requests[1].cause, LookupError)


WAITING: dict[str, Callable[[], tuple[Arbiter[Any], Request[Any]]]] = {
    "semaphore": lambda: with_a_waiter(SemaphoreCore(0), 1),
    "eligible": lambda: with_a_waiter(SemaphoreCore(0, policy="eligible"), 1),
    "lock": lambda: with_a_waiter(LockCore(), "holder", "waiter"),
    "read-write lock": lambda: with_a_waiter(
        RWLockCore(), Access(WRITE, "holder"), Access(READ, "waiter")
    ),
    "limiter": lambda: with_a_waiter(CapacityLimiterCore(0), "waiter"),
    "buffer": lambda: with_a_waiter(BufferCore(1), One()),
    "value": lambda: with_a_waiter(ValueCore(0), Awaited(bool)),
    "job queue": lambda: with_a_waiter(JobQueueCore(1, 1), "runs", "waits"),
    "rate limiter": lambda: with_a_waiter(RateLimiterCore(1, 1, 1), 1, 1),
}


def with_a_waiter(core: Arbiter[Any], *claims: Any) -> tuple[Arbiter[Any], Request[Any]]:
    return core, [core.submit(claim) for claim in claims][-1]


@pytest.mark.parametrize("make", WAITING.values(), ids=WAITING.keys())
def test_an_error_of_our_own_is_never_taken_for_that_of_a_guard(
    make: Callable[[], tuple[Arbiter[Any], Request[Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    core, request = make()
    assert request.status == "pending"

    def decide(self: object, *claim: object) -> bool:
        raise ZeroDivisionError("planted in our own code")

    # a buffer decides and takes in one step
    decision = "exchange" if isinstance(core, BufferCore) else "admits"
    monkeypatch.setattr(type(core), decision, decide)
    for transition in (core.settle, lambda: core.is_next(request)):
        with pytest.raises(ZeroDivisionError):
            transition()
    assert request.status == "pending"
