"""Bugs on purpose: one function of the core that ships is replaced while a claim is analyzed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from structsync import Arbiter, Status
from structsync._core.queue.request import Request

Ended = list[Request[Any]]


@dataclass(frozen=True, slots=True)
class Fault:
    """A changed function of the core, and the claim that must notice."""

    owner: type
    attribute: str
    changed: Any
    refuted_by: str


def fault(owner: type, attribute: str, *, refuted_by: str) -> Callable[[Any], Fault]:
    """Make a fault of the decorated function, which takes the place of the attribute."""
    return lambda changed: Fault(owner, attribute, changed, refuted_by)


# ==== What several faults do ====


def grant(core: Arbiter[Any], request: Request[Any]) -> Request[Any]:
    """Grant a request wherever it stands, whether it fits or not."""
    core.leave(request)
    core.admit(request.claim)
    request.status = Status.GRANTED
    return request


def grant_unnoted(core: Arbiter[Any], request: Request[Any]) -> None:
    """Grant as the core does, and take no note in its index that the request has left the queue."""
    core.admit(request.claim)
    if request.queue is not None:
        request.queue.remove(request)
    request.status = Status.GRANTED


def mark_only(core: Arbiter[Any], request: Request[Any]) -> Ended:
    """Withdraw by a mark, and leave a dead entry in the queue (as CPython's semaphores of 3.10 did)."""
    request.status = Status.WITHDRAWN
    return []
