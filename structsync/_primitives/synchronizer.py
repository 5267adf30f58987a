"""A synchronizer: rules over the entries of several monitors, for as long as a block lasts."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from threading import get_ident
from types import CoroutineType
from typing import TYPE_CHECKING, Any, NoReturn, ParamSpec, cast, final, overload

from trio.lowlevel import checkpoint, current_task, enable_ki_protection

from structsync._core.monitors.entry import Invocation, Trigger
from structsync._core.monitors.synchronizer import Rules, SynchronizerCore
from structsync._runtime import releasing
from structsync._runtime.arguments import check_name
from structsync._runtime.done import DONE
from structsync._runtime.runs import check_run, errors_of_ended
from structsync._runtime.transitions import at_once_or_after_this_step

from .entries import Entry
from .guards import GuardFunction, WithoutArguments, read_guard

if TYPE_CHECKING:
    from typing import Self

P = ParamSpec("P")


@final
class Synchronizer:
    """Rules over the entries of monitors that know nothing of them; the rules end with the block.

    At most one of three buttons is on, whatever the buttons are::

        async with structsync.Synchronizer() as synchronizer:
            for button in buttons:
                synchronizer.disable(button.on, when=lambda: len(lit) > 0)
                synchronizer.trigger(button.on, lambda: lit.append(1))
                synchronizer.trigger(button.off, lambda: lit.pop())
            ...

    A call of an entry starts when its monitor is free, its own guard holds, and no synchronizer disables
    it; these are evaluated in this order. The triggers of all synchronizers then run, and the call starts,
    all in one step. Several synchronizers may rule over one entry: their rules add up. Change what a rule
    reads in triggers: after each of them, the guards of all monitors of the synchronizer are evaluated
    again. If anything else changes it, call :meth:`Monitor.changed` on the monitors concerned.

    A disabled call is passed over, so calls without rules never wait for calls with rules. Fairness: in
    each monitor the oldest call that can start is next, except as :meth:`atomic` says. Cancellation: a call
    that is cancelled while it waits has run no trigger; a trigger has run if and only if its call has
    started, or was ended by the error of a trigger.

    Entering the block is a checkpoint, and raises RuntimeError while a block of it is entered already; after the
    end of that, it may be entered again. Until the block ends, its monitors are in use by its run, even while no
    task is inside.

    Args:
      name: its name in ``repr``.

    Source: Frølund and Agha 1993, synchronizers; Dinges and Agha 2012 on why they need a scope.
    """

    __slots__ = ("__weakref__", "_core", "_name", "_thread")

    def __init__(self, *, name: str | None = None) -> None:
        self._name = check_name(name)
        self._core = SynchronizerCore()
        self._thread = 0  # that of the run inside the block; 0 outside

    @enable_ki_protection
    async def __aenter__(self) -> Self:
        await checkpoint()  # first: another task may enter meanwhile
        if self._thread:
            raise RuntimeError("this synchronizer is entered already; make another one")
        self._thread = get_ident()
        self._core.entered_by = current_task()
        return self

    @enable_ki_protection
    def __aexit__(self, *exc_info: Any) -> CoroutineType[Any, Any, None]:
        at_once_or_after_this_step(partial(self._end, *exc_info))
        return DONE

    def _end(self, *exc_info: Any) -> None:
        self._thread = 0
        self._core.entered_by = None
        stack = ExitStack()  # if one monitor cannot be settled, the others still are
        for rules in reversed(self._core.end()):
            stack.callback(releasing.change, rules.primitive, rules.arbiter.settle)
        stack.__exit__(*exc_info)  # with the body's error, which it would else hide

    @overload
    def disable(self, entry: Entry[P, Any], when: Callable[P, bool]) -> None: ...
    @overload
    def disable(self, entry: Entry[P, Any], when: Callable[[], bool]) -> None: ...
    @overload
    def disable(self, entry: Entry[P, Any], when: Callable[[Invocation], bool]) -> None: ...
    @overload
    def disable(  # pyright: ignore[reportOverlappingOverload]
        self, entry: Entry[P, Any], when: WithoutArguments[bool]
    ) -> None: ...
    @enable_ki_protection
    def disable(self, entry: Any, when: GuardFunction) -> None:
        """Let no call of an entry start while the guard holds.

        Args:
          when: the guard, as in :meth:`Monitor.entry`; the types of its parameters are those of the
              entry's, in a lambda too. True means disabled.
              If it raises, the call for which it was evaluated gets the error, and no other.

        Raises:
          TypeError: if ``entry`` is not an entry, or ``when`` as in :func:`structsync.entry`.
          RuntimeError: outside the block of this synchronizer.
        """
        rules = self._rules_of(entry)
        guard = read_guard(when, of=entry.__wrapped__)
        self._change(entry, partial(self._core.disable, rules, guard))

    @overload
    def trigger(self, entry: Entry[P, Any], fn: Callable[P, object]) -> None: ...
    @overload
    def trigger(self, entry: Entry[P, Any], fn: Callable[[], object]) -> None: ...
    @overload
    def trigger(self, entry: Entry[P, Any], fn: Callable[[Invocation], object]) -> None: ...
    @overload
    def trigger(  # pyright: ignore[reportOverlappingOverload]
        self, entry: Entry[P, Any], fn: WithoutArguments[object]
    ) -> None: ...
    @enable_ki_protection
    def trigger(self, entry: Any, fn: Callable[..., object]) -> None:
        """Run a function whenever a call of an entry starts, before its body and in the same step.

        Triggers of one call run in the order in which they were set. If one raises, the call ends (and so
        do its partners, see :meth:`atomic`): the caller gets the error, and neither the body nor the later
        triggers run; what the earlier ones did is not undone.

        Args:
          fn: ``()``, ``(request)`` with an :class:`Invocation`, or parameters of the entry's own, by
              their names; sync.

        Raises:
          TypeError, RuntimeError: as :meth:`disable`.
        """
        rules = self._rules_of(entry)
        read = read_guard(fn, of=entry.__wrapped__, what="trigger")
        trigger = Trigger(read.function, reads_request=read.reads_request)
        self._change(entry, partial(self._core.trigger, rules, trigger))

    @enable_ki_protection
    def atomic(self, *entries: Entry[..., Any]) -> None:
        """Let calls of these entries start together only, one of each, all in one step.

        A call waits until each of the other entries has a call, too, that could start: the oldest such
        call is taken. Only the start is one step; how the bodies run is up to them. Groups that share
        an entry are one group. Of groups that one step permits and that need the same monitor, any may
        be first. A call made from inside a monitor of the group waits for itself.

        If an entry or a monitor of the group is closed, the calls that wait for it get
        :exc:`trio.ClosedResourceError`, and so do later calls while the group lasts.

        Args:
          entries: two or more, each of another monitor.

        Raises:
          ValueError: if there are fewer than two, or two of one monitor, counting the groups that this one
              merges with.
          TypeError, RuntimeError: as :meth:`disable`.
          trio.ClosedResourceError: if one of them is closed.
        """
        rules = [self._rules_of(entry) for entry in entries]
        if len(rules) < 2:
            raise ValueError(f"atomic needs two entries or more, not {len(rules)}")
        for entry in entries[1:]:
            self._change(entry, lambda: None)  # each of them may be in use by another run
        with errors_of_ended():
            self._change(entries[0], partial(self._core.atomic, rules))

    def _rules_of(self, entry: Entry[..., Any]) -> Rules:
        if not isinstance(entry, Entry):
            raise TypeError(f"must be an entry of a monitor, not {entry!r}")
        if self._thread != get_ident():
            raise RuntimeError(
                "a synchronizer has rules inside its `async with` block only, and in that run"
            )
        core = entry._core
        if core.rules is None:
            return Rules(core, entry._monitor_core, entry._monitor)
        return cast(Rules, core.rules)

    def _change(self, entry: Entry[..., Any], rule: Callable[[], None]) -> None:
        # A rule only forbids, so no task can start because of it.
        def transition() -> list[Any]:
            rule()
            return []

        # Under rules it belongs to this run, also while no task is inside.
        check_run(entry._monitor)
        releasing.change(entry._monitor, transition)

    def __init_subclass__(cls) -> NoReturn:
        raise TypeError("Synchronizer is final; keep a private one inside your class")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a Synchronizer cannot be copied or pickled: its rules are in the monitors")

    def __repr__(self) -> str:
        state = f"{len(self._core.concerned)} entries" if self._thread else "not entered"
        name = "" if self._name is None else f" {self._name!r}"
        return f"<Synchronizer{name} at {id(self):#x}: {state}>"
