"""A value that tasks wait on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, NoReturn, TypeVar, cast, final

import trio
from trio.lowlevel import enable_ki_protection

from structsync._core.primitives.value import Awaited, ValueCore
from structsync._runtime import parking, releasing
from structsync._runtime.arguments import check_sync
from structsync._runtime.live import PrimitiveStatistics
from structsync._runtime.primitive import Primitive

T = TypeVar("T")


@final
@dataclass(frozen=True, slots=True)
class ValueStatistics(PrimitiveStatistics):
    """The state of a :class:`Value`, for debugging.

    Attributes:
      value: the value.
    """

    value: object


class _Assignment(Generic[T]):
    """One assignment, and the next one. Those that every task has seen are not kept."""

    __slots__ = ("next", "value")

    def __init__(self, value: T) -> None:
        self.value: T = value
        self.next: _Assignment[T] | None = None


@final
class Value(Primitive[Awaited], Generic[T]):
    """A value that tasks wait on.

    Assign to :attr:`value`, from anywhere in the run. The tasks that wait for the new value are granted in
    that very step, so a value that held for a moment is not missed::

        state = structsync.Value("starting")
        ...
        await state.wait_for(lambda name: name in ("ready", "failed"))

    Each assignment counts, even of an equal value. After changing a mutable object in place, assign it
    again.

    Fairness: all waiters for a value are granted together. Cancellation: a cancelled wait changes
    nothing.

    Args:
      value: the first value.
      name: its name in ``repr`` and reports.

    Raises:
      TypeError: if ``name`` is not a str.

    Source: trio-util's ``AsyncValue``, whose waiters look at the value when they run, and may find
    another one.
    """

    __slots__ = ("_newest",)
    _core: ValueCore
    _newest: _Assignment[T]

    def __init__(self, value: T, *, name: str | None = None) -> None:
        super().__init__(ValueCore(value), name=name)
        self._newest = _Assignment(value)

    @property
    def value(self) -> T:
        """The value; may be assigned, which evaluates the predicate of each waiter once.

        The error of a predicate is raised by the wait that it belongs to; the value is assigned all the
        same. After :meth:`~Primitive.close` the value can still be read and assigned.

        Raises:
          RuntimeError: if it is assigned inside a predicate, guard or observer, or by another run
              than that of its waiters.
        """
        return cast(T, self._core.value)

    @value.setter
    @enable_ki_protection
    def value(self, value: T) -> None:
        def assign() -> list[Any]:
            self._newest.next = assignment = _Assignment(value)
            self._newest = assignment
            return self._core.assign(value)

        releasing.change(self, assign, events=(("changed", ("assign", value)),))

    @enable_ki_protection
    async def wait_for(self, predicate: Callable[[T], object]) -> T:
        """Wait until ``predicate(value)`` is true: now, or of a value that is assigned later.

        The predicate is evaluated at each assignment, in its step. It must not change anything.

        Returns:
          The value for which it was true; there may be another one by now.

        Raises:
          TypeError: if the predicate is not a sync function.
          Exception: what the predicate raises.
          trio.ClosedResourceError: if this is closed, before or meanwhile.
        """
        check_sync(predicate, "predicate")
        awaited = Awaited(predicate)
        await parking.acquire(self, awaited)
        return cast(T, awaited.found)

    def changes(self) -> Changes[T]:
        """Return an async iterator over the values that are assigned from now on, each once, in order.

        It may fall behind; then it keeps the values that it has not yielded yet. It need not be closed: it
        is dropped when nothing refers to it any more.
        """
        return Changes(self, self._newest)

    def statistics(self) -> ValueStatistics:
        """Return the state of this value, for debugging."""
        return ValueStatistics(len(self._core.queue), self._core.value)

    def _describe(self) -> str:
        return f"value {self._core.value!r}"

    def _describe_plainly(self) -> str:
        return ""

    def _details_of(self, claim: Awaited) -> dict[str, object]:
        predicate: object = claim.predicate
        return {"predicate": getattr(predicate, "__qualname__", None) or repr(predicate)}

    def _balance(self) -> int:
        return 0  # nothing is lent


@final
class Changes(Generic[T]):
    """The values that are assigned to a :class:`Value`, from :meth:`Value.changes`; an async iterator.

    Cancellation: what a cancelled step would have yielded, the next one yields.
    """

    __slots__ = ("__weakref__", "_seen", "_value", "_waits")

    _value: Value[T]
    _seen: _Assignment[T]
    _waits: bool

    def __init__(self, value: Value[T], seen: _Assignment[T]) -> None:
        self._value = value
        self._seen = seen
        self._waits = False

    def __init_subclass__(cls) -> NoReturn:
        raise TypeError("Changes is final; Value.changes() makes them")

    def __aiter__(self) -> Changes[T]:
        return self

    @enable_ki_protection
    async def __anext__(self) -> T:
        """Wait for the next assignment that this has not given yet.

        Raises:
          trio.BusyResourceError: if another task waits for it in this iterator.
          trio.ClosedResourceError: if the value is closed, before or meanwhile.
        """
        if self._waits:
            raise trio.BusyResourceError("another task already iterates; call changes() for each")
        seen, self._waits = self._seen, True
        try:
            await parking.acquire(self._value, Awaited(lambda _: seen.next is not None))
        finally:
            self._waits = False
        self._seen = cast("_Assignment[T]", seen.next)
        return self._seen.value

    def __repr__(self) -> str:
        return f"<Changes of {self._value!r}>"
