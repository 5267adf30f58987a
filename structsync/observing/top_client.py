"""The other end of an inspector's socket."""

from __future__ import annotations

import json
import socket
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
        try:
            if self._socket is None:
                self._socket = self._connect()
            asked = {**question, "token": self._token} if self._token else question
            self._socket.sendall(json.dumps(asked).encode() + b"\n")
            answer = json.loads(self._line())
        except TimeoutError:
            self.close()
            raise NoAnswer("no answer: the program is busy, or stopped") from None
        except (OSError, ValueError) as error:
            self.close()
            where = self._path or f"port {self._port}"
            raise NoAnswer(f"not connected: {where}: {error}") from None
        if not isinstance(answer, dict):
            self.close()
            raise NoAnswer("not connected: what answers is no inspector")
        return answer

    def close(self) -> None:
        """Close the connection; the next question opens another one."""
        if self._socket is not None:
            self._socket.close()
        self._socket, self._rest = None, b""

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

    def _line(self) -> bytes:
        assert self._socket is not None
        while b"\n" not in self._rest:
            got = self._socket.recv(1 << 16)
            if not got:
                raise OSError("the program has closed the connection")
            self._rest += got
            if len(self._rest) > MOST_ANSWER:
                raise OSError("what answers is no inspector")
        line, _, self._rest = self._rest.partition(b"\n")
        return line
