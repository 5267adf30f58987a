"""trio-websocket: a ping that is cancelled before it is sent is taken for one in flight, forever."""

import trio
from trio.testing import memory_stream_pair, wait_all_tasks_blocked
from trio_websocket import wrap_client_stream, wrap_server_stream


async def main() -> str:
    near, far = memory_stream_pair()
    problem = ""

    async def serves() -> None:
        request = await wrap_server_stream(nursery, far)
        await request.accept()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(serves)
        connection = await wrap_client_stream(nursery, near, "here", "/")
        with trio.CancelScope() as scope:
            scope.cancel()
            await connection.ping(b"a")
        await wait_all_tasks_blocked()
        try:
            await connection.ping(b"a")
        except ValueError as error:
            problem = str(error)
        nursery.cancel_scope.cancel()
    return problem


if problem := trio.run(main):
    raise SystemExit(f"shown: nothing was sent before, but {problem}")
