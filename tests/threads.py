"""A thread that trio knows nothing of."""

from __future__ import annotations

import threading
from collections.abc import Callable

import outcome


def in_thread(fn: Callable[[], object]) -> outcome.Outcome[object]:
    """Run ``fn`` in a thread that trio knows nothing of, and tell how it ended."""
    ended: list[outcome.Outcome[object]] = []
    # a daemon that is not waited for without a limit: it never ends where no refusal comes
    thread = threading.Thread(target=lambda: ended.append(outcome.capture(fn)), daemon=True)
    thread.start()
    thread.join(20)
    assert ended, "not refused: the thread waits"
    return ended[0]
