"""A socket through which `structsync top` looks at a program that runs."""

from __future__ import annotations

import hmac
import json
import logging
import os
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import trio

from structsync._runtime.arguments import check_count

from .endpoint import listen_on_loopback, listen_on_path, remove_own
from .inspected import Inspected

#: A question is short; an answer that is not taken in this time is given up, as is a client that asks nothing.
MOST_QUESTION, SECONDS_TO_TAKE, SECONDS_TO_ASK = 1024, 5, 60
#: So many clients may look at once, and each may ask that often.
MOST_CONNECTIONS, SECONDS_BETWEEN = 8, 0.05
MOST_PORT = 2**16 - 1
#: Where no connection can be accepted, because too many files are open.
SECONDS_AFTER_ERROR = 1
_log = logging.getLogger("structsync")


@final
@dataclass(frozen=True, slots=True)
class Inspector:
    """Where clients can connect; what :func:`serve_inspector` yields.

    Attributes:
      path: of the unix socket, if there is one.
      port: on 127.0.0.1, if it listens there.
    """

    path: Path | None
    port: int | None


def serve_inspector(
    path: str | os.PathLike[str] | None = None,
    *,
    port: int | None = None,
    token: str | None = None,
) -> AbstractAsyncContextManager[Inspector]:
    """Let ``structsync top`` look at this program while the block runs.

    ::

        async with structsync.serve_inspector("/run/user/1000/shop.sock"):
            await serve_customers()

    and in another terminal ``structsync top /run/user/1000/shop.sock``.

    It shows the live primitives, which tasks hold them, which wait and for how long, and the functions in
    which these tasks are. It shows no values of variables, runs no code, and changes nothing: of a
    :class:`Value` or a primitive of your own it shows no state, and a holder that is not a task is called by
    its class. Rates such as grants per second need :func:`observe.metrics` around it, exact waiting times
    :func:`trace_waits`.

    Only the user of this process may connect. A unix socket gets the mode 0600, and must be in a folder
    that no other user can write to. With ``port`` instead it listens on 127.0.0.1, where other users of the
    machine can connect, too, so it requires ``token``. It listens nowhere else.

    It costs nothing while no client is connected. Snapshots take at most a fiftieth of the program's time,
    however large the program is; meanwhile the last one is reused. A client that sends garbage, reads
    slowly or connects too often is dropped.

    Args:
      path: of the unix socket to create; a socket left by a program that has ended is replaced.
      port: instead of a path, the port of 127.0.0.1 to listen on; 0 for any free one.
      token: with ``port``: what a client has to send first, at least 16 characters.

    Raises:
      ValueError: if not exactly one of ``path`` and ``port`` is given, the port is not a port number, or the
          token is short.
      TypeError: if the port is not an int, or there is no token for it.
      PermissionError: if another user could replace the socket.
      FileExistsError: if another program listens there.
      RuntimeError: if there are no unix sockets here.
    """
    if (path is None) == (port is None):
        raise ValueError("give serve_inspector() either a path or port= with token=")
    if port is None and token is not None:
        raise ValueError("a token is for port=; the socket at a path has an owner instead")
    if port is not None:
        check_count(port, "port", least=0)
        if port > MOST_PORT:  # of which a socket would take the rest, and listen on another one
            raise ValueError(f"port must be <= {MOST_PORT}, not {port}")
    return _serving(None if path is None else Path(path), port or 0, token)


@asynccontextmanager
async def _serving(path: Path | None, port: int, token: str | None) -> AsyncIterator[Inspector]:
    if path is None:
        listener = await listen_on_loopback(port, token)
        inspector = Inspector(None, listener.socket.getsockname()[1])
    else:
        listener = await listen_on_path(path)
        inspector = Inspector(path, None)
    made = None if path is None else os.lstat(path)
    server = _Server(listener, token)
    # Not in a nursery round the block: its errors would leave it in an exception group.
    trio.lowlevel.spawn_system_task(server.run, name="structsync inspector")
    try:
        yield inspector
    finally:
        server.scope.cancel()
        with trio.CancelScope(shield=True):
            await server.done.wait()
        if path is not None and made is not None:
            remove_own(path, made)


class _Server:
    def __init__(self, listener: trio.SocketListener, token: str | None) -> None:
        self._listener = listener
        self._token = token
        self._inspected = Inspected()
        self._connections = 0
        self.scope = trio.CancelScope()
        self.done = trio.Event()

    async def run(self) -> None:
        """Serve until the scope is cancelled; never raise, which would end the program."""
        try:
            with self.scope:
                async with trio.open_nursery() as nursery:
                    await self._accept(nursery)
        except Exception:  # noqa: BLE001
            _log.exception("the inspector failed and has ended")
        finally:
            self._listener.socket.close()
            self.done.set()

    async def _accept(self, nursery: trio.Nursery) -> None:
        while True:
            try:
                stream = await self._listener.accept()
            except OSError:  # too many open files: there may be room again later
                await trio.sleep(SECONDS_AFTER_ERROR)
                continue
            if self._connections >= MOST_CONNECTIONS:
                stream.socket.close()
                await trio.sleep(SECONDS_BETWEEN)
                continue
            self._connections += 1
            nursery.start_soon(self._talk, stream)

    async def _talk(self, stream: trio.SocketStream) -> None:
        """Answer one client until it leaves, or does what no client of ours does."""
        try:
            await self._answer_all(stream)
        except (OSError, trio.BrokenResourceError, trio.TooSlowError):
            pass  # it has left, or does not read what it asked for
        except Exception:  # noqa: BLE001 - nothing that a client does may end the program
            _log.exception("the inspector failed to answer")
        finally:
            self._connections -= 1
            stream.socket.close()

    async def _answer_all(self, stream: trio.SocketStream) -> None:
        rest = b""
        is_known = self._token is None
        while True:
            with trio.fail_after(SECONDS_TO_ASK):
                while b"\n" not in rest:
                    got = await stream.receive_some(MOST_QUESTION)
                    rest += got
                    if not got or len(rest.partition(b"\n")[0]) > MOST_QUESTION:
                        return
            line, _, rest = rest.partition(b"\n")
            question = _question(line)
            is_known = is_known or self._is_token(question.get("token"))
            answer = self._answer(question) if is_known else None
            if answer is None:
                return
            with trio.fail_after(SECONDS_TO_TAKE):
                await stream.send_all(answer)
            await trio.sleep(SECONDS_BETWEEN)

    def _is_token(self, given: object) -> bool:
        expected = self._token or ""
        return isinstance(given, str) and hmac.compare_digest(given.encode(), expected.encode())

    def _answer(self, question: dict[str, Any]) -> bytes | None:
        if question.get("ask") == "state":
            return self._inspected.state()
        return self._inspected.task(question.get("task")) if question.get("ask") == "task" else None


def _question(line: bytes) -> dict[str, Any]:
    """Return what was asked; nothing that has an answer if it is garbage."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
