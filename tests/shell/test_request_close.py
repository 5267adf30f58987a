"""Each primitive that is acquired has requests; closing one ends it, whatever had become of it."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import trio
import trio.testing

from structsync import (
    CapacityLimiter,
    Lock,
    PermitLeakError,
    RequestWithdrawn,
    RWLock,
    Semaphore,
    acquire_all,
    acquire_any,
    observe,
    open_scope,
)

settle = trio.testing.wait_all_tasks_blocked


class Requester(NamedTuple):
    """A primitive, how a task requests it, and how another task keeps it busy meanwhile."""

    make: Callable[[], Any]
    request: Callable[[Any], Any]
    occupy: Callable[[Any], Any]


def semaphore() -> Semaphore:
    return Semaphore(1, max_value=1)


REQUESTERS = {
    "semaphore": Requester(semaphore, Semaphore.request, Semaphore.__aenter__),
    "lock": Requester(Lock, Lock.request, Lock.__aenter__),
    "reader": Requester(RWLock, RWLock.read_request, RWLock.acquire_write),
    "writer": Requester(RWLock, RWLock.write_request, RWLock.acquire_read),
    "limiter": Requester(
        lambda: CapacityLimiter(1), CapacityLimiter.request, CapacityLimiter.acquire
    ),
    "borrower": Requester(
        lambda: CapacityLimiter(1), lambda p: p.request("a borrower"), CapacityLimiter.acquire
    ),
    "all of a group": Requester(
        Lock, lambda p: acquire_all(Semaphore(1).claim(), p.claim()).request(), Lock.acquire
    ),
    "any of a group": Requester(
        Lock, lambda p: acquire_any(Semaphore(0).claim(), p.claim()).request(), Lock.acquire
    ),
}


@pytest.fixture(params=REQUESTERS)
def requester(request: pytest.FixtureRequest) -> Requester:
    return REQUESTERS[request.param]


def shown(primitive: Any) -> object:
    return primitive.statistics()


async def occupied(requester: Requester, primitive: Any, nursery: trio.Nursery) -> trio.CancelScope:
    """Hold the primitive in a task until the scope that is returned is cancelled."""

    async def occupant(scope: trio.CancelScope) -> None:
        await requester.occupy(primitive)
        try:
            with scope:
                await trio.sleep_forever()
        finally:
            primitive.release()

    scope = trio.CancelScope()
    nursery.start_soon(occupant, scope)
    await settle()
    return scope


async def test_closing_a_granted_request_gives_back_once(requester: Requester) -> None:
    primitive = requester.make()
    before = shown(primitive)
    request = requester.request(primitive)
    assert (request.status, request.released) == ("granted", False)
    request.close()
    request.close()
    assert (request.status, request.released) == ("granted", True)
    assert shown(primitive) == before
    assert requester.request(primitive).status == "granted"


async def test_closing_a_pending_request_withdraws_it(
    requester: Requester, nursery: trio.Nursery
) -> None:
    primitive = requester.make()
    held = await occupied(requester, primitive, nursery)
    before = shown(primitive)
    request = requester.request(primitive)
    assert request.status == "pending"
    request.close()
    request.close()
    assert (request.status, request.released) == ("withdrawn", False)
    assert shown(primitive) == before
    with pytest.raises(RequestWithdrawn, match="withdrawn; make a new one"):
        await request.wait()
    held.cancel()


async def test_the_time_of_the_wait_is_limited_and_not_that_of_the_body(
    requester: Requester, autojump_clock: trio.testing.MockClock
) -> None:
    with requester.request(requester.make()) as request:
        with trio.fail_after(1):
            await request.wait()
        await trio.sleep(10)
        assert request.status == "granted"
    assert request.released


async def test_a_wait_that_takes_too_long_gives_the_position_up_with_the_block(
    requester: Requester, nursery: trio.Nursery, autojump_clock: trio.testing.MockClock
) -> None:
    primitive = requester.make()
    held = await occupied(requester, primitive, nursery)
    with pytest.raises(trio.TooSlowError):
        with requester.request(primitive) as request:
            with trio.fail_after(1):
                await request.wait()
    assert request.status == "withdrawn"
    held.cancel()


async def test_a_request_that_waits_is_granted_when_the_primitive_is_free(
    requester: Requester, nursery: trio.Nursery
) -> None:
    primitive = requester.make()
    held = await occupied(requester, primitive, nursery)
    with requester.request(primitive) as request:
        nursery.start_soon(request.wait)
        await settle()
        assert request.status == "pending"
        with pytest.raises(trio.BusyResourceError, match="another task already waits"):
            await request.wait()
        held.cancel()
        await settle()
        assert request.status == "granted"
        with trio.testing.assert_checkpoints():
            await request.wait()


async def test_a_cancelled_wait_keeps_the_position(
    requester: Requester, nursery: trio.Nursery
) -> None:
    primitive = requester.make()
    held = await occupied(requester, primitive, nursery)
    with requester.request(primitive) as request:
        with trio.CancelScope() as scope:
            scope.cancel()
            await request.wait()
        assert request.status == "pending"
        held.cancel()
        await request.wait()


async def test_waiting_for_what_was_given_back_is_refused(requester: Requester) -> None:
    request = requester.request(requester.make())
    request.close()
    with pytest.raises(RequestWithdrawn, match="is released; make a new one"):
        await request.wait()
    assert "granted, released" in repr(request)


async def test_who_is_woken_with_what_is_given_back_meanwhile_has_nothing(
    requester: Requester, nursery: trio.Nursery
) -> None:
    primitive = requester.make()
    held = await occupied(requester, primitive, nursery)
    request = requester.request(primitive)
    refused = []

    async def wait() -> None:
        try:
            await request.wait()
        except RequestWithdrawn:
            refused.append(request)

    nursery.start_soon(wait)
    await settle()
    with observe(lambda event: request.close() if event.kind == "granted" else None):
        held.cancel()
        await settle()
    assert refused == [request]
    assert request.released


async def test_a_request_is_broken_when_the_primitive_is_closed(
    requester: Requester, nursery: trio.Nursery
) -> None:
    primitive = requester.make()
    held = await occupied(requester, primitive, nursery)
    with requester.request(primitive) as request:
        primitive.close()
        assert request.status == "broken"
        with pytest.raises(trio.ClosedResourceError):
            await request.wait()
        assert not request.withdraw()
    held.cancel()


async def test_a_request_of_a_closed_primitive_is_refused(requester: Requester) -> None:
    primitive = requester.make()
    primitive.close()
    with pytest.raises(trio.ClosedResourceError):
        requester.request(primitive)


async def test_closing_in_the_middle_of_a_step_is_carried_out_after_it(
    requester: Requester, nursery: trio.Nursery
) -> None:
    primitive = requester.make()
    held = await occupied(requester, primitive, nursery)
    request = requester.request(primitive)
    statuses = []

    def give_up(event: object) -> None:
        request.close()
        statuses.append(request.status)

    with observe(give_up):
        Semaphore(1).acquire_nowait()
    assert statuses[0] == "pending"
    assert request.status == "withdrawn"
    held.cancel()


async def test_a_granted_request_is_not_withdrawn_in_the_middle_of_a_step_either(
    requester: Requester,
) -> None:
    primitive = requester.make()
    answers = list[bool]()
    with requester.request(primitive) as request:
        before = shown(primitive)
        with observe(lambda event: answers.append(request.withdraw())):
            Semaphore(1).acquire_nowait()
        assert answers == [False, False]  # it was requested, and granted
        assert (request.status, request.released, shown(primitive)) == ("granted", False, before)


async def test_what_was_released_by_hand_is_not_given_back_silently() -> None:
    limiter = CapacityLimiter(1)
    request = limiter.request("a borrower")
    limiter.release_on_behalf_of("a borrower")
    with pytest.raises(RuntimeError, match="isn't holding"):
        request.close()
    assert not request.released


async def test_a_granted_write_request_that_was_downgraded_gives_back_what_is_left() -> None:
    lock = RWLock()
    with lock.write_request():
        lock.downgrade()
    assert not lock.locked()


async def test_the_request_of_a_reader_that_ends_breaks_the_lock(nursery: trio.Nursery) -> None:
    lock = RWLock()
    requests = []

    async def quitter() -> None:
        requests.append(lock.read_request())

    nursery.start_soon(quitter)
    await settle()
    with pytest.raises(trio.BrokenResourceError):
        await lock.acquire_write()
    requests[0].close()
    requests[0].close()
    assert not lock.locked()


async def test_closing_a_granted_request_of_a_broken_lock_adds_no_second_error(
    nursery: trio.Nursery,
) -> None:
    lock = Lock()
    requests = []

    async def quitter() -> None:
        requests.append(lock.request())

    nursery.start_soon(quitter)
    await settle()
    requests[0].close()
    with pytest.raises(trio.BrokenResourceError):
        await lock.acquire()


async def test_a_request_that_is_forgotten_is_a_leak(requester: Requester) -> None:
    primitive = requester.make()
    with pytest.raises(PermitLeakError):
        async with open_scope() as scope:
            requester.request(scope.own(primitive))
