from fixed_queue import BoundedQueue
from traffic import traffic

from structsync.testing import explore


@explore(exhaustive=True)
async def test_all_tasks_are_served() -> None:
    await traffic(BoundedQueue(1, "first"))
