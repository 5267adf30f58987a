"""Uncontended acquires that do not go through the scheduler.

With trio every ``async with lock:`` goes through the scheduler once, even if the lock is free: that
is most of its cost. ``checkpoint="budget"`` allows up to 127 uncontended acquires in a row without a
schedule point. Each of them still checks for cancellation.

Prints::

    trio: 128 acquires, 128 schedule points
    structsync, checkpoint="always": 128 acquires, 128 schedule points
    structsync, checkpoint="budget": 128 acquires, 1 schedule point
    structsync, checkpoint="budget": cancelled at the first acquire
"""

import trio

import structsync


class Turns(trio.abc.Instrument):
    """Counts how often the scheduler runs the task that made this."""

    def __init__(self) -> None:
        self.task = trio.lowlevel.current_task()
        self.count = 0

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        self.count += task is self.task


async def schedule_points(lock: trio.Lock | structsync.Lock) -> int:
    turns = Turns()
    trio.lowlevel.add_instrument(turns)
    for _ in range(128):
        async with lock:
            pass
    trio.lowlevel.remove_instrument(turns)
    return turns.count


async def main() -> None:
    print(f"trio: 128 acquires, {await schedule_points(trio.Lock())} schedule points")
    always = await schedule_points(structsync.Lock())
    print(f'structsync, checkpoint="always": 128 acquires, {always} schedule points')
    lock = structsync.Lock(checkpoint="budget")
    budget = await schedule_points(lock)
    print(f'structsync, checkpoint="budget": 128 acquires, {budget} schedule point')
    with trio.CancelScope() as scope:
        scope.cancel()
        await lock.acquire()
    if scope.cancelled_caught and not lock.locked():
        print('structsync, checkpoint="budget": cancelled at the first acquire')


trio.run(main)
