"""Priorities that starve no task.

trio's primitives have one order, that of arrival. These take ``policy="priority"``: the smaller number goes
first. ``ageing`` bounds how many later arrivals per level may overtake a request, so that the report below is
delayed and not starved; ``ageing=None`` means strict levels.

Prints::

    ageing=3:    ['urgent 1', 'urgent 2', 'report', 'urgent 3', 'urgent 4']
    ageing=None: ['urgent 1', 'urgent 2', 'urgent 3', 'urgent 4', 'report']
"""

import trio

import structsync


async def grants(ageing: int | None) -> list[str]:
    """Return the order in which tasks got the permit: the report requested it before the others."""
    permit = structsync.Semaphore(1, max_value=1, policy="priority", ageing=ageing)
    granted: list[str] = []
    async with trio.open_nursery() as nursery:

        async def use(name: str, request: structsync.Request[int]) -> None:
            with request:
                await request.wait()
                granted.append(name)

        async with permit:
            nursery.start_soon(use, "report", permit.request(priority=1))
            for number in range(1, 5):
                nursery.start_soon(use, f"urgent {number}", permit.request(priority=0))
    return granted


async def main() -> None:
    print("ageing=3:   ", await grants(3))
    print("ageing=None:", await grants(None))


trio.run(main)
