"""How long do customers wait at the till, and which of them waited longest? Metrics of a running program.

Three customers pay at one till, two seconds each, so the second waits for two seconds and the third for four.
The clock is a mock clock of trio, which skips the waiting.

Prints::

    Lock 'till': 3 granted, 1 at once
    half waited at most 2.0 s, the longest 4.0 s: Carol
    held for 6.0 s in all
    structsync_wait_seconds_sum{kind="Lock",name="till"} 6.0
"""

import trio
import trio.testing

import structsync


async def pay(till: structsync.Lock) -> None:
    async with till:
        await trio.sleep(2)


async def main() -> None:
    till = structsync.Lock(name="till")
    with structsync.observe.metrics() as metrics:
        async with trio.open_nursery() as nursery:
            for name in ("Alice", "Bob", "Carol"):
                nursery.start_soon(pay, till, name=name)
                await trio.testing.wait_all_tasks_blocked()
    (one,) = metrics.primitives()
    print(f"{one.kind} {one.name!r}: {one.granted} granted, {one.waits.at_most(0.001)} at once")
    print(
        f"half waited at most {one.waits.quantile(0.5):.1f} s, "
        f"the longest {one.waits.longest:.1f} s: {one.longest_waiter}"
    )
    print(f"held for {one.holds.total:.1f} s in all")
    print(*(line for line in metrics.to_prometheus().splitlines() if "wait_seconds_sum" in line))


trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))
