"""One token per borrower, even if the borrower waits twice.

Two tasks wait for a token on behalf of the same job. When two tokens are released, trio grants both
waits and counts one token (O5): the books are wrong, and the second release raises. Ours refuses the
second wait at once.

Prints::

    trio: 2 grants, 1 token counted
    trio: the second release raises RuntimeError
    structsync: RuntimeError: this borrower is already waiting for one of this CapacityLimiter's tokens
    structsync: 1 grant, 1 token counted
"""

import trio
from trio.testing import wait_all_tasks_blocked

import structsync


async def grants_for_two_waits(limiter: trio.CapacityLimiter | structsync.CapacityLimiter) -> int:
    grants = 0

    async def borrow() -> None:
        nonlocal grants
        try:
            await limiter.acquire_on_behalf_of("job")
        except RuntimeError as error:
            print(f"structsync: RuntimeError: {error}")
        else:
            grants += 1

    for other in ("other job", "third job"):
        limiter.acquire_on_behalf_of_nowait(other)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(borrow)
        nursery.start_soon(borrow)
        await wait_all_tasks_blocked()
        for other in ("other job", "third job"):
            limiter.release_on_behalf_of(other)
    return grants


async def main() -> None:
    limiter = trio.CapacityLimiter(2)
    grants = await grants_for_two_waits(limiter)
    print(f"trio: {grants} grants, {limiter.borrowed_tokens} token counted")
    limiter.release_on_behalf_of("job")
    try:
        limiter.release_on_behalf_of("job")
    except RuntimeError:
        print("trio: the second release raises RuntimeError")

    ours = structsync.CapacityLimiter(2)
    grants = await grants_for_two_waits(ours)
    print(f"structsync: {grants} grant, {ours.borrowed_tokens} token counted")


trio.run(main)
