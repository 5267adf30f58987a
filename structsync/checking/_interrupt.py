"""Ctrl-C as a flag that the search reads between two states, so that it keeps what it found."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType


class InterruptFlag:
    """True once Ctrl-C was pressed inside the with block; a second one interrupts as usual.

    Outside the main thread, or where somebody else handles the signal already, it stays false and
    changes nothing.
    """

    def __init__(self) -> None:
        self._raised = False
        self._installed = False

    def __bool__(self) -> bool:
        return self._raised

    def __enter__(self) -> InterruptFlag:
        in_main = threading.current_thread() is threading.main_thread()
        if in_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._note)
            self._installed = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._restore()

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._raised = True
        self._restore()

    def _restore(self) -> None:
        if self._installed:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            self._installed = False
