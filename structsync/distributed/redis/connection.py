"""One connection that speaks RESP3: many requests at once, and what the server says unasked.

A task that is cancelled abandons its reply, never the connection: replies are told apart by their order, and
that of an abandoned request is dropped when it comes.
"""

from __future__ import annotations

import math
import select
import socket
from collections import deque
from collections.abc import Callable
from typing import Any, TypeAlias, cast

import hiredis
import trio

from structsync.distributed.errors import DeliveryFailed

Command: TypeAlias = tuple[str | bytes | int, ...]
#: Called with the kind of what comes unasked, and the rest of it.
Pushed: TypeAlias = Callable[[list[Any]], object]

#: What the parser returns while a reply is incomplete; ``False`` is a reply.
INCOMPLETE = object()
CHUNK = 16384
#: In seconds: how long trio's thread waits for a server of this machine. It answers within a tenth of that.
MOMENT = 0.0002
LOOPBACK = ("127.0.0.1", "::1")

_pack = cast("Callable[[Command], bytes]", hiredis.pack_command)


def _socket_of(stream: trio.abc.Stream) -> socket.socket | None:
    """Return a second handle of a stream's socket; None if it is encrypted.

    It sends without a task, and receives without the first try of trio's, which would find nothing.
    """
    if not isinstance(stream, trio.SocketStream):
        return None
    its = stream.socket
    handle = socket.fromfd(its.fileno(), its.family, its.type)
    handle.setblocking(False)
    return handle


def _is_near(handle: socket.socket) -> bool:
    """Return whether the other end is on this machine."""
    name = handle.getpeername()
    return isinstance(name, str) or name[0] in LOOPBACK


async def _received(handle: socket.socket) -> bytes:
    """Return what has come, once something has; nothing at the end.

    Raises:
      BrokenResourceError: if the connection has broken.
    """
    while True:
        await trio.lowlevel.wait_readable(handle)
        try:
            return handle.recv(CHUNK)
        except BlockingIOError:
            continue  # there was nothing
        except OSError as error:
            raise trio.BrokenResourceError from error


class Reply:
    """What will come for one request; an error of the server is a reply."""

    __slots__ = ("arrived", "lost", "then", "value")

    arrived: trio.Event  # where nothing is called then
    value: Any
    lost: bool  # the connection has ended before
    then: Callable[[Any], object] | None

    def __init__(self, then: Callable[[Any], object] | None) -> None:
        if then is None:
            self.arrived = trio.Event()
        self.value = None
        self.lost = False
        self.then = then

    def arrive(self) -> None:
        """Wake the task that waits for it, or call what is to be called."""
        if self.then is None:
            self.arrived.set()
        else:
            self.then(self.value)

    async def wait(self) -> Any:
        """Wait for it.

        Raises:
          DeliveryFailed: if the connection ends before.
        """
        await self.arrived.wait()
        if self.lost:
            raise DeliveryFailed
        return self.value


