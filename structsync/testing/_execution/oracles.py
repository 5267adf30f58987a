"""What the explorer knows about primitives: their state in words, and what must hold of them.

Those of structsync and of trio are found as they are made; the user's own are watched by hand.
"""

from __future__ import annotations

import contextlib
import inspect
import weakref
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import trio

import structsync
from structsync import _lazy
from structsync._runtime.primitive import Primitive

from .addresses import address_of
from .watched_queues import WatchedQueues

NameOf: TypeAlias = Callable[[object], str]

# A name that a program wants first would be imported while it is explored: a change of the package that
# no other of its executions would see.
_lazy.load(structsync)

#: Classes whose objects are found without ``watch``.
FOUND: tuple[type, ...] = (
    Primitive,
    trio.Lock,
    trio.StrictFIFOLock,
    trio.Semaphore,
    trio.CapacityLimiter,
    trio.Condition,
    trio.Event,
    trio.MemorySendChannel,
)
_LOCKS = (structsync.Lock, trio.Lock, trio.StrictFIFOLock)
_SEMAPHORES = (structsync.Semaphore, trio.Semaphore)
_LIMITERS = (structsync.CapacityLimiter, trio.CapacityLimiter)


#: Of these something is checked, so they are kept; of the others only the state is shown, and a
#: program may make a new one in every round.
_CHECKED = (Primitive, *_LOCKS, *_SEMAPHORES, *_LIMITERS)


class _WatchedPrimitive:
    """A primitive and what is known of it from before."""

    __slots__ = ("_kept", "_reference", "is_signal", "name", "start")

    def __init__(self, thing: Any) -> None:
        self._kept: Any = thing if isinstance(thing, _CHECKED) else None
        self._reference: Callable[[], Any] = lambda: None
        if self._kept is None:
            with contextlib.suppress(TypeError):  # the user's own; it is kept in a moment
                self._reference = weakref.ref(thing)
        self.name: str | None = None
        self.is_signal = isinstance(thing, _SEMAPHORES) and thing.value != thing.max_value
        """Of a bounded semaphore: it began below its bound, so its permits are made and used up."""
        self.start: int | None = None
        """The value of a watched semaphore, to which it must return."""

    @property
    def thing(self) -> Any:
        """The primitive, or None if it is no longer referred to."""
        return self._reference() if self._kept is None else self._kept

    @property
    def given_name(self) -> str | None:
        """What the user calls it: by ``x.watch``, or where it was made."""
        thing = self.thing
        own: str | None = getattr(thing, "_name", None) if isinstance(thing, Primitive) else None
        return self.name or own

    @property
    def title(self) -> str:
        """What it is called in a message."""
        return self.given_name or type(self.thing).__name__

    def keep(self, thing: Any, name: str | None) -> None:
        """Keep what the user watches."""
        self._kept = thing
        self.name = name or self.given_name or type(thing).__name__


class WatchedPrimitives:
    """The primitives of one execution."""

    def __init__(self) -> None:
        self._entries: dict[int, _WatchedPrimitive] = {}
        self.checked = False
        """Whether something must hold after each step."""
        self.queues = WatchedQueues()
        """The queues of those of structsync."""

    def found(self, thing: object) -> None:
        """Note that a primitive was made."""
        self._entries[address_of(thing)] = entry = _WatchedPrimitive(thing)
        if isinstance(thing, Primitive):
            self.queues.add(thing, lambda: entry.title)
            self.checked = True

    def add(self, thing: Any, name: str | None) -> None:
        """Watch what the user names."""
        entry = self._entries.get(address_of(thing))
        if entry is None or entry.thing is not thing:
            self.found(thing)
            entry = self._entries[address_of(thing)]
        entry.keep(thing, name)
        if isinstance(thing, _SEMAPHORES) and thing.max_value is None:
            entry.start = thing.value

    def __explore_state__(self) -> object:
        # By addresses they are found faster, and those are others in each execution.
        return self.state()

    def state(self) -> list[object]:
        """Return what the checks to come depend on."""
        # What is out may be a leak at the end, even if no task can reach it any more.
        return [
            part
            for one in self._entries.values()
            if one.name is not None or _leak(one, str) is not None
            for part in (one.thing, one.start)
        ]

    def names(self) -> Iterator[tuple[str | None, Any]]:
        """Yield each primitive with the name that the user gave it, if any."""
        for entry in self._entries.values():
            if (thing := entry.thing) is not None:
                yield entry.given_name, thing

    def leaked(self, name_of: NameOf) -> str | None:
        """Return what has not been released at the end."""
        for entry in self._entries.values():
            if (text := _leak(entry, name_of) or _stuck(entry.thing)) is not None:
                return f"{entry.title} {text}"
        return None

    def to_probe(self) -> Iterator[tuple[str, Any]]:
        """Yield the user's own watched objects that must be possible to acquire at the end."""
        for entry in [*self._entries.values()]:  # probing may make new ones
            if entry.name and not isinstance(entry.thing, FOUND) and _can_probe(entry.thing):
                yield entry.name, entry.thing


