"""A position in the queue that is taken now, waited for later, and given up from anywhere.

With trio a position in the queue is a task that sleeps there, and giving it up means cancelling that task.
Here a request is an object: any task that has it may withdraw it, and the requests behind it move up.

Prints::

    large: pending, small: pending
    withdrawn: True
    large: withdrawn, small: granted
    withdrawn again: False
    wait() on it: RequestWithdrawn
"""

import trio

import structsync


async def main() -> None:
    permits = structsync.Semaphore(3, max_value=3)
    async with permits.permits(2):
        large = permits.request(3)  # queued from this call on; no task sleeps
        with permits.request(1) as small:  # one permit is free, but no request overtakes
            print(f"large: {large.status}, small: {small.status}")
            print("withdrawn:", large.withdraw())
            print(f"large: {large.status}, small: {small.status}")
            await small.wait()
        print("withdrawn again:", large.withdraw())
        try:
            await large.wait()
        except structsync.RequestWithdrawn:
            print("wait() on it: RequestWithdrawn")


trio.run(main)
