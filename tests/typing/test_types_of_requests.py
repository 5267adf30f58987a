"""What a request, a group and a primitive of one's own return: for mypy, for pyright, and when it runs."""

# pyright: reportUnnecessaryTypeIgnoreComment=error

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any, assert_type

from structsync import (
    Arbiter,
    CapacityLimiter,
    Claim,
    GroupRequest,
    Holding,
    Lock,
    Primitive,
    Request,
    Semaphore,
    Status,
    acquire_all,
    acquire_any,
    lowlevel,
)


class CupCore(Arbiter[int]):
    """Cups that are taken one by one."""

    cups: int

    def __init__(self) -> None:
        super().__init__()
        self.cups = 1

    def admits(self, claim: int) -> bool:
        return self.cups > 0

    def admit(self, claim: int) -> None:
        self.cups -= 1

    def discharge(self, claim: int) -> None:
        self.cups += 1

    def handed_out(self, claim: int) -> str:
        return f"cup {claim}"


class Cups(Primitive[int]):
    """The type of what is handed out is said by the method that returns it."""

    def __init__(self) -> None:
        super().__init__(CupCore())

    def cup(self, number: int) -> AbstractAsyncContextManager[str]:
        return lowlevel.held(self, number)

    def request(self, number: int) -> Request[int]:
        return assert_type(lowlevel.request(self, number), Request[int])


async def test_a_request_has_the_type_of_its_claim() -> None:
    with Semaphore(1).request() as request:
        assert_type(request, Request[int])
        assert assert_type(request.status, Status) == "granted"
        assert assert_type(request.released, bool) is False
    with CapacityLimiter(1).request("a borrower", priority=0) as borrowed:
        assert_type(borrowed, Request[object])


async def test_a_group_yields_what_it_holds_or_the_claim_that_was_granted() -> None:
    lock, semaphore = Lock(), Semaphore(2)
    async with acquire_all(lock.claim(), semaphore.claim()) as held:
        assert type(assert_type(held, Holding)) is Holding
    async with acquire_any(lock.claim(), semaphore.claim()) as claim:
        assert isinstance(claim, Claim)
    with acquire_all(lock.claim()).request() as request:
        assert_type(request, GroupRequest[Holding])
        assert type(assert_type(await request.wait(), Holding)) is Holding
    async with AsyncExitStack() as stack:
        assert type(await stack.enter_async_context(acquire_all(lock.claim()))) is Holding


async def test_a_block_of_ones_own_yields_what_is_handed_out() -> None:
    cups = Cups()
    async with cups.cup(3) as cup:
        assert assert_type(cup, str) == "cup 3"
    taken: Any = await lowlevel.acquire(cups, 4)
    assert taken == "cup 4"
    lowlevel.release(cups, 4)
    cups.request(5).close()
