"""What the handler of an alarm raises ends a search, wherever in an execution it strikes."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType

_NUMBER: int | None = getattr(signal, "SIGALRM", None)


class Alarm:
    """Keeps what the handler of SIGALRM raises inside the with block: so pytest-timeout ends a test.

    An execution would take it for an error of the test, or a check of the handle for its own.
    """

    def __init__(self) -> None:
        self.raised: BaseException | None = None
        self._handler: Callable[[int, FrameType | None], object] | None = None

    def __enter__(self) -> Alarm:
        if _NUMBER is not None and threading.current_thread() is threading.main_thread():
            handler = signal.getsignal(_NUMBER)
            if callable(handler):
                self._handler = handler
                signal.signal(_NUMBER, self._note)
        return self

    def __exit__(self, *exc_info: object) -> None:
        if _NUMBER is not None and self._handler is not None:
            signal.signal(_NUMBER, self._handler)
            self._handler = None

    def _note(self, number: int, frame: FrameType | None) -> None:
        assert self._handler is not None
        try:
            self._handler(number, frame)
        except BaseException as error:
            self.raised = error
            raise
