"""Histories of concurrent operations, and whether they are linearizable.

A history says when each operation was called and when it returned, with its result: what the callers saw, and nothing
of what is inside. It is *linearizable* (Herlihy and Wing 1990) if each operation can be given one point between its
call and its return, so that a sequential object, to which they happen at these points one after the other,
gives the same results.

An operation that blocks has its point where it joins the queue: there it is granted, or it waits. What is done at
another point may grant it later, and it may not return before (Scherer and Scott 2004, dual data structures). One that
is cancelled has a second point, at which it leaves the queue; or none at all.

*At the call* is the stronger condition that first come, first served needs: the point at which an operation joins the
queue is no later than the next call of another one. Else a task that overtakes a waiter could be said to have come first.

The check goes through the history from its beginning, with all states that the sequential object may be in (Lowe
2017, just-in-time linearization): before an operation returns, those that were called may have had their points, in
any order.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import trio

from .sequential import Sequential, State

GRANTED, WOULD_BLOCK, CLOSED, CANCELLED = "granted", "would block", "closed", "cancelled"


@dataclass(eq=False)
class Operation:
    """One call: what it claims or does, and how it ended, once it has."""

    kind: str  # "wait" until the claim is granted, "try" it without waiting, or "do" something
    what: Any
    result: tuple[str, Any] | None = None

    def __repr__(self) -> str:
        ended = "" if self.result is None else f" -> {' '.join(map(str, self.result))}"
        return f"{self.kind} {self.what}{ended}"


class Event(NamedTuple):
    """The call of an operation, or its return."""

    returned: bool
    operation: int


#: The state of the sequential object, and the results of those that had their points and have not returned.
Possible: TypeAlias = tuple[State, frozenset[tuple[int, tuple[str, Any]]]]


@dataclass
class History:
    """What was called and what returned, in this order; the calls are made through it."""

    operations: list[Operation] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    async def waits(self, claim: Any, call: Callable[[], Awaitable[Any]]) -> Any:
        """Await an operation that blocks until its claim is granted."""
        number = self.called("wait", claim)
        try:
            result = await call()
        except trio.Cancelled:
            self.returned(number, CANCELLED)
            raise
        except trio.ClosedResourceError:
            self.returned(number, CLOSED)
            raise
        self.returned(number, GRANTED, result)
        return result

    def tries(self, claim: Any, call: Callable[[], Any]) -> bool:
        """Make a nowait call; return whether its claim was granted."""
        number = self.called("try", claim)
        try:
            result = call()
        except trio.WouldBlock:
            self.returned(number, WOULD_BLOCK)
            return False
        self.returned(number, GRANTED, result)
        return True

    def does(self, what: Any, call: Callable[[], Any]) -> None:
        """Make a call that never blocks, such as a release."""
        number = self.called("do", what)
        call()
        self.returned(number, GRANTED)

    def called(self, kind: str, what: Any) -> int:
        self.operations.append(Operation(kind, what))
        self.events.append(Event(False, len(self.operations) - 1))
        return len(self.operations) - 1

    def returned(self, number: int, how: str, result: Any = None) -> None:
        self.operations[number].result = (how, result)
        self.events.append(Event(True, number))

    # ==== The check ====

    def not_linearizable(self, sequential: Sequential, *, at_the_call: bool) -> str | None:
        """Return why no order of points explains the history; None if one does."""
        possible: set[Possible] = {(sequential.first(), frozenset())}
        called: set[int] = set()
        for at, (returned, number) in enumerate(self.events):
            if not returned:
                called.add(number)
                if at_the_call:
                    possible = set(self._at_once(number, possible, sequential))
                continue
            possible = set(self._without(number, self._after_points(possible, called, sequential)))
            called.remove(number)
            if not possible:
                return f"{self.operations[number]} cannot return here: {self._shown(at)}"
        return None

    def _at_once(
        self, number: int, possible: set[Possible], sequential: Sequential
    ) -> Iterator[Possible]:
        """Yield what is possible if an operation has its point now."""
        operation = self.operations[number]
        for state, results in possible:
            after, ended = sequential.happen(state, number, operation.kind, operation.what)
            yield after, results | ended
            if operation.result == (CANCELLED, None):
                yield state, results

    def _after_points(
        self, possible: set[Possible], called: set[int], sequential: Sequential
    ) -> set[Possible]:
        """Return what is possible once any of those that were called had their points."""
        found, left = set(possible), list(possible)
        while left:
            for one in self._after_one_point(left.pop(), called, sequential):
                if one not in found:
                    found.add(one)
                    left.append(one)
        return found

    def _after_one_point(
        self, possible: Possible, called: set[int], sequential: Sequential
    ) -> Iterator[Possible]:
        state, results = possible
        waiting, done = {number for number, _ in state.queue}, {number for number, _ in results}
        for number in called - done:
            operation = self.operations[number]
            if number in waiting:
                if operation.result == (CANCELLED, None):
                    after, ended = sequential.withdraw(state, number)
                    yield after, results | {(number, (CANCELLED, None)), *ended}
            else:
                after, ended = sequential.happen(state, number, operation.kind, operation.what)
                yield after, results | ended

    def _without(self, number: int, possible: set[Possible]) -> Iterator[Possible]:
        """Yield what remains possible if an operation returns now, with the result that it had."""
        result = self.operations[number].result
        for state, results in possible:
            if (number, result) in results:
                yield state, results - {(number, result)}
            elif result == (CANCELLED, None):  # it may have had no point at all
                ended = {one for one, _ in results}
                if number not in ended and all(one != number for one, _ in state.queue):
                    yield state, results

    def _shown(self, last: int) -> str:
        events = self.events[: last + 1]
        return "; ".join(
            f"{number} returns" if returned else f"{number} calls {self.operations[number]}"
            for returned, number in events
        )
