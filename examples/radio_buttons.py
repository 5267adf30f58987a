"""Three radio buttons under a synchronizer: at most one is on, and the buttons know nothing of it.

Each button turns on and off in turn by its own guards. That no two are on is a rule over all three,
for as long as the block lasts.

Prints::

    left is on
    right waits
    left is off
    right is on
    after the block: left is on, too
"""

import trio
from trio.testing import wait_all_tasks_blocked

from structsync import Monitor, Synchronizer, entry


class RadioButton(Monitor):
    is_on = False

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    @entry(when=lambda self: not self.is_on)
    def on(self) -> None:
        self.is_on = True

    @entry(when=lambda self: self.is_on)
    def off(self) -> None:
        self.is_on = False


async def main() -> None:
    buttons = [RadioButton(name) for name in ("left", "middle", "right")]
    left, _, right = buttons
    lit: list[RadioButton] = []  # what the synchronizer knows of all of them

    async with trio.open_nursery() as nursery:
        async with Synchronizer() as synchronizer:
            for button in buttons:

                def turned_on(button: RadioButton = button) -> None:
                    lit.append(button)
                    print(f"{button.name} is on")

                def turned_off(button: RadioButton = button) -> None:
                    lit.remove(button)
                    print(f"{button.name} is off")

                synchronizer.disable(button.on, when=lambda: bool(lit))
                synchronizer.trigger(button.on, turned_on)
                synchronizer.trigger(button.off, turned_off)

            await left.on()
            nursery.start_soon(right.on)
            await wait_all_tasks_blocked()
            print("right waits")
            await left.off()
            await wait_all_tasks_blocked()
        await left.on()
        print("after the block: left is on, too")


trio.run(main)
