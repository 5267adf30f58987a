"""A few workers do many jobs, the urgent ones first.

Here one worker has three jobs of level 2, and a job of level 1 comes later. The worker finishes what it has
begun, and then takes the urgent job. ``submit`` returns a handle, ``run`` the result, and ``map`` the results
of many items, which are taken only a few ahead of the loop.

Prints::

    task 1, of level 2
    task 4, of level 1
    task 2, of level 2
    task 3, of level 2
    task 4 said 'as fast as I could', and its status is done
    1 + 1 = 2
    squares: 0 1 4 9 16
"""

import trio

import structsync


async def task(number: int, level: int) -> str:
    print(f"task {number}, of level {level}")
    await trio.sleep(0.01)
    return "as fast as I could" if level == 1 else "in my turn"


async def add(a: int, b: int) -> int:
    return a + b


async def square(number: int) -> int:
    await trio.lowlevel.checkpoint()
    return number * number


async def main() -> None:
    async with structsync.open_pool(1, policy="priority", max_queued=3) as pool:
        for number in (1, 2, 3):
            await pool.submit(task, number, 2, priority=2)
        job = await pool.submit(task, 4, 1, priority=1)
    # Leaving the block has waited for all of them.
    print(f"task 4 said {job.result()!r}, and its status is {job.status}")

    async with structsync.open_pool(3) as pool:
        print("1 + 1 =", await pool.run(add, 1, 1))
        squares = [result async for result in pool.map(square, range(5))]
        print("squares:", *squares)


trio.run(main)
