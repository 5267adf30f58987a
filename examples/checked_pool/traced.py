"""A program with a pool, held against the specification of the pool while it runs."""

from __future__ import annotations

import sys

import trio
from connections import ForgetfulPool, Pool
from pool_spec import SIZE, PoolSpec
from trio.testing import MockClock

from structsync import checking


async def borrower(pool: Pool, patience: float, work: float) -> None:
    with trio.move_on_after(patience):
        await pool.borrow()
        with trio.CancelScope(shield=True):
            await trio.sleep(work)
        pool.put_back()


async def program(pool: Pool) -> None:
    """Three borrowers of one connection; b loses patience before it is served."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(borrower, pool, 9, 0.05, name="a")
        await trio.sleep(0.01)
        nursery.start_soon(borrower, pool, 0.01, 0.05, name="b")
        await trio.sleep(0.01)
        nursery.start_soon(borrower, pool, 9, 0.05, name="c")


def seen(pool: Pool) -> dict[str, object]:
    """What can be seen of a pool, by the names of `PoolSpec.observed`."""
    return {"free": pool.free, "waiting": len(pool.waiting)}


def traced(kind: type[Pool]) -> int:
    """Run the program with a pool, and return how many events the specification has allowed."""
    with checking.validate(PoolSpec) as trace:

        def tell(step: str, pool: Pool) -> None:
            trace.happened(step, who=trio.lowlevel.current_task().name, state=seen(pool))

        trio.run(program, kind(SIZE, tell), clock=MockClock(autojump_threshold=0))
    return trace.events


def recorded(kind: type[Pool], file: str) -> None:
    """Run the program with a pool, and write down what it does."""
    with checking.record(file) as trace:

        def tell(step: str, pool: Pool) -> None:
            trace.happened(step, who=trio.lowlevel.current_task().name, state=seen(pool))

        trio.run(program, kind(SIZE, tell), clock=MockClock(autojump_threshold=0))


if __name__ == "__main__":
    recorded(ForgetfulPool, sys.argv[1])
