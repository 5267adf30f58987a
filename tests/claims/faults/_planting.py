"""Bugs on purpose: functions of the core that ships are replaced while a claim is analyzed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest

from structsync import Arbiter, Status
from structsync._core.queue.request import Request

from ...plants._reuse import plant  # noqa: TID252 - the one home of the faults

Ended = list[Request[Any]]


@dataclass(frozen=True, slots=True)
class Fault:
    """A changed function of the core, in a class or a module, and the claim that must notice."""

    owner: type | ModuleType
    attribute: str
    changed: Any
    refuted_by: str

    def plant(self, patch: pytest.MonkeyPatch) -> None:
        patch.setattr(self.owner, self.attribute, self.changed)


@dataclass(frozen=True, slots=True)
class Shared:
    """A mistake that another layer has to find too, and the claim that must notice."""

    mistake: Callable[[pytest.MonkeyPatch], None]
    refuted_by: str

    def plant(self, patch: pytest.MonkeyPatch) -> None:
        self.mistake(patch)


@dataclass(frozen=True, slots=True)
class OfASpec:
    """A mistake that the model checker has to find too: where it is written, and the claim."""

    owner: type
    mistake: Any
    refuted_by: str

    def plant(self, patch: pytest.MonkeyPatch) -> None:
        plant(patch, self.owner, self.mistake)


def fault(owner: type | ModuleType, attribute: str, *, refuted_by: str) -> Callable[[Any], Fault]:
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
