"""The pool is held against its specification in every schedule, with a cancellation at every point."""

from __future__ import annotations

import trio
from connections import Pool
from pool_spec import SIZE, PoolSpec
from traced import seen

from structsync import checking
from structsync.testing import explore


@explore()
async def test_every_schedule_is_one_that_the_specification_allows() -> None:
    with checking.validate(PoolSpec) as trace:

        def tell(step: str, pool: Pool) -> None:
            trace.happened(step, who=trio.lowlevel.current_task().name, state=seen(pool))

        pool = Pool(SIZE, tell)

        async def borrower() -> None:
            with trio.CancelScope():
                await pool.borrow()
                pool.put_back()

        async with trio.open_nursery() as nursery:
            for who in ("a", "b"):
                nursery.start_soon(borrower, name=who)
