"""ResourcePool: every schedule of a few tasks, any of them cancelled wherever an item is made, checked or closed."""

from __future__ import annotations

from functools import partial

from trio.lowlevel import checkpoint

from structsync import ResourcePool
from structsync.testing import ExploredRun

from .closing import closed_meanwhile
from .sweeping import swept, together

SIZE = 1  # of the pools: a lost item takes the last place along


class Shelf:
    """Where items are made, checked and closed, each with a moment in which its task may be cancelled."""

    def __init__(self, x: ExploredRun) -> None:
        self.x = x
        self.made = 0
        self.exist = 0  # those that are being made or closed, too
        self.fails = False  # the next to be made
        self.spoilt = 0  # the item that fails its check
        self.unfinished: set[int] = set()  # whose check or block has begun and not ended
        x.always(lambda: self.exist <= SIZE, "no more items exist than there are places")

    async def make(self) -> int:
        self.exist += 1
        try:
            await checkpoint()
            if self.fails:
                self.fails = False
                raise OSError
        except BaseException:
            self.exist -= 1
            raise
        self.made += 1
        return self.made

    async def check(self, item: int) -> bool:
        if item in self.unfinished:
            self.x.fail("an item is lent whose check was cancelled")
        self.unfinished.add(item)
        await checkpoint()
        self.unfinished.remove(item)
        return item != self.spoilt

    async def close(self, item: int) -> None:
        await checkpoint()
        self.exist -= 1

    def whole(self, pool: ResourcePool[int]) -> None:
        """Demand that at the end nothing is lent, and what exists is idle."""
        self.x.finally_(lambda: pool.statistics().lent == 0, "every place is free")
        self.x.finally_(lambda: pool.statistics().idle == self.exist, "no item is lost")


@swept(least=60, twice=True)
async def test_an_item_is_lent_to_one_task_at_a_time_and_comes_back(
    x: ExploredRun, tasks: int
) -> None:
    """encode/httpcore #1093 among them: who queues is cancelled as a place becomes free."""
    shelf = Shelf(x)
    pool = ResourcePool(shelf.make, SIZE)
    shelf.whole(pool)

    async def borrow() -> None:
        async with pool.item(keep_on_error=True) as item:
            with x.exclusive(str(item)):
                await checkpoint()

    await together(*[borrow] * tasks)


@swept(least=60)
async def test_whatever_ends_a_check_or_a_close_frees_the_place(x: ExploredRun, tasks: int) -> None:
    shelf = Shelf(x)
    pool = ResourcePool(shelf.make, SIZE, check=shelf.check, close=shelf.close)
    shelf.whole(pool)
    shelf.spoilt = 1
    fit = 0

    async def borrow(*, discards: bool) -> None:
        nonlocal fit
        async with pool.item() as item:
            if item == shelf.spoilt and fit:
                x.fail("an item is lent that fails its check")
            fit = item
            if discards:
                pool.discard(item)

    tasks_of_both_kinds = [partial(borrow, discards=place == 1) for place in range(tasks)]
    await together(*tasks_of_both_kinds)


@swept(least=30)
async def test_a_task_that_fails_to_make_an_item_leaves_its_place_to_the_next(
    x: ExploredRun, tasks: int
) -> None:
    shelf = Shelf(x)
    pool = ResourcePool(shelf.make, SIZE, close=shelf.close)
    shelf.whole(pool)
    shelf.fails = True

    async def borrow() -> None:
        try:
            async with pool.item() as item:
                if item in shelf.unfinished:
                    x.fail("an item is lent whose block was cancelled")
                shelf.unfinished.add(item)
                await checkpoint()
                shelf.unfinished.remove(item)
        except OSError:
            if shelf.fails:
                x.fail("this was not made here")

    await together(*[borrow] * tasks)


@swept(least=30)
async def test_closing_sends_every_waiting_task_away(x: ExploredRun, tasks: int) -> None:
    shelf = Shelf(x)
    pool = ResourcePool(shelf.make, SIZE, close=shelf.close)
    shelf.whole(pool)

    async def use() -> None:
        async with pool.item():
            await checkpoint()

    await closed_meanwhile(x, pool, *[use] * (tasks - 1))
