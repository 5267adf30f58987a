"""The end of a scope on every path: nothing is hidden, leaks join what trio raises."""

import signal
from collections.abc import Awaitable, Callable

import pytest
import trio
import trio.testing

from structsync import Lock, PermitLeakError, Scope, Semaphore, open_scope

settle = trio.testing.wait_all_tasks_blocked


async def fail() -> None:
    raise KeyError("original")


async def leak(scope: Scope) -> None:
    await scope.own(Semaphore(1)).acquire()


def leaves(error: BaseException) -> list[type[BaseException]]:
    if isinstance(error, BaseExceptionGroup):
        return [leaf for part in error.exceptions for leaf in leaves(part)]
    return [type(error)]


async def test_an_error_of_the_body_comes_as_from_a_nursery() -> None:
    with pytest.raises(ExceptionGroup) as from_scope:
        async with open_scope():
            await fail()
    with pytest.raises(ExceptionGroup) as from_nursery:
        async with trio.open_nursery():
            await fail()
    assert from_scope.value.args[0] == from_nursery.value.args[0]
    assert leaves(from_scope.value) == leaves(from_nursery.value) == [KeyError]


async def test_an_error_of_a_child_comes_as_from_a_nursery() -> None:
    with pytest.raises(ExceptionGroup) as caught:
        async with open_scope() as scope:
            scope.start_soon(fail)
    assert leaves(caught.value) == [KeyError]


async def test_an_error_closes_what_the_scope_owns() -> None:
    semaphore = Semaphore(1)
    with pytest.raises(ExceptionGroup):
        async with open_scope() as scope:
            scope.own(semaphore)
            await fail()
    assert "closed" in repr(semaphore)


async def test_a_leak_alone_is_raised_alone() -> None:
    with pytest.raises(PermitLeakError):
        async with open_scope() as scope:
            await leak(scope)


async def test_a_leak_beside_an_error_joins_it_in_one_group() -> None:
    with pytest.raises(ExceptionGroup) as caught:
        async with open_scope() as scope:
            await leak(scope)
            await fail()
    assert [type(error) for error in caught.value.exceptions] == [KeyError, PermitLeakError]


async def test_except_star_takes_the_two_apart() -> None:
    got = []
    try:
        async with open_scope() as scope:
            await leak(scope)
            scope.start_soon(fail)
    except* KeyError:
        got.append("original")
    except* PermitLeakError:
        got.append("leak")
    assert got == ["original", "leak"]


async def test_the_original_error_keeps_its_traceback_beside_a_leak() -> None:
    with pytest.raises(ExceptionGroup) as caught:
        async with open_scope() as scope:
            await leak(scope)
            await fail()
    original = caught.value.exceptions[0]
    names = []
    traceback = original.__traceback__
    while traceback:
        names.append(traceback.tb_frame.f_code.co_name)
        traceback = traceback.tb_next
    assert names[-1] == "fail"


async def test_a_cancelled_scope_without_a_leak_ends_quietly() -> None:
    async with open_scope() as scope:
        scope.own(Semaphore(1))
        scope.cancel_scope.cancel()
        await trio.lowlevel.checkpoint()


async def test_a_cancelled_scope_with_a_leak_raises_the_leak() -> None:
    with pytest.raises(PermitLeakError):
        async with open_scope() as scope:
            await leak(scope)
            scope.cancel_scope.cancel()
            await trio.lowlevel.checkpoint()


async def test_a_cancellation_from_outside_passes_through_beside_a_leak() -> None:
    with pytest.raises(ExceptionGroup) as caught:
        with trio.CancelScope() as outer:
            async with open_scope() as scope:
                await leak(scope)
                outer.cancel()
                await trio.lowlevel.checkpoint()
    assert leaves(caught.value) == [PermitLeakError]


async def test_a_cancellation_from_outside_without_a_leak_passes_through() -> None:
    with trio.CancelScope() as outer:
        async with open_scope() as scope:
            scope.own(Semaphore(1))
            outer.cancel()
            await trio.lowlevel.checkpoint()
    assert outer.cancelled_caught


async def test_a_cancelled_child_that_used_a_block_leaks_nothing() -> None:
    async def use(semaphore: Semaphore) -> None:
        async with semaphore.permits(2):
            await trio.sleep_forever()

    async with open_scope() as scope:
        semaphore = scope.own(Semaphore(2, max_value=2))
        for _ in range(3):
            scope.start_soon(use, semaphore)
        await settle()
        scope.cancel_scope.cancel()
    assert semaphore.value == 2


async def test_leaks_of_nested_scopes_are_both_reported() -> None:
    with pytest.raises(ExceptionGroup) as caught:
        async with open_scope() as outer:
            await leak(outer)
            async with open_scope() as inner:
                await leak(inner)
    assert leaves(caught.value) == [PermitLeakError, PermitLeakError]


async def test_a_lock_that_broke_in_a_scope_is_named_beside_the_error_of_its_waiter() -> None:
    async def forget(lock: Lock) -> None:
        await lock.acquire()

    with pytest.raises(ExceptionGroup) as caught:
        async with open_scope() as scope:
            lock = scope.own(Lock())
            scope.start_soon(forget, lock)
            await settle()
            await lock.acquire()
    assert leaves(caught.value) == [trio.BrokenResourceError, PermitLeakError]


def run_and_interrupt(main: Callable[[], Awaitable[None]]) -> BaseException:
    with pytest.raises((KeyboardInterrupt, BaseExceptionGroup)) as caught:
        trio.run(main)
    return caught.value


def test_an_interrupt_in_the_body_closes_what_the_scope_owns() -> None:
    semaphore = Semaphore(1)

    async def main() -> None:
        async with open_scope() as scope:
            scope.own(semaphore)
            signal.raise_signal(signal.SIGINT)
            await trio.sleep_forever()

    assert leaves(run_and_interrupt(main)) == [KeyboardInterrupt]
    assert "closed" in repr(semaphore)


def test_an_interrupt_is_not_hidden_by_a_leak() -> None:
    async def main() -> None:
        async with open_scope() as scope:
            await leak(scope)
            signal.raise_signal(signal.SIGINT)
            await trio.sleep_forever()

    assert set(leaves(run_and_interrupt(main))) == {KeyboardInterrupt, PermitLeakError}


@pytest.mark.filterwarnings("ignore:.*strict_exception_groups")
def test_where_trio_raises_an_error_alone_a_leak_makes_a_group_of_both() -> None:
    async def main() -> None:
        async with open_scope() as scope:
            await leak(scope)
            await fail()

    with pytest.raises(ExceptionGroup) as caught:
        trio.run(main, strict_exception_groups=False)
    assert leaves(caught.value) == [KeyError, PermitLeakError]
