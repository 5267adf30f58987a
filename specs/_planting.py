"""What planted bugs are made of: endings that the shipped core would not have chosen."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from structsync import Arbiter, Status
from structsync._core.queue.policy import Fifo, Queue
from structsync._core.queue.request import Request


def grant(core: Arbiter[Any], request: Request[Any]) -> Request[Any]:
    """Grant a request wherever it stands, whether or not it fits."""
    core.leave(request)
    core.admit(request.claim)
    request.status = Status.GRANTED
    return request


def withdraw_only(core: Arbiter[Any], request: Request[Any]) -> list[Request[Any]] | None:
    """Take a request out of the queue and let nobody in."""
    if not core.leave(request):
        return None
    request.status = Status.WITHDRAWN
    return []


def break_only(core: Arbiter[Any], requests: Iterable[Request[Any]], cause: str) -> Any:
    """Take the core out of service, but tell only these of those who wait."""
    core.cause = cause
    ended = list(requests)
    for request in ended:
        core.leave(request)
        request.status = Status.BROKEN
        request.cause = cause
    return ended


class NewestFirst(Fifo):
    """The wrong end of the queue."""

    __slots__ = ()

    @staticmethod
    def candidates(queue: Queue) -> Iterable[Request[Any]]:
        return reversed(queue.values())
