"""Radio buttons in separate processes, and in another process the rule that at most one is on.

Each button knows only itself: it turns on and off in turn, by its own guards. That no two are on is a rule of
this process, which counts by triggers. A call that asks whether a button is on does not wait for the rule: it
overtakes the call that does.

Prints::

    left is on
    right waits for the rule, and tells meanwhile that it is on: False
    left is off
    right is on
"""

import sys
import tempfile
from pathlib import Path

import trio

from structsync import Monitor, entry
from structsync.distributed import open_session

NAMES = ("left", "middle", "right")


class RadioButton(Monitor):
    def __init__(self) -> None:
        super().__init__()
        self.is_on = False

    @entry(when=lambda self: not self.is_on)
    async def on(self) -> None:
        self.is_on = True

    @entry(when=lambda self: self.is_on)
    async def off(self) -> None:
        self.is_on = False

    @entry
    async def tell(self) -> bool:
        return self.is_on


async def child(url: str, name: str) -> None:
    async with open_session(url, namespace="example") as session:
        async with session.host(name, RadioButton(), ruled_by="radio", ruled=["on", "off"]):
            await trio.sleep_forever()


async def parent(url: str) -> None:
    async with open_session(url, namespace="example") as session, trio.open_nursery() as nursery:
        for name in NAMES:
            nursery.start_soon(trio.run_process, [sys.executable, __file__, url, name])
        left, _, right = [session.connect(name, RadioButton) for name in NAMES]
        lit: list[str] = []
        denied = trio.Event()

        def is_denied() -> bool:
            if lit:
                denied.set()
            return bool(lit)

        def turned_on(name: str) -> None:
            lit.append(name)
            print(f"{name} is on")

        def turned_off(name: str) -> None:
            lit.remove(name)
            print(f"{name} is off")

        async with session.synchronizer("radio") as radio:
            for name in NAMES:
                button = radio.stand_in(name, RadioButton)
                radio.rules.disable(button.on, when=is_denied)
                radio.rules.trigger(button.on, lambda name=name: turned_on(name))
                radio.rules.trigger(button.off, lambda name=name: turned_off(name))

            await left.on()
            denied = trio.Event()
            async with trio.open_nursery() as clicks:
                clicks.start_soon(right.on)
                await denied.wait()
                is_on = await right.tell()
                print(f"right waits for the rule, and tells meanwhile that it is on: {is_on}")
                await left.off()
        nursery.cancel_scope.cancel()


if len(sys.argv) > 1:
    trio.run(child, sys.argv[1], sys.argv[2])
elif sys.platform != "linux":
    sys.exit("sqlite:// needs Linux")
else:
    with tempfile.TemporaryDirectory() as folder:
        trio.run(parent, f"sqlite://{Path(folder).resolve()}/buttons.db")
