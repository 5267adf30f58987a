"""trio.CapacityLimiter: two tasks that wait on behalf of one borrower are both granted a token, and one is counted."""

import trio
from trio.testing import wait_all_tasks_blocked


async def main() -> tuple[int, int]:
    limiter = trio.CapacityLimiter(1)
    borrower = object()
    granted: list[str] = []

    async def waits() -> None:
        await limiter.acquire_on_behalf_of(borrower)
        granted.append("a token")

    async with limiter, trio.open_nursery() as nursery:
        nursery.start_soon(waits)
        nursery.start_soon(waits)
        await wait_all_tasks_blocked()
        limiter.total_tokens = 3
    return len(granted), int(limiter.borrowed_tokens)


granted, counted = trio.run(main)
if granted != counted:
    raise SystemExit(f"shown: {granted} were granted a token, and {counted} is lent")