def _leak(entry: _WatchedPrimitive, name_of: NameOf) -> str | None:
    thing: Any = entry.thing
    if isinstance(thing, _LOCKS):
        owner = thing.statistics().owner
        return f"is still locked at the end, by {name_of(owner)}" if thing.locked() else None
    if isinstance(thing, _SEMAPHORES):
        is_pool = thing.max_value is not None and not entry.is_signal
        expected = thing.max_value if is_pool else entry.start
        if expected is not None and thing.value != expected:
            return f"has the value {thing.value} at the end, not {expected}"
    if isinstance(thing, _LIMITERS) and thing.borrowed_tokens:
        names = ", ".join(map(name_of, thing.statistics().borrowers))
        return f"has {thing.borrowed_tokens} tokens still lent at the end, to {names}"
    if isinstance(thing, structsync.RWLock) and thing.locked():
        return f"is still {_rwlock(thing, name_of)} at the end"
    return None


def _rwlock(thing: structsync.RWLock, name_of: NameOf) -> str:
    numbers = thing.statistics()
    if numbers.writer is not None:
        return f"written by {name_of(numbers.writer)}"
    names = ", ".join(map(name_of, numbers.readers))
    return f"read by {names}" if names else "free"


def _stuck(thing: Any) -> str | None:
    """Try whether what is free can be taken once more."""
    try:
        if isinstance(thing, _LOCKS) or (isinstance(thing, _SEMAPHORES) and thing.value > 0):
            thing.acquire_nowait()
            thing.release()
        elif isinstance(thing, _LIMITERS) and thing.available_tokens > 0:
            borrower = object()
            thing.acquire_on_behalf_of_nowait(borrower)
            thing.release_on_behalf_of(borrower)
        elif isinstance(thing, structsync.RWLock):
            thing.acquire_write_nowait()
            thing.release()
    except trio.WouldBlock:
        return "is free at the end but cannot be acquired again"
    except (trio.ClosedResourceError, trio.BrokenResourceError):
        return None  # closed or broken: no task is to acquire it
    return None


def describe(thing: Any, name_of: NameOf) -> str:
    """Return the state of a primitive in a few words."""
    if isinstance(thing, _LOCKS):
        statistics = thing.statistics()
        held = f"held by {name_of(statistics.owner)}" if statistics.locked else "free"
        return _with_queue(held, statistics.tasks_waiting)
    if isinstance(thing, _SEMAPHORES):
        bound = "" if thing.max_value is None else f" of {thing.max_value}"
        return _with_queue(f"{thing.value}{bound} free", thing.statistics().tasks_waiting)
    if isinstance(thing, _LIMITERS):
        text = f"{thing.borrowed_tokens} of {thing.total_tokens} lent"
        return _with_queue(text, thing.statistics().tasks_waiting)
    if isinstance(thing, structsync.RWLock):
        return _with_queue(_rwlock(thing, name_of), thing.statistics().tasks_waiting)
    if isinstance(thing, trio.Event):
        return _with_queue("set" if thing.is_set() else "not set", thing.statistics().tasks_waiting)
    if isinstance(thing, trio.Condition):
        return f"{thing.statistics().tasks_waiting} waiting"
    if isinstance(thing, trio.MemorySendChannel):
        numbers = thing.statistics()
        items = f"{numbers.current_buffer_used} of {numbers.max_buffer_size} buffered"
        waiting = numbers.tasks_waiting_send, numbers.tasks_waiting_receive
        return f"{items}, {waiting[0]} sending, {waiting[1]} receiving"
    if isinstance(thing, Primitive):
        return _with_queue(thing._describe(), thing.statistics().tasks_waiting)
    try:
        return repr(thing)
    except Exception as error:  # noqa: BLE001 - the user's; the report is not about that
        return f"repr() raises {type(error).__name__}"


def _can_probe(thing: Any) -> bool:
    """Return whether an object of the user has ``async acquire()`` and ``release()``, async or not."""
    acquire, release = getattr(thing, "acquire", None), getattr(thing, "release", None)
    if not inspect.iscoroutinefunction(acquire):
        return False
    try:
        inspect.signature(acquire).bind()
        inspect.signature(release).bind()  # type: ignore[arg-type]  # not callable: a TypeError
    except TypeError:
        return False
    return True


def _with_queue(text: str, waiting: int) -> str:
    if not text:
        return f"{waiting} waiting"
    return f"{text}, {waiting} waiting" if waiting else text
