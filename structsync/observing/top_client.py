"""The other end of an inspector's socket."""

from __future__ import annotations

import json
import socket
from contextlib import suppress
from pathlib import Path
from typing import Any, final

#: A line that is longer comes from no inspector.
MOST_ANSWER = 8_000_000
#: How long an answer may take.
SECONDS = 5.0


class NoAnswer(Exception):
    """The program is not there, or does not answer; the message says which."""


@final
class Client:
    """Asks one inspector, and connects again where the program was started again."""

    def __init__(
        self, path: Path | None, port: int | None = None, token: str | None = None
    ) -> None:
        self._path = path
        self._port = port
        self._token = token
        self._socket: socket.socket | None = None
        self._rest = b""

    def ask(self, **question: object) -> dict[str, Any]:
        """Return the answer to a question.

        Raises:
          NoAnswer: if there is none.
        """
        asked = {**question, "token": self._token} if self._token else question
        try:
            answer = json.loads(self._answer_to(json.dumps(asked).encode() + b"\n"))
        except TimeoutError:
            self.close()
            raise NoAnswer("no answer: the program is busy, or stopped") from None
        except (OSError, ValueError) as error:
            self.close()
            where = self._path or f"port {self._port}"
            raise NoAnswer(f"not connected: {where}: {error}") from None
        if not isinstance(answer, dict):
            self.close()
            raise NoAnswer("not connected: what answers is not an inspector")
        return answer

    def close(self) -> None:
        """Close the connection; the next question opens another one."""
        if self._socket is not None:
            self._socket.close()
        self._socket, self._rest = None, b""

    def _answer_to(self, line: bytes) -> bytes:
        if self._socket is not None:
            # An inspector closes one on which nothing is asked for a while.
            with suppress(ConnectionError):
                return self._exchange(self._socket, line)
            self.close()
        self._socket = self._connect()
        return self._exchange(self._socket, line)

    def _exchange(self, connection: socket.socket, line: bytes) -> bytes:
        connection.sendall(line)
        return self._line(connection)

    def _connect(self) -> socket.socket:
        if self._path is None:
            return socket.create_connection(("127.0.0.1", self._port or 0), SECONDS)
        family = getattr(socket, "AF_UNIX", None)
        if family is None:
            raise OSError("there are no unix sockets here; give --port")
        found = socket.socket(family, socket.SOCK_STREAM)
        try:
            found.settimeout(SECONDS)
            found.connect(str(self._path))
        except BaseException:
            found.close()
            raise
        return found

    def _line(self, connection: socket.socket) -> bytes:
        while b"\n" not in self._rest:
            got = connection.recv(1 << 16)
            if not got:
                raise ConnectionError("the program has closed the connection")
            self._rest += got
            if len(self._rest) > MOST_ANSWER:
                raise OSError("what answers is not an inspector")
        line, _, self._rest = self._rest.partition(b"\n")
        return line
