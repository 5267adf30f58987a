"""What planted bugs are made of: grants and ends that the shipped core would not have chosen."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from structsync import Arbiter, Status
from structsync._core.queue.policy import Fifo
from structsync._core.queue.request import Queue, Request


def grant(core: Arbiter[Any], request: Request[Any]) -> Request[Any]:
    """Grant a request at whichever position, whether or not it fits."""
    core.grant(request)
    return request


def withdraw_only(core: Arbiter[Any], request: Request[Any]) -> list[Request[Any]] | None:
    """Take a request out of the queue, and grant none of those behind it."""
    if request.queue is not core.queue:
        return None
    core.end_with(request, Status.WITHDRAWN)
    return []


def break_only(core: Arbiter[Any], requests: Iterable[Request[Any]], cause: str) -> Any:
    """Close or break the core, but end only these of the requests in the queue."""
    core.cause = cause
    return [core.end_with(request, Status.BROKEN, cause) for request in list(requests)]


def move_to_the_end(core: Arbiter[Any], request: Request[Any]) -> None:
    """Take a request out of the queue and put it at its end."""
    core.leave(request)
    core.join(request)


class NewestFirst(Fifo):
    """A policy that serves the queue from its end."""

    __slots__ = ()

    def candidates(self, queue: Queue[Any]) -> Iterable[Request[Any]]:
        return list(queue)[::-1]
