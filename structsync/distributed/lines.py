"""Messages between processes of one machine: a Unix stream between each two sessions that talk.

What a process has sent before it ended, however it died, is read. Only
processes of the same user are heard: other than files, the addresses are open to every user.
"""

from __future__ import annotations

import os
import socket
import struct
from contextlib import suppress

import trio

import structsync

from .engine import LONGEST, Received
from .processes import is_running

#: In seconds: how long a message may take to be sent, before a peer that does not read is cut off.
SENDING = 5
CHUNK = 65536
#: In bytes: of the length, which stands before each message.
HEAD = 4


class Line:
    """One stream, and the lock of its writers."""

    stream: trio.SocketStream
    turn: structsync.Lock
    ended: trio.Event
    owner: int  # the process at this side
    process: int  # at the other side
    user: int

    def __init__(self, stream: trio.SocketStream) -> None:
        self.stream = stream
        self.owner = os.getpid()
        fields = struct.Struct("3i")  # the last one is the group
        peer = stream.socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, fields.size)
        self.process, self.user, _ = fields.unpack(peer)
        self.turn = structsync.Lock()
        self.ended = trio.Event()

    def is_of_us(self) -> bool:
        """Return whether the other side is a process of the same user."""
        return self.user == os.getuid()

    async def send(self, message: bytes) -> bool:
        """Send a message, wholly, or nothing ever again; it is not cancelled.

        Returns:
          False, if the other side has not taken all of it, and so will never read it.
        """
        try:
            with trio.move_on_after(SENDING, shield=True) as in_time:
                async with self.turn:
                    await self.stream.send_all(len(message).to_bytes(HEAD, "big") + message)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return False
        if in_time.cancelled_caught:
            await trio.aclose_forcefully(self.stream)
        return not in_time.cancelled_caught

    async def receive(self, received: Received) -> None:
        """Call ``received`` with each message, until the stream ends or sends what is too long."""
        data = bytearray()
        length = 0
        try:
            while length <= LONGEST and (chunk := await self.stream.receive_some(CHUNK)):
                data += chunk
                while len(data) >= HEAD:
                    length = int.from_bytes(data[:HEAD], "big")
                    if length > LONGEST or len(data) < HEAD + length:
                        break
                    received(bytes(data[HEAD : HEAD + length]))
                    del data[: HEAD + length]
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass  # the other side is gone; so is this one, where it has cut the other off
        finally:
            self._shut(socket.SHUT_RDWR)  # to close it ends nothing if a forked process has it, too

    async def drain(self) -> None:
        """Read what the other side has sent, and what it is still sending if it runs; then end.

        Its end may never come: a process that the other one has forked may have the stream, too.
        """
        if is_running(self.process):
            with trio.move_on_after(SENDING):
                await self.ended.wait()
        self._shut(socket.SHUT_RD)  # what has come is read before that is seen
        await self.ended.wait()

    def _shut(self, how: int) -> None:
        if os.getpid() != self.owner:
            return  # this is a copy in a forked process, and the stream is the parent's
        with suppress(OSError):  # it is closed already
            self.stream.socket.shutdown(how)


class Lines:
    """The streams of one session."""

    lines: dict[str, Line]  # by the session at the other end
    listener: trio.SocketListener
    nursery: trio.Nursery

    def __init__(self, address: str, number: int, identity: str) -> None:
        self._address = address  # of all sessions of the file, without their numbers
        self._identity = identity
        self._opening = structsync.Lock()
        self.lines = {}
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(f"{address}{number}")
        listener.listen()
        self.listener = trio.SocketListener(trio.socket.from_stdlib_socket(listener))

    async def serve(self, received: Received, task_status: trio.TaskStatus[object]) -> None:
        """Call ``received`` with each message that comes, forever."""
        self._received = received
        async with trio.open_nursery() as self.nursery:
            await trio.serve_listeners(self._welcome, [self.listener], task_status=task_status)

    async def send(self, session: str, number: int, message: bytes) -> bool:
        """Send a message; return False if it will certainly not arrive."""
        async with self._opening:
            line = self.lines.get(session)
            if line is None:
                line = await self._open(session, number)
                if line is None:
                    return False
        return await line.send(message)

    async def drain(self, session: str) -> None:
        """Return when nothing more can come from a session that is over."""
        if session in self.lines:
            await self.lines[session].drain()

    async def _open(self, session: str, number: int) -> Line | None:
        with trio.move_on_after(SENDING):
            try:
                line = Line(await trio.open_unix_socket(f"{self._address}{number}"))
            except OSError:
                return None  # it is over
            if line.is_of_us():
                self.lines[session] = line
                self.nursery.start_soon(self._listen, session, line, self._received)
                await line.send(self._identity.encode())
                return line
            await trio.aclose_forcefully(line.stream)
        return None

    async def _welcome(self, stream: trio.SocketStream) -> None:
        line, name = Line(stream), list[str]()

        def introduced(message: bytes) -> None:
            if name:
                self._received(message)
            else:
                name.append(message.decode(errors="replace"))
                self.lines.setdefault(name[0], line)

        if line.is_of_us():
            await line.receive(introduced)
            self._forget(name[0] if name else "", line)

    async def _listen(self, session: str, line: Line, received: Received) -> None:
        async with line.stream:
            await line.receive(received)
        self._forget(session, line)

    def _forget(self, session: str, line: Line) -> None:
        if self.lines.get(session) is line:
            del self.lines[session]
        line.ended.set()
