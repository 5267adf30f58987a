"""Blocks and unblocks commute: n unblocks let n blocks pass, in any order."""

import itertools

import pytest
import trio
import trio.testing

from structsync import Parker

settle = trio.testing.wait_all_tasks_blocked


async def block(parker: Parker, times: int, passed: list[str]) -> None:
    for _ in range(times):
        await parker.block()
        passed.append("passed")


@pytest.mark.parametrize("order", sorted(set(itertools.permutations("bbuu"))), ids="".join)
async def test_two_unblocks_let_two_blocks_pass_in_any_order(order: tuple[str, ...]) -> None:
    parker, passed = Parker(), []  # type: ignore[var-annotated]
    async with trio.open_nursery() as nursery:
        may_block = trio.Semaphore(0)

        async def blocker() -> None:
            for _ in range(2):
                await may_block.acquire()
                await block(parker, 1, passed)

        nursery.start_soon(blocker)
        for verb in order:
            if verb == "u":
                parker.unblock()
            else:
                may_block.release()
            await settle()
    assert passed == ["passed"] * 2
    assert parker.statistics().unblocks == 0


async def test_unblocks_that_no_task_used_are_counted() -> None:
    parker = Parker()
    parker.unblock()
    parker.unblock()
    assert parker.statistics().unblocks == 2


async def test_a_second_task_that_blocks_is_refused() -> None:
    parker = Parker()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(parker.block)
        await settle()
        with pytest.raises(trio.BusyResourceError, match="another task already blocks"):
            await parker.block()
        parker.unblock()


async def test_the_refusal_of_a_second_task_hides_nothing_behind_it() -> None:
    parker = Parker()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(parker.block)
        await settle()
        with pytest.raises(trio.BusyResourceError) as refused:
            await parker.block()
        assert refused.value.__suppress_context__
        parker.unblock()


async def test_an_unblock_by_a_foreign_thread_outside_a_run_is_kept() -> None:
    parker = Parker()
    await trio.to_thread.run_sync(parker.unblock)
    with trio.fail_after(60):
        await parker.block()
