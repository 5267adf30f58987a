"""Ctrl-C as a flag that the search reads between two states, so that it keeps what it found.

Code of a spec that does not come back is ended too, where that is wished: half a second after
Ctrl-C, or after the time is up, `Stopped` is raised in it.
"""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType

from ._budget import INTERRUPTED, Stopped

#: Seconds that the search has to read the flag by itself.
PATIENCE = 0.5


class InterruptFlag:
    """True once Ctrl-C was pressed inside the with block; a second one interrupts as usual.

    Outside the main thread, or where other code handles the signal already, it stays false and
    changes nothing.
    """

    def __init__(
        self, seconds: float | None = None, why_late: str = "", *, ends_code: bool = False
    ) -> None:
        self._ends_code = (
            ends_code  # by a thread, which an execution of the explorer must not start
        )
        self._seconds = seconds
        self._why = why_late
        self._raised = False
        self._overdue = False
        self._installed = False
        self._timers: list[threading.Timer] = []

    def __bool__(self) -> bool:
        return self._raised

    def __enter__(self) -> InterruptFlag:
        in_main = threading.current_thread() is threading.main_thread()
        if in_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._note)
            self._installed = True
            if self._seconds is not None:
                self._after(self._seconds + PATIENCE)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._restore()

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self._overdue:
            self._restore()
            raise Stopped(self._why)
        if self._raised:
            self._restore()
            raise KeyboardInterrupt
        self._raised = True
        self._why = INTERRUPTED
        if self._ends_code:
            self._after(PATIENCE)

    def _after(self, seconds: float) -> None:
        timer = threading.Timer(min(seconds, threading.TIMEOUT_MAX), self._end)
        timer.daemon = True
        self._timers.append(timer)
        timer.start()

    def _end(self) -> None:
        """Send the signal once more, from a thread that has waited long enough."""
        if self._installed:
            self._overdue = True
            main = threading.main_thread().ident
            if hasattr(signal, "pthread_kill") and main is not None:
                signal.pthread_kill(main, signal.SIGINT)
            else:  # pragma: no cover - Windows
                signal.raise_signal(signal.SIGINT)

    def _restore(self) -> None:
        for timer in self._timers:
            timer.cancel()
        if self._installed:
            self._installed = False
            signal.signal(signal.SIGINT, signal.default_int_handler)
