"""What each kind of rule costs a call that no other is in the way of: against our lock."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from time import thread_time
from typing import TypeAlias

import trio

from structsync import Condition, Entry, Monitor, Synchronizer

from ._measure import Case, Effort, ratio
from .monitors import body, locked

Call: TypeAlias = Callable[[], Awaitable[None]]


def cases(effort: Effort) -> Iterator[Case]:
    times = effort.of(1_280, 128)
    under_lock = partial(trio.run, locked, times)
    for name, rules in (
        ("Condition", waits),
        ("entry", entry),
        ("guard", guard),
        ("guard, request", particular_guard),
        ("disable", disabled),
        ("and trigger", triggered),
        ("10 monitors", among_ten),
    ):
        yield Case(name, partial(ratio, partial(trio.run, calls, rules, times), under_lock))


def atomic_cases(effort: Effort) -> Iterator[Case]:
    """Two calls that start in one step, against the same two without a rule."""
    times = effort.of(320, 32)
    subject, reference = (partial(trio.run, calls, rules, times) for rules in (together, apart))
    yield Case("2 calls", partial(ratio, subject, reference))


async def calls(rules: Callable[[Synchronizer], Call], times: int) -> float:
    """Return the seconds of that many calls under the rules."""
    async with Synchronizer() as synchronizer:
        call = rules(synchronizer)
        await call()
        began = thread_time()
        for _ in range(times):
            await call()
        return thread_time() - began


def waits(_: Synchronizer) -> Call:
    """Wait, under a lock, for what is there."""
    condition = Condition()

    async def call() -> None:
        async with condition:
            await condition.wait_for(lambda: True)
            await body()

    return call


def entry(_: Synchronizer) -> Entry[[], None]:
    return Monitor().entry(body)


def guard(_: Synchronizer) -> Entry[[], None]:
    return Monitor().entry(body, when=lambda: True)


def particular_guard(_: Synchronizer) -> Entry[[], None]:
    """A guard that looks at the request."""
    return Monitor().entry(body, when=lambda _: True)


def disabled(synchronizer: Synchronizer) -> Entry[[], None]:
    """A rule of a synchronizer that does not forbid the call now."""
    ruled = Monitor().entry(body)
    synchronizer.disable(ruled, when=lambda: False)
    return ruled


def triggered(synchronizer: Synchronizer) -> Entry[[], None]:
    ruled = disabled(synchronizer)
    synchronizer.trigger(ruled, lambda: None)
    return ruled


def among_ten(synchronizer: Synchronizer) -> Entry[[], None]:
    """A trigger in a synchronizer of ten monitors, each of which is evaluated again."""
    ruled, *_ = [triggered(synchronizer) for _ in range(10)]
    return ruled


def apart(_: Synchronizer) -> Call:
    """Two calls, each in a task of its own."""
    return both(Monitor().entry(body), Monitor().entry(body))


def together(synchronizer: Synchronizer) -> Call:
    first, second = Monitor().entry(body), Monitor().entry(body)
    synchronizer.atomic(first, second)
    return both(first, second)


def both(first: Call, second: Call) -> Call:
    async def call() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(first)
            nursery.start_soon(second)

    return call
