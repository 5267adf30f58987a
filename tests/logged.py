"""What fails and is only logged: an observer, what a finalizer released, what is done right after a step."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager


class _Records(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@contextmanager
def no_error_only_logged() -> Iterator[None]:
    """Fail if the body logs an error of the package."""
    handler = _Records()
    logger = logging.getLogger("structsync")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
    messages = [record.getMessage() for record in handler.records]
    assert not messages, messages
