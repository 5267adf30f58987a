"""A limit that changes while tasks wait for it.

trio.Semaphore keeps the size it was made with. ``resize()`` changes how many permits exist: those
that are out stay out, so the value may be negative for a while, and each request that fits now is granted.

Prints::

    before:  granted, pending, pending; value 0
    grown:   granted, granted, granted; value 0
    shrunk:  granted, granted, granted; value -2
    newcomer, while three permits are released: pending, pending, granted
"""

import trio

import structsync


async def main() -> None:
    limit = structsync.Semaphore(1, max_value=1)
    requests = [limit.request() for _ in range(3)]

    def show(when: str) -> None:
        print(f"{when:<8} {', '.join(r.status for r in requests)}; value {limit.value}")

    show("before:")
    limit.resize(3)
    show("grown:")
    limit.resize(1)
    show("shrunk:")
    newcomer = limit.request()
    seen = []
    for _ in requests:
        limit.release()
        seen.append(newcomer.status)
    print("newcomer, while three permits are released:", ", ".join(seen))
    limit.release()


trio.run(main)
