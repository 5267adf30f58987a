"""``open_scope()``: what it owns ends with it, and what was not given back is named."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import trio
import trio.testing

from structsync import (
    CapacityLimiter,
    Condition,
    Lock,
    Monitor,
    Parker,
    PermitLeakError,
    Primitive,
    Semaphore,
    WaitQueue,
    acquire_all,
    open_scope,
)

settle = trio.testing.wait_all_tasks_blocked


async def test_own_returns_the_primitive() -> None:
    semaphore = Semaphore(1)
    async with open_scope() as scope:
        assert scope.own(semaphore) is semaphore


@pytest.mark.parametrize(
    "primitive",
    [Semaphore(1), Lock(), Condition(), WaitQueue(), Parker(), CapacityLimiter(1)],
    ids=lambda primitive: type(primitive).__name__,
)
async def test_what_a_scope_owns_is_closed_at_its_end(primitive: Primitive[object]) -> None:
    async with open_scope() as scope:
        scope.own(primitive)
        assert "closed" not in repr(primitive)
    assert "closed" in repr(primitive)


async def test_the_children_are_done_before_anything_closes() -> None:
    ended = []

    async def use(semaphore: Semaphore) -> None:
        await settle()
        async with semaphore:
            ended.append("used")

    async with open_scope() as scope:
        scope.start_soon(use, scope.own(Semaphore(1)))
    assert ended == ["used"]


async def test_start_waits_until_the_child_is_ready() -> None:
    async def child(task_status: trio.TaskStatus[str]) -> None:
        task_status.started("ready")

    async with open_scope() as scope:
        assert await scope.start(child) == "ready"


async def test_start_soon_names_the_child() -> None:
    names = []

    async def child() -> None:
        names.append(trio.lowlevel.current_task().name)

    async with open_scope() as scope:
        scope.start_soon(child, name="a borrower")
    assert names == ["a borrower"]


async def test_what_is_started_in_its_nursery_is_a_child_of_the_scope() -> None:
    """A library that wants a nursery gets that of the scope: what it owns closes after those children, too."""
    ended = []

    async def child(limit: Semaphore) -> None:
        async with limit:
            await trio.lowlevel.checkpoint()
        ended.append(limit.closed)

    async with open_scope() as scope:
        limit = scope.own(Semaphore(1, max_value=1))
        scope.nursery.start_soon(child, limit)
        assert scope.nursery.cancel_scope is scope.cancel_scope
    assert ended == [False]
    assert limit.closed


async def test_the_cancel_scope_ends_body_and_children() -> None:
    async with open_scope() as scope:
        scope.start_soon(trio.sleep_forever)
        scope.cancel_scope.cancel()
        await trio.sleep_forever()
    assert scope.cancel_scope.cancelled_caught


async def test_a_child_that_waits_forever_keeps_a_scope_open_like_a_nursery(
    autojump_clock: trio.testing.MockClock,
) -> None:
    with trio.move_on_after(5) as patience:
        async with open_scope() as scope:
            scope.start_soon(scope.own(Semaphore(0)).acquire)
    assert patience.cancelled_caught


# ==== leaks ====


async def test_a_permit_that_was_not_given_back_is_a_leak_that_names_primitive_and_task() -> None:
    with pytest.raises(PermitLeakError, match=r"1 not returned to <Semaphore.*forgetful.*took 1"):
        async with open_scope() as scope:
            semaphore = scope.own(Semaphore(2, max_value=2))
            scope.start_soon(semaphore.acquire, name="forgetful")


async def test_only_the_task_that_leaks_is_named() -> None:
    async def use(semaphore: Semaphore) -> None:
        async with semaphore:
            await trio.lowlevel.checkpoint()

    with pytest.raises(PermitLeakError) as caught:
        async with open_scope() as scope:
            semaphore = scope.own(Semaphore(2, max_value=2))
            scope.start_soon(use, semaphore, name="careful")
            scope.start_soon(semaphore.acquire, name="forgetful")
    assert "forgetful" in str(caught.value)
    assert "careful" not in str(caught.value)


async def test_all_leaks_of_a_scope_are_in_one_error() -> None:
    with pytest.raises(PermitLeakError, match=r"(?s)<Semaphore.*<CapacityLimiter"):
        async with open_scope() as scope:
            await scope.own(Semaphore(1)).acquire()
            await scope.own(CapacityLimiter(1)).acquire()


async def test_a_lock_that_is_still_held_is_a_leak() -> None:
    with pytest.raises(PermitLeakError, match="1 not returned to <Lock"):
        async with open_scope() as scope:
            await scope.own(Lock()).acquire()


async def test_a_granted_request_that_was_not_given_back_is_a_leak() -> None:
    with pytest.raises(PermitLeakError, match="2 not returned"):
        async with open_scope() as scope:
            scope.own(Semaphore(3)).request(2)


async def test_a_pending_request_is_no_leak() -> None:
    async with open_scope() as scope:
        request = scope.own(Semaphore(0)).request()
    assert request.status == "broken"


async def test_permits_that_were_out_before_are_no_leak() -> None:
    semaphore = Semaphore(2, max_value=2)
    semaphore.acquire_nowait()
    async with open_scope() as scope:
        scope.own(semaphore)
    assert semaphore.value == 1


async def test_a_permit_given_back_by_another_task_is_no_leak() -> None:
    async def release(semaphore: Semaphore) -> None:
        semaphore.release()

    async with open_scope() as scope:
        semaphore = scope.own(Semaphore(1, max_value=1))
        await semaphore.acquire()
        scope.start_soon(release, semaphore)


@pytest.mark.parametrize("kind", ["request", "group request", "holding", "a claim of it"])
async def test_who_requested_what_another_task_closes_is_not_named_for_a_leak(kind: str) -> None:
    closers: list[Callable[[], None]] = []

    async def open_one(semaphore: Semaphore) -> None:
        claim = semaphore.claim(2)
        if kind == "request":
            closers.append(semaphore.request(2).close)
        elif kind == "group request":
            closers.append(acquire_all(claim).request().close)
        else:
            async with acquire_all(claim) as held:
                held.keep()
            closers.append(held.close if kind == "holding" else partial(held.release, claim))

    async def close_it() -> None:
        closers.pop()()

    with pytest.raises(PermitLeakError) as caught:
        async with open_scope() as scope:
            semaphore = scope.own(Semaphore(5, max_value=5))
            scope.start_soon(open_one, semaphore, name="opener")
            await settle()
            scope.start_soon(close_it, name="closer")
            scope.start_soon(semaphore.acquire, name="forgetful")
    assert "1 not returned" in str(caught.value)
    assert "forgetful" in str(caught.value)
    assert "opener" not in str(caught.value)


async def test_a_signalling_semaphore_that_balances_is_clean() -> None:
    async def produce(semaphore: Semaphore) -> None:
        for _ in range(3):
            semaphore.release()

    async with open_scope() as scope:
        semaphore = scope.own(Semaphore(0))
        scope.start_soon(produce, semaphore)
        for _ in range(3):
            await semaphore.acquire()


async def test_a_surplus_of_signals_is_no_leak() -> None:
    async with open_scope() as scope:
        scope.own(Semaphore(0)).release(5)


@pytest.mark.parametrize("maximum", [1, 2, 5])
async def test_a_resize_alone_is_no_leak(maximum: int) -> None:
    async with open_scope() as scope:
        scope.own(Semaphore(2, max_value=2)).resize(maximum)


async def test_a_resize_hides_no_leak() -> None:
    with pytest.raises(PermitLeakError, match="1 not returned"):
        async with open_scope() as scope:
            semaphore = scope.own(Semaphore(2, max_value=2))
            await semaphore.acquire()
            semaphore.resize(9)


async def test_unused_wakes_and_waits_are_no_leak() -> None:
    async with open_scope() as scope:
        scope.own(Parker()).unblock()
        scope.own(WaitQueue()).wake()


# ==== owning ====


async def test_owning_twice_is_refused() -> None:
    async with open_scope() as scope:
        semaphore = scope.own(Semaphore(1))
        with pytest.raises(ValueError, match="owned by a scope already; own it once"):
            scope.own(semaphore)


async def test_owning_what_an_outer_scope_owns_is_refused() -> None:
    async with open_scope() as outer, open_scope() as inner:
        semaphore = outer.own(Semaphore(1))
        with pytest.raises(ValueError, match="owned by a scope already"):
            inner.own(semaphore)


async def test_owning_after_the_end_is_refused() -> None:
    async with open_scope() as scope:
        pass
    with pytest.raises(RuntimeError, match="this scope has ended"):
        scope.own(Semaphore(1))


async def test_owning_what_is_no_primitive_is_refused() -> None:
    async with open_scope() as scope:
        with pytest.raises(TypeError, match=r"owns primitives of structsync, not <trio"):
            scope.own(trio.Semaphore(1))  # type: ignore[type-var]


async def test_owning_what_is_closed_is_refused() -> None:
    semaphore = Semaphore(1)
    semaphore.close()
    async with open_scope() as scope:
        with pytest.raises(trio.ClosedResourceError):
            scope.own(semaphore)


async def test_what_was_closed_inside_may_close_again_at_the_end() -> None:
    async with open_scope() as scope:
        scope.own(Semaphore(1)).close()


async def test_an_inner_scope_closes_its_own_alone() -> None:
    async with open_scope() as outer:
        kept = outer.own(Semaphore(1))
        async with open_scope() as inner:
            gone = inner.own(Semaphore(1))
        async with kept:
            assert "closed" in repr(gone)


async def test_a_child_task_is_named_after_its_function_unless_it_has_a_name() -> None:
    names: list[str] = []

    async def child() -> None:
        names.append(trio.lowlevel.current_task().name)

    async with open_scope() as scope:
        scope.start_soon(child)
        scope.start_soon(child, name="a name")
    plain, given = sorted(names, key=len, reverse=True)
    assert plain.endswith("<locals>.child")
    assert given == "a name"


@pytest.mark.parametrize("make", [Lock, Monitor], ids=["lock", "monitor"])
async def test_who_is_inside_counts_for_one_and_a_free_one_for_nothing(make: Any) -> None:
    primitive = make()
    free = primitive._balance()
    if isinstance(primitive, Monitor):
        inside = await primitive.entry(primitive._balance)()
    else:
        async with primitive:
            inside = primitive._balance()
    assert (free, inside, primitive._balance()) == (0, -1, 0)
