"""A progress bar over the jobs of a pool.

``statistics()`` of a pool counts the jobs that wait, that run, and that have ended in each way. A bar that
reads it now and then costs the jobs nothing. The bar is drawn on stderr by rich, which structsync itself
uses.

Prints::

    done: 38, failed: 2
"""

import rich.console
import rich.progress
import trio

import structsync

FILES = 40


async def download(number: int) -> None:
    await trio.sleep(0.002)
    if number % 20 == 7:
        raise OSError(f"file {number} is gone")


async def try_to_download(pool: structsync.TaskPool, number: int) -> None:
    try:
        await pool.run(download, number)  # its error comes here, and leaves the others alone
    except OSError:
        pass


async def show(pool: structsync.TaskPool, bar: rich.progress.Progress) -> None:
    shown = bar.add_task("files", total=FILES)
    while not bar.finished:
        now = pool.statistics()
        bar.update(shown, completed=now.done + now.failed, description=f"{now.running} running")
        await trio.sleep(0.01)


async def main() -> None:
    with rich.progress.Progress(console=rich.console.Console(stderr=True)) as bar:
        async with structsync.open_pool(4) as pool, trio.open_nursery() as nursery:
            nursery.start_soon(show, pool, bar)
            for number in range(FILES):
                nursery.start_soon(try_to_download, pool, number)
    end = pool.statistics()
    print(f"done: {end.done}, failed: {end.failed}")


trio.run(main)
