"""What is true of every quiescent primitive, as functions: for specs, for tests, for your own cores.

They take a live core (any :class:`structsync.Arbiter`), or the waiters in its queue before and after
a transition, and leave it as it is. Each rule is written here and nowhere else, so a spec, a
stateful test and a program that asserts mean the same by "no lost wakeup".

Waiters are distinguished by equality: no two requests in one queue may have equal waiters.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeVar

from structsync._core.queue.arbiter import Arbiter
from structsync._core.queue.request import PENDING, Queue, Request

CoreT = TypeVar("CoreT", bound=Arbiter[Any])


def nothing_grantable_waits(core: Arbiter[Any]) -> bool:
    """No lost wakeup (I3): the policy would grant next no request that the state has room for.

    A request for several primitives at once needs room at the head of every queue. A request whose guard
    raises is not grantable: the next step that evaluates the guard breaks it.
    """
    return not any(is_grantable(core, request) for request in core.next_ones())


def is_grantable(core: Arbiter[Any], request: Request[Any]) -> bool:
    """Whether the state has room for a request that may be next, and for the rest of its group."""
    try:
        if not core.admits(request.claim):
            return False
        return request.group is None or request.group.consents(request)
    except Exception as error:  # noqa: BLE001 - ours is raised again by guard_error
        core.guard_error(error)
        return False


def nothing_waits_when_closed_or_broken(core: Arbiter[Any]) -> bool:
    """Closing or breaking ends all requests in the queue (C8)."""
    return core.cause is None or not core.queue


def nowait_agrees(core: Arbiter[Any], claim: Any, priority: int = 0) -> bool:
    """No request barges, and none is refused without need (I2).

    The claim is admissible now exactly if a request that joined the end of the queue now would be granted
    in this step. This is tried on a copy: the queue decides, not the shortcut.
    """
    granted = False
    if core.cause is None:
        twin = twin_of(core)
        try:
            request = twin.enqueue(claim, priority)
        except Exception:  # noqa: BLE001 - refused, with whatever error the core has for it
            granted = False
        else:
            granted = any(one is request for one in twin.settle())
    return core.admissible(claim, priority) == granted


def refuses(core: CoreT, attempt: Callable[[CoreT], object]) -> bool:
    """The attempt raises and changes nothing (I7).

    Tried on the live core; should that change anything, it is undone.
    """
    before = core.snapshot()
    try:
        attempt(core)
    except Exception:  # noqa: BLE001 - whatever error the core has for it
        if core.snapshot() == before:
            return True
    core.restore(before)
    return False


def ended_for_good(core: Arbiter[Any], *requests: Request[Any]) -> bool:
    """Each of the requests has ended, has left the queue, and cannot be withdrawn any more (I4).

    This is tried on the live core; any change is undone.
    """
    if not requests:
        return True
    in_queue = [*core.queue]
    if any(one.status is PENDING or any(one is other for other in in_queue) for one in requests):
        return False
    before = core.snapshot()
    for request in requests:
        status, answer = request.status, core.withdraw(request)
        if core.snapshot() != before:
            core.restore(before)
            return False
        if answer is not None or request.status is not status:
            return False
    return True


def positions_are_kept(
    before: Sequence[object], ended: Collection[object], after: Sequence[object]
) -> bool:
    """Requests in the queue stay there in the same order, or end; newcomers join behind them."""
    stay = [waiter for waiter in before if waiter not in ended]
    if list(after[: len(stay)]) != stay:
        return False
    return len(after) == len(stay) or not any(one in before for one in after[len(stay) :])


def served_in_queue(
    before: Sequence[object], granted: Sequence[object], after: Sequence[object]
) -> bool:
    """First come, first served (I2): grants were made in the order of the queue, from its head.

    A request that is granted without having been in the queue comes after all that were.
    """
    queue = [*before, *(waiter for waiter in granted if waiter not in before)]
    places = [queue.index(waiter) for waiter in granted]
    passed = queue[: places[-1]] if places else []
    return places == sorted(places) and not any(waiter in after for waiter in passed)


def twin_of(core: CoreT) -> CoreT:
    """Return a copy that can be driven on its own: same state and queue, requests of its own."""
    twin = object.__new__(type(core))
    for name, value in vars(core).items():
        if isinstance(value, Queue):  # restored below: a request stands in one queue at a time
            vars(twin)[name] = type(value)()
        else:
            is_container = isinstance(value, list | dict | set)
            vars(twin)[name] = value.copy() if is_container else value
    twin.restore(core.snapshot())
    return twin
