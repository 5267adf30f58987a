"""Letters over TCP: one line each, and one line back."""

from __future__ import annotations

import trio

from .delivery import Send

ACCEPTED = b"accepted\n"


def over_tcp(host: str, port: int) -> Send:
    """Return what sends a letter to this address, or raises OSError."""

    async def send(letter: str) -> None:
        async with await trio.open_tcp_stream(host, port) as stream:
            try:
                await stream.send_all(letter.encode() + b"\n")
                answer = b""
                while chunk := await stream.receive_some():
                    answer += chunk
            except trio.BrokenResourceError as error:
                raise ConnectionError("the connection broke") from error
        if answer != ACCEPTED:
            raise ConnectionError(f"refused: {answer!r}")

    return send