class Connection:
    """Requests in order, replies in order.

    Either :meth:`run` sends and receives in the background, or :meth:`exchange` does so itself, before that
    and after.
    """

    stream: trio.abc.Stream
    replies: deque[Reply]  # that have not come yet
    is_usable: bool
    _outgoing: bytearray
    _work: trio.Event
    _scope: trio.CancelScope
    _socket: socket.socket | None
    _near: socket.socket | None  # the same, if the server is on this machine
    _idle: trio.Event  # nothing runs in the background

    def __init__(self, stream: trio.abc.Stream, pushed: Pushed, patience: float = math.inf) -> None:
        self.stream = stream
        self.replies = deque()
        self.is_usable = True
        self._pushed = pushed
        self._parser = hiredis.Reader(notEnoughData=INCOMPLETE)
        self._outgoing = bytearray()
        self._work = trio.Event()
        self._scope = trio.CancelScope()
        self._patience = patience
        self._socket = _socket_of(stream)
        self._near = self._socket if self._socket and _is_near(self._socket) else None
        self._idle = trio.Event()
        self._idle.set()

    def post(self, *command: str | bytes | int) -> Reply:
        """Send a command when that is possible."""
        return self.post_then(None, *command)

    def post_then(self, then: Callable[[Any], object] | None, *command: str | bytes | int) -> Reply:
        """Do the same; the function is called with the reply, or with None if it will not come."""
        data = _pack(command)  # which may refuse it: then no reply will come
        reply = Reply(then)
        self.replies.append(reply)
        self._outgoing += data
        if self._socket is not None and self.is_usable:
            self._send_at_once(self._socket)
        if self._outgoing:
            self._work.set()
        return reply

    async def exchange(self, *commands: Command) -> list[Any]:
        """Send commands, and return their replies, once nothing runs in the background.

        Raises:
          DeliveryFailed: if the connection ends before; it says why.
        """
        await self._idle.wait()  # what was cancelled there may still be receiving
        replies = [self.post(*command) for command in commands]
        try:
            await self._send()
            while not replies[-1].arrived.is_set():
                await self._receive()
        except hiredis.HiredisError as error:
            self._end()
            raise DeliveryFailed(f"does not speak the protocol of Redis: {error}") from None
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            self._end()
            # A server that is full, or protected, says so before it hangs up.
            first = replies[0].value
            why = f": {first}" if isinstance(first, hiredis.ReplyError) else ""
            raise DeliveryFailed(f"has closed the connection{why}") from None
        return [reply.value for reply in replies]

    async def run(self) -> None:
        """Send and receive, until the connection ends, is dropped, or keeps a request waiting for too long.

        Then all tasks that wait for a reply are told.
        """
        self._idle = trio.Event()
        try:
            with self._scope:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self._keep_sending)
                    nursery.start_soon(self._keep_receiving)
                    nursery.start_soon(self._keep_watching)
        except* (trio.BrokenResourceError, trio.ClosedResourceError, hiredis.HiredisError):
            self._end()
        finally:
            self._idle.set()
        if self._scope.cancelled_caught:
            self._end()

    def linger(self) -> None:
        """Receive a reply that comes at once: to go on with other tasks and come back takes longer than that."""
        if self._near is None:
            return
        try:
            ready, _, _ = select.select([self._near], [], [], MOMENT)
            data = self._near.recv(CHUNK) if ready else b""
        except (OSError, ValueError):
            return  # it has ended, which is noticed in the background; or select takes no number as large
        try:
            self._take_in(data)
        except hiredis.HiredisError:
            self.drop()

    def drop(self) -> None:
        """End it: nothing has come for too long, or it leads to a server that will not do."""
        self.is_usable = False
        self._scope.cancel()

    async def close(self) -> None:
        if self._socket is not None:
            trio.lowlevel.notify_closing(self._socket)
            self._socket.close()
            self._near = None
        self._end()
        await trio.aclose_forcefully(self.stream)

    # ==== How ====

    def _end(self) -> None:
        self.is_usable = False
        while self.replies:
            reply = self.replies.popleft()
            reply.lost = True
            reply.arrive()

    async def _keep_sending(self) -> None:
        while True:
            while not self._outgoing:
                self._work = trio.Event()
                await self._work.wait()
            await self._send()

    async def _keep_receiving(self) -> None:
        while True:
            await self._receive()

    async def _keep_watching(self) -> None:
        while True:
            oldest = self.replies[0] if self.replies else None
            await trio.sleep(self._patience / 2)
            if oldest is not None and self.replies and self.replies[0] is oldest:
                self.drop()

    def _send_at_once(self, handle: socket.socket) -> None:
        """Send what the socket takes now: a task that does so would have to be waited for."""
        try:
            sent = handle.send(self._outgoing)
        except OSError:
            return  # it is full, or has ended, which is noticed by receiving
        del self._outgoing[:sent]

    async def _send(self) -> None:
        data, self._outgoing = self._outgoing, bytearray()
        self.is_usable = False  # if this is cancelled, half of it was sent
        await self.stream.send_all(data)
        self.is_usable = True

    async def _receive(self) -> None:
        if self._socket is None:
            data = bytes(await self.stream.receive_some(CHUNK))
        else:
            data = await _received(self._socket)
        if not data:
            raise trio.BrokenResourceError("the server has closed the connection")
        self._take_in(data)

    def _take_in(self, data: bytes) -> None:
        self._parser.feed(data)
        while (value := self._parser.gets()) is not INCOMPLETE:
            # A subscription is confirmed by a push, and refused by a reply.
            if isinstance(value, hiredis.PushNotification) and value[0] != b"subscribe":
                self._pushed(value)
            elif not self.replies:
                raise hiredis.ProtocolError("a reply to nothing")
            else:
                reply = self.replies.popleft()
                reply.value = value
                reply.arrive()
