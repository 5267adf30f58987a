"""Sequential objects: what each primitive does if one operation happens after the other.

Each is naive and makes no use of the cores that ship. A claim is granted at once if no task is ahead of it and it fits;
else it joins the end of its queue. After each operation the heads are granted that fit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable
from typing import Any, ClassVar, NamedTuple, TypeAlias

Results: TypeAlias = frozenset[tuple[int, tuple[str, Any]]]


class State(NamedTuple):
    """What is held, who waits, the oldest first, and whether it is closed."""

    held: Any
    queue: tuple[tuple[int, Any], ...] = ()
    closed: bool = False


class Sequential(ABC):
    """A queue, and three functions over what is held."""

    nothing: ClassVar[Hashable] = 0  # what is held at first

    def first(self) -> State:
        return State(self.nothing)

    @abstractmethod
    def fits(self, held: Any, claim: Any) -> bool:
        """Return whether there is room for a claim."""

    @abstractmethod
    def take(self, held: Any, claim: Any) -> Any:
        """Return what is held once a claim is granted."""

    def do(self, held: Any, what: Any) -> Any:
        """Return what is held after something that never blocks: by default a claim is released."""
        return held - what

    def result(self, held: Any, claim: Any) -> Any:
        """Return what a call returns whose claim is granted."""
        return None

    def lane(self, claim: Any) -> Hashable:
        """Return which claims stand in one queue; by default all."""
        return None

    # ==== What happens ====

    def happen(self, state: State, number: int, kind: str, what: Any) -> tuple[State, Results]:
        """Return the state after an operation, and the results of all that ended by it."""
        if kind == "do":
            return self._do(state, number, what)
        if state.closed:
            return state, frozenset({(number, ("closed", None))})
        joined = state._replace(queue=(*state.queue, (number, what)))
        after, ended = self._settled(joined)
        if kind == "try" and all(one != number for one, _ in ended):
            return state, frozenset({(number, ("would block", None))})
        return after, ended

    def withdraw(self, state: State, number: int) -> tuple[State, Results]:
        """Return the state after a waiter has left the queue, and the results of those it let in."""
        left = tuple([one for one in state.queue if one[0] != number])
        return self._settled(state._replace(queue=left))

    def _do(self, state: State, number: int, what: Any) -> tuple[State, Results]:
        done = {(number, ("granted", None))}
        if what == "close":
            ended = {(one, ("closed", None)) for one, _ in state.queue}
            return state._replace(queue=(), closed=True), frozenset(done | ended)
        after, granted = self._settled(state._replace(held=self.do(state.held, what)))
        return after, granted | done

    def _settled(self, state: State) -> tuple[State, Results]:
        ended: Results = frozenset()
        while (head := self._next(state)) is not None:
            number, claim = head
            ended |= {(number, ("granted", self.result(state.held, claim)))}
            queue = tuple([one for one in state.queue if one[0] != number])
            state = state._replace(held=self.take(state.held, claim), queue=queue)
        return state, ended

    def _next(self, state: State) -> tuple[int, Any] | None:
        """Return the head of a queue that fits."""
        ahead = set()
        for number, claim in state.queue:
            if self.lane(claim) not in ahead and self.fits(state.held, claim):
                return number, claim
            ahead.add(self.lane(claim))
        return None


class Permits(Sequential):
    """A semaphore, or a capacity limiter: so many may be out. A lock: one."""

    def __init__(self, permits: int) -> None:
        self.permits = permits

    def fits(self, held: int, claim: int) -> bool:
        return held + claim <= self.permits

    def take(self, held: int, claim: int) -> int:
        return held + claim


class Bucket(Permits):
    """A rate limiter whose permits come back later than any task looks."""

    def do(self, held: int, what: Any) -> int:
        raise AssertionError("no task releases a permit of a rate limiter")


class ReadersAndWriters(Sequential):
    """A read-write lock: how many read, or -1 while one writes. A claim is what it wants to do."""

    def fits(self, held: int, claim: str) -> bool:
        return held == 0 or (held > 0 and claim == "read")

    def take(self, held: int, claim: str) -> int:
        return held + 1 if claim == "read" else -1

    def do(self, held: int, what: str) -> int:
        return max(held, 0) - 1 if what == "read" else 0


class Items(Sequential):
    """A buffer: the items in it. A claim is an item that is put, or None to get one."""

    nothing = ()

    def __init__(self, room: int) -> None:
        self.room = room

    def fits(self, held: tuple[Any, ...], claim: Any) -> bool:
        return bool(held) if claim is None else len(held) < self.room

    def take(self, held: tuple[Any, ...], claim: Any) -> tuple[Any, ...]:
        return held[1:] if claim is None else (*held, claim)

    def result(self, held: tuple[Any, ...], claim: Any) -> Any:
        return held[0] if claim is None else None

    def lane(self, claim: Any) -> bool:
        return claim is None


class Wakes(Sequential):
    """A wait queue: a wake is for those who wait now, and is not kept."""

    def fits(self, held: int, claim: Any) -> bool:
        return held > 0

    def take(self, held: int, claim: Any) -> int:
        return held - 1

    def do(self, held: int, what: int) -> int:
        return held + what

    def _do(self, state: State, number: int, what: Any) -> tuple[State, Results]:
        after, ended = super()._do(state, number, what)
        return after._replace(held=0), ended


class Unblocks(Wakes):
    """A parker: an unblock is kept until a task blocks."""

    def _do(self, state: State, number: int, what: Any) -> tuple[State, Results]:
        return Sequential._do(self, state, number, what)


class Count(Sequential):
    """A latch: how much is left to count."""

    def __init__(self, count: int) -> None:
        self.count = count

    def first(self) -> State:
        return State(self.count)

    def fits(self, held: int, claim: Any) -> bool:
        return held == 0

    def take(self, held: int, claim: Any) -> int:
        return held

    def do(self, held: int, what: int) -> int:
        return max(held - what, 0)


class Parties(Sequential):
    """A barrier: how many of the round that was released last have not passed yet."""

    def __init__(self, parties: int) -> None:
        self.parties = parties

    def fits(self, held: int, claim: Any) -> bool:
        return held > 0

    def take(self, held: int, claim: Any) -> int:
        return held - 1

    def _settled(self, state: State) -> tuple[State, Results]:
        if len(state.queue) == self.parties:
            state = state._replace(held=self.parties)
        return super()._settled(state)

    def result(self, held: int, claim: Any) -> Any:
        return self.parties - held
