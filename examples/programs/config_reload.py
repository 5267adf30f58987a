"""A configuration that is read at any time and reloaded now and then; no task sees half of a new one.

Readers do not wait for each other. A task that reloads writes field by field, alone, and then tries the new
values out: it continues as a reader in the same step, so that no other task reloads in between, and readers are let
in already.

Prints::

    3 read: ('old host', 1)
    while the new one is tried out, 3 read: ('new host', 2)
    a file that cannot be read changes nothing: ('new host', 2)
"""

from collections.abc import Awaitable, Callable

import trio

from structsync import RWLock
from structsync.testing import ExploredRun, explore

Fields = tuple[str, int]


class Config:
    """Two fields that belong together."""

    def __init__(self, host: str, version: int) -> None:
        self.host, self.version = host, version
        self.lock = RWLock(name="config")

    async def read(self) -> Fields:
        async with self.lock.reading():
            host = self.host
            await trio.lowlevel.checkpoint()  # to do something with it
            return host, self.version

    async def reload(
        self, load: Callable[[], Awaitable[Fields]], try_out: Callable[[], Awaitable[None]]
    ) -> None:
        host, version = await load()
        async with self.lock.writing():
            self.host = host
            with trio.CancelScope(shield=True):  # what is begun is finished
                await trio.lowlevel.checkpoint()
            self.version = version
            self.lock.downgrade()
            await try_out()


async def main() -> None:
    config = Config("old host", 1)

    async def read_thrice() -> str:
        found: list[Fields] = []

        async def read() -> None:
            found.append(await config.read())

        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(read)
        return f"{len(found)} read: {', '.join(map(str, set(found)))}"

    async def load() -> Fields:
        return "new host", 2

    async def load_nothing() -> Fields:
        raise OSError("no such file")

    async def try_out() -> None:
        print("while the new one is tried out,", await read_thrice())

    print(await read_thrice())
    await config.reload(load, try_out)
    try:
        await config.reload(load_nothing, try_out)
    except OSError:
        print("a file that cannot be read changes nothing:", await config.read())


@explore(exhaustive=True, search="states")
async def test_no_task_reads_half_of_a_configuration(x: ExploredRun) -> None:
    config = Config("host 1", 1)

    async def load() -> Fields:
        return "host 2", 2

    async def try_out() -> None:
        await trio.lowlevel.checkpoint()

    async def read() -> None:
        with trio.CancelScope():
            host, version = await config.read()
            assert host == f"host {version}"

    async def reload() -> None:
        with trio.CancelScope():
            await config.reload(load, try_out)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(read)
        nursery.start_soon(reload)
        nursery.start_soon(read)
    assert config.host == f"host {config.version}"


if __name__ == "__main__":
    trio.run(main)
