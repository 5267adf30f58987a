"""A monitor: functions that run one at a time, each when its guard holds."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Any, Literal, ParamSpec, TypeAlias, TypeVar, final, overload

from trio.lowlevel import Task, enable_ki_protection

from structsync._core.monitors.entry import Guard, Invocation
from structsync._core.monitors.hoare import HoareConditionCore
from structsync._core.monitors.monitor import MonitorCore
from structsync._core.primitives.condition import ConditionCore
from structsync._runtime import releasing
from structsync._runtime.live import PrimitiveStatistics
from structsync._runtime.primitive import Primitive

from .entries import (
    Entry,
    break_waiters_of_partners,
    check_body,
)
from .entry_methods import check_attributes, check_entries
from .guards import GuardFunction, WithoutArguments, read_guard
from .monitor_condition import MonitorCondition, details_of_call

P = ParamSpec("P")
T = TypeVar("T")
Discipline: TypeAlias = Literal["mesa", "hoare"]


@final
@dataclass(frozen=True, slots=True)
class MonitorStatistics(PrimitiveStatistics):
    """The state of a :class:`Monitor`, for debugging.

    ``tasks_waiting`` counts the tasks that wait to enter, or to enter again; not those that wait on
    its conditions.

    Attributes:
      owner: the task inside, or None.
    """

    owner: Task | None


class Monitor(Primitive[Invocation]):
    """An object whose entries run one at a time, each when its guard holds.

    Subclass it and mark methods, or put functions under it whenever you like::

        class Account(Monitor):
            def __init__(self) -> None:
                super().__init__()
                self.balance = 0

            @entry
            async def deposit(self, amount: int) -> None:
                self.balance += amount

            @entry
            def withdraw(self, amount: int) -> None:
                self.balance -= amount

            @withdraw.when
            def withdraw_when(self, amount: int) -> bool:
                return amount <= self.balance

    An entry is awaited, whether its function is sync or async; arguments, results and errors pass through.
    A *guard* is a sync function without effects. It is evaluated only while no task is inside, and after
    each change: when a task leaves, or a guard is set or removed. Announce what changes elsewhere by
    :meth:`changed`. A guard that reads neither the request nor its arguments is evaluated once for all
    calls that wait for its entry. A guard that raises fails the call for which it was evaluated, and no
    other.

    An entry may not have the name of a method of Monitor, and what overrides an entry in a subclass
    must be an entry: both are a TypeError when the class is made. An overriding entry has the guard
    that it is given itself, and not that of the entry that it overrides. Its body may call the overridden
    function itself, as ``Account.withdraw.__wrapped__(self, amount)``. A subclass or a mixin that has, declares
    or sets a private name that Monitor has for itself, such as ``_entries``, is a TypeError, too: the two would
    be one attribute. What a :class:`Primitive` lets subclasses override may be overridden.

    A monitor is not reentrant: a task inside that calls an entry gets RuntimeError. It never breaks: a call
    leaves the monitor, however its function ends.

    Fairness: of all calls whose guards hold, of whichever entry, the oldest is next; a call whose guard
    does not hold is passed over. Cancellation: a call that is cancelled while it waits has not run; once it
    runs, its function is cancelled like any other.

    Args:
      discipline: what a signal does on a :meth:`condition`. ``"mesa"``: the notifier continues, and the
          notified task waits in the queue like all others. ``"hoare"``: the waiter continues at once, and
          the signaller waits, ahead of the whole queue.
      name: its name in ``repr``, errors, leaks and reports; None keeps one that was assigned before.

    Raises:
      ValueError: if the discipline is another one.

    Source: Hoare 1974; Silvestre and others 2010 (``doWhenFree``, synchronization constraints).
    """

    __slots__ = ("_discipline", "_entries")
    _core: MonitorCore

    def __init__(self, *, discipline: Discipline = "mesa", name: str | None = None) -> None:
        if discipline not in ("mesa", "hoare"):
            raise ValueError(f"discipline must be 'mesa' or 'hoare', not {discipline!r}")
        super().__init__(MonitorCore(), name=name)
        self._discipline: Discipline = discipline
        self._entries: dict[object, Entry[..., Any]] = {}  # of the methods that are marked

    def __init_subclass__(cls) -> None:
        check_entries(cls, Monitor)  # first: of what is an entry this says more
        check_attributes(cls)
        super().__init_subclass__()

    # One for each form of a guard: to a union of these, mypy would not tell a lambda its types.
    @overload
    def entry(
        self, fn: Callable[P, Awaitable[T]], when: Callable[P, bool] | None = None
    ) -> Entry[P, T]: ...
    @overload
    def entry(self, fn: Callable[P, Awaitable[T]], when: Callable[[], bool]) -> Entry[P, T]: ...
    @overload
    def entry(
        self, fn: Callable[P, Awaitable[T]], when: Callable[[Invocation], bool]
    ) -> Entry[P, T]: ...
    @overload
    def entry(  # pyright: ignore[reportOverlappingOverload]
        self, fn: Callable[P, Awaitable[T]], when: WithoutArguments[bool]
    ) -> Entry[P, T]: ...
    @overload
    def entry(self, fn: Callable[P, T], when: Callable[P, bool] | None = None) -> Entry[P, T]: ...
    @overload
    def entry(self, fn: Callable[P, T], when: Callable[[], bool]) -> Entry[P, T]: ...
    @overload
    def entry(self, fn: Callable[P, T], when: Callable[[Invocation], bool]) -> Entry[P, T]: ...
    @overload
    def entry(  # pyright: ignore[reportOverlappingOverload]
        self, fn: Callable[P, T], when: WithoutArguments[bool]
    ) -> Entry[P, T]: ...
    def entry(self, fn: Callable[P, Any], when: GuardFunction | None = None) -> Entry[P, Any]:
        """Put a function, sync or async, under this monitor.

        Take it out again with :meth:`Entry.close`.

        Args:
          when: the guard: ``()``, ``(request)`` with an :class:`Invocation`, or parameters of the
              function's own, by their names; in a lambda too, type checkers know what these are.

        Returns:
          The entry, to be awaited; the function itself is unchanged.

        Raises:
          TypeError: as :func:`structsync.entry`.
        """
        check_body(fn)
        return Entry(self, fn, None if when is None else read_guard(when, of=fn))

    @overload
    def constrain(self, entry: Entry[P, Any], guard: Callable[P, bool]) -> None: ...
    @overload
    def constrain(self, entry: Entry[P, Any], guard: Callable[[], bool]) -> None: ...
    @overload
    def constrain(self, entry: Entry[P, Any], guard: Callable[[Invocation], bool]) -> None: ...
    @overload
    def constrain(  # pyright: ignore[reportOverlappingOverload]
        self, entry: Entry[P, Any], guard: WithoutArguments[bool]
    ) -> None: ...
    @enable_ki_protection
    def constrain(self, entry: Any, guard: GuardFunction) -> None:
        """Set or replace the guard of an entry, and start calls that it permits.

        Args:
          guard: as in :meth:`entry`.

        Raises:
          TypeError: if ``entry`` is not an entry, or ``guard`` as in :func:`structsync.entry`.
          ValueError: if it is an entry of another monitor.
        """
        self._check_entry(entry)
        self._set_guard(entry, read_guard(guard, of=entry.__wrapped__))

    @enable_ki_protection
    def unconstrain(self, entry: Entry[..., Any]) -> None:
        """Remove the guard of an entry, if it has one, and start calls that this permits.

        Raises:
          TypeError, ValueError: as :meth:`constrain`.
        """
        self._check_entry(entry)
        self._set_guard(entry, None)

    def _check_entry(self, entry: Entry[..., Any]) -> None:
        if not isinstance(entry, Entry):
            raise TypeError(f"must be an entry of this monitor, not {entry!r}")
        if entry._monitor is not self:
            raise ValueError(f"{entry!r} is not an entry of {self!r}")

    def _set_guard(self, entry: Entry[..., Any], guard: Guard | None) -> None:
        releasing.change(self, lambda: self._core.constrain(entry._core, guard))

    @enable_ki_protection
    def changed(self) -> None:
        """Evaluate the guards again, because the state was changed otherwise than by an entry.

        While a task is inside, this does nothing: the guards are evaluated when that call leaves.
        """
        releasing.change(self, self._core.settle)

    def condition(self, *, name: str | None = None) -> MonitorCondition:
        """Return a new condition, to wait on inside this monitor."""
        hoare = self._discipline == "hoare"
        return MonitorCondition(self, HoareConditionCore if hoare else ConditionCore, name)

    def _end(self, cause: Hashable) -> None:
        super()._end(cause)
        for rules in self._core.rules:
            break_waiters_of_partners(rules, cause)

    def statistics(self) -> MonitorStatistics:
        """Return the state of this monitor, for debugging."""
        owner: Any = self._core.owner
        return MonitorStatistics(self._core.count_waiting(), owner)

    def _describe(self) -> str:
        owner = self._core.owner
        return "free" if owner is None else f"occupied by {owner!r}"

    def _describe_plainly(self) -> str:
        return Monitor._describe(self)  # which a subclass may override

    def _details_of(self, claim: Invocation) -> dict[str, object]:
        return details_of_call(claim)

    def _balance(self) -> int:
        return 0 if self._core.owner is None else -1
