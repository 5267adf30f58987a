"""Functions put under a monitor while the program runs, and removed again.

The functions are ordinary ones, and know nothing of the monitor. Any code that has the monitor can put more
functions under it; this is ``doWhenFree``, as proposed for monitors in Lua.

Prints::

    celsius is 25, fahrenheit still 32: 1 call waits to read
    fahrenheit is 77
    closed: the entry set_celsius was taken out of its monitor
    the function itself still works, unguarded: 30
"""

from types import SimpleNamespace

import trio
from trio.testing import wait_all_tasks_blocked

from structsync import Monitor

room = SimpleNamespace(celsius=0, fahrenheit=32)
display = trio.Event()


async def set_celsius(degrees: int) -> int:
    room.celsius = degrees
    await display.wait()  # a bad moment to look: the two differ
    room.fahrenheit = degrees * 9 // 5 + 32
    return degrees


def show() -> None:
    print("fahrenheit is", room.fahrenheit)


async def main() -> None:
    thermometer = Monitor()
    change = thermometer.entry(set_celsius)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(change, 25)
        await wait_all_tasks_blocked()
        nursery.start_soon(thermometer.entry(show))  # put under it now, while a call is inside
        await wait_all_tasks_blocked()
        waiting = thermometer.statistics().tasks_waiting
        differ = f"celsius is {room.celsius}, fahrenheit still {room.fahrenheit}"
        print(f"{differ}: {waiting} call waits to read")
        display.set()

    change.close()
    try:
        await change(30)
    except trio.ClosedResourceError as error:
        print("closed:", error)
    print("the function itself still works, unguarded:", await set_celsius(30))


trio.run(main)
