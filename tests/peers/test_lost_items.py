"""What goes wrong in others' queues, in the two that a monitor makes: by a guard and by a condition."""

from trio.testing import wait_all_tasks_blocked

from structsync import Buffer, Monitor, entry

from .conftest import OneStep, Start


class Guarded(Monitor):
    """A get waits outside until there is something."""

    def __init__(self) -> None:
        super().__init__()
        self.items: list[str] = []

    @entry(when=lambda self: self.items != [])
    def get(self) -> str:
        return self.items.pop(0)

    def put(self, item: str) -> None:
        self.items.append(item)
        self.changed()


class Notified(Monitor):
    """A get waits inside, and looks again."""

    def __init__(self) -> None:
        super().__init__()
        self.items: list[str] = []
        self.filled = self.condition()

    @entry
    async def get(self) -> str:
        while not self.items:
            await self.filled.wait()
        return self.items.pop(0)


class Getters:
    """Tasks that get one item each."""

    def __init__(self, queue: Guarded | Notified) -> None:
        self.queue = queue
        self.got: dict[str, str] = {}

    async def get(self, name: str) -> None:
        self.got[name] = await self.queue.get()


async def test_an_item_put_while_its_getter_is_cancelled_is_not_lost(
    start: Start, one_step: OneStep
) -> None:
    """P15, tornadoweb/tornado#2826: it went to the getter that was cancelled, and no task had it."""
    queue = Guarded()
    getters = Getters(queue)
    first = await start(getters.get, "first")
    second = await start(getters.get, "second")
    cancel_first = await one_step(first.cancel, lambda: queue.put("item"))
    assert getters.got == {"second" if cancel_first else "first": "item"}
    queue.put("another")
    await wait_all_tasks_blocked()
    assert second.ended == "done"
    assert queue.items == (["another"] if cancel_first else [])


async def test_an_item_for_a_getter_with_a_cancellation_pending_goes_to_the_next(
    start: Start, one_step: OneStep
) -> None:
    """P16, anyio#146: it was handed to the receiver that raised Cancelled, and dropped (#728)."""
    queue = Notified()
    getters = Getters(queue)
    first = await start(getters.get, "first")
    await start(getters.get, "second")

    async def put() -> None:
        queue.items.append("item")
        await one_step(first.cancel, queue.filled.notify)

    await queue.entry(put)()
    await wait_all_tasks_blocked()
    assert first.ended == "cancelled"
    assert getters.got == {"second": "item"}


# ==== in ours ====


class Buffered(Getters):
    """Tasks that get one item each from a buffer."""

    def __init__(self) -> None:
        self.buffer = Buffer[str](1)
        self.got = {}

    async def get(self, name: str) -> None:
        self.got[name] = await self.buffer.get()


async def test_an_item_put_into_a_buffer_whose_getter_is_cancelled_is_not_lost(
    start: Start, one_step: OneStep
) -> None:
    """P15, tornadoweb/tornado#2826, and P16, anyio#146, for Buffer: grant beats cancel."""
    getters = Buffered()
    first = await start(getters.get, "first")
    await start(getters.get, "second")
    cancel_first = await one_step(first.cancel, lambda: getters.buffer.put_nowait("item"))
    await wait_all_tasks_blocked()
    assert getters.got == {"second" if cancel_first else "first": "item"}
    assert first.ended == ("cancelled" if cancel_first else "done")
    getters.buffer.close()


async def test_a_put_that_is_cancelled_has_put_nothing(start: Start, one_step: OneStep) -> None:
    """P13, P15 on the other side: room that is made while who waits for it is being cancelled."""
    buffer = Buffer[str](1)
    buffer.put_nowait("first")
    second = await start(buffer.put, "second")
    await start(buffer.put, "third")
    cancel_first = await one_step(second.cancel, buffer.get_nowait)
    await wait_all_tasks_blocked()
    assert buffer.get_many_nowait(3) == ["third" if cancel_first else "second"]
    assert second.ended == ("cancelled" if cancel_first else "done")
    buffer.close()
