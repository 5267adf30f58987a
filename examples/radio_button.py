"""A radio button by guards: on and off strictly in turn, in whatever order tasks call.

The functions only change the state; when each may run stands beside them, and can be changed while
the program runs.

Prints::

    on, by a
    off, by b
    on, by c
"""

import trio
from trio.testing import wait_all_tasks_blocked

from structsync import Monitor, entry


class RadioButton(Monitor):
    is_on = False

    @entry(when=lambda self: not self.is_on)
    def on(self, who: str) -> None:
        self.is_on = True
        print(f"on, by {who}")

    @entry(when=lambda self: self.is_on)
    def off(self, who: str) -> None:
        self.is_on = False
        print(f"off, by {who}")


async def main() -> None:
    button = RadioButton()
    async with trio.open_nursery() as nursery:
        for verb, who in ((button.on, "a"), (button.on, "c"), (button.off, "b")):
            nursery.start_soon(verb, who)
            await wait_all_tasks_blocked()


trio.run(main)
