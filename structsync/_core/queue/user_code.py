"""While user code runs inside a transition, nothing may change (I6).

A guard, a predicate or an observer that called back into a primitive would see and change a state in
the middle of a transition. So the thread that runs it is noted here, and every mutating call of that
thread is refused until it is done. A thread has one trio run at most, so the thread stands for the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import Any, TypeVar

T = TypeVar("T")

# Threads that run user code now. Empty nearly always, so that callers test its truth first.
threads: set[int] = set()


@contextmanager
def user_code() -> Iterator[None]:
    """Refuse mutating calls of this thread while the body runs."""
    thread = get_ident()
    if thread in threads:
        yield
        return
    threads.add(thread)
    try:
        yield
    finally:
        threads.discard(thread)


def ask(function: Callable[..., T], *args: Any) -> T:
    """Return what the function answers, called as :func:`user_code` runs a body; a third of its cost."""
    thread = get_ident()
    if thread in threads:
        return function(*args)
    threads.add(thread)
    try:
        return function(*args)
    finally:
        threads.discard(thread)


def in_user_code() -> bool:
    """Return whether this thread runs user code now."""
    return get_ident() in threads


def refuse_user_code() -> None:
    """Raise RuntimeError if this thread runs user code now."""
    if get_ident() in threads:
        raise RuntimeError(
            "a guard, predicate or observer must not change a structsync primitive; "
            "note what is to be done and do it after the call that ran it"
        )
