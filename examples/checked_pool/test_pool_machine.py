"""Hypothesis takes the steps of the specification with the real pool, and compares after each."""

from __future__ import annotations

from connections import Pool
from pool_spec import SIZE, PoolSpec
from traced import seen

from structsync import checking


class PoolAdapter(checking.Adapter):
    """Makes a pool do what the specification does."""

    def __init__(self) -> None:
        self.pool = Pool(SIZE)
        self.having: set[str] = set()

    async def borrow(self, who: str) -> None:
        await self.pool.borrow()
        self.having.add(who)

    def give_up(self, who: str) -> None:
        self.cancel("borrow", who=who)

    def put_back(self, who: str) -> None:
        self.having.remove(who)
        self.pool.put_back()

    def state(self) -> dict[str, object]:
        return {**seen(self.pool), "having": tuple(sorted(self.having))}


TestPool = checking.machine(PoolSpec, PoolAdapter).TestCase
