"""Which task waits at the end of a nursery for which other one."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache
from inspect import unwrap
from types import CodeType

import trio
from trio.lowlevel import Task


def outlives(task: Hashable, other: Task) -> bool:
    """Return whether a task waits now, at the end of a nursery, until another one has ended.

    Also over the tasks between them, each of which waits at the end of one of its own.
    """
    nursery = other.parent_nursery
    while nursery is not None:
        parent = nursery.parent_task
        if parent.child_nurseries[-1] is not nursery or not _is_at_its_end(parent):
            return False
        if parent is task:
            return True
        nursery = parent.parent_nursery
    return False


def _is_at_its_end(parent: Task) -> bool:
    return any(frame.f_code is _end_of_a_nursery() for frame, _ in parent.iter_await_frames())


@cache
def _end_of_a_nursery() -> CodeType:
    code: CodeType = unwrap(type(trio.open_nursery()).__aexit__).__code__
    return code
