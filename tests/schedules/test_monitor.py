"""Monitor: every schedule of a few tasks, and any of them cancelled anywhere."""

from __future__ import annotations

from trio.lowlevel import checkpoint

from structsync import Monitor, entry
from structsync.testing import ExploredRun

from .sweeping import swept, together


class Slot(Monitor):
    """Room for one item; the bodies may be cancelled in the middle."""

    def __init__(self, x: ExploredRun) -> None:
        super().__init__()
        self.x = x
        self.full = True

    @entry(when=lambda self: not self.full)
    async def put(self) -> None:
        with self.x.exclusive("the slot"):
            await checkpoint()
            self.full = True

    @entry(when=lambda self: self.full)
    async def get(self) -> None:
        with self.x.exclusive("the slot"):
            await checkpoint()
            self.full = False


@swept(least=20)
async def test_one_task_is_inside_and_its_guard_holds(x: ExploredRun, tasks: int) -> None:
    slot = Slot(x)

    async def user() -> None:
        await slot.get()
        slot.full = True
        slot.changed()

    await together(*[user] * tasks)
