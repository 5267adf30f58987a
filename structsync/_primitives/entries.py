"""Entries: functions that run one at a time, under the monitor that they were put under."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Coroutine, Hashable
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import (
    TYPE_CHECKING,
    Any,
    Generic,
    NoReturn,
    ParamSpec,
    TypeVar,
    cast,
    final,
)

from trio.lowlevel import current_task, disable_ki_protection, enable_ki_protection

from structsync._core.monitors.entry import EntryCore, EntryRules, Guard, Invocation
from structsync._core.monitors.monitor import MonitorCore
from structsync._core.monitors.synchronizer import Rules
from structsync._runtime import parking, parking_together, releasing
from structsync._runtime.causes import EntryClosed
from structsync._runtime.code_names import code_of
from structsync._runtime.primitive import Primitive
from structsync._runtime.runs import running_task

if TYPE_CHECKING:
    pass


P = ParamSpec("P")
T = TypeVar("T")
M = TypeVar("M", bound=Primitive[Invocation])  # a Monitor


@final
class Entry(Generic[P, T]):
    """A function under a monitor: await it with the arguments of the function.

    Made by :meth:`Monitor.entry`, and by looking up a method marked with :func:`entry` on an object.
    Two of the same method and object are equal. The function itself, which runs at once wherever it
    is called, is ``__wrapped__``.
    """

    __slots__ = ("__name__", "__qualname__", "__weakref__", "__wrapped__", "_core", "_monitor")
    # What trio calls the task that is started with it.
    __name__: str
    __qualname__: str

    def __init__(
        self,
        monitor: Primitive[Invocation],
        function: Callable[P, Awaitable[T] | T],
        guard: Guard | None,
    ) -> None:
        self.__wrapped__: Callable[P, Any] = function
        self._monitor = monitor
        self.__name__ = name_of(function)
        self.__qualname__ = f"{type(monitor).__qualname__}.{self.__name__}"
        self._core = EntryCore(self.__name__, guard)

    @property
    def _monitor_core(self) -> MonitorCore:
        return cast(MonitorCore, self._monitor._core)

    @enable_ki_protection
    async def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run the function while no other task is inside the monitor, and its guard holds.

        Returns:
          What the function returns; of an async function, what awaiting it returns.

        Raises:
          Exception: what the function raises, or the guard when it was evaluated for this call.
          RuntimeError: if this task is inside the monitor already.
          trio.ClosedResourceError: if the monitor or the entry is closed before the function starts.
        """
        invocation = Invocation(self._core, current_task(), args, kwargs)
        await self._enter(invocation)
        try:
            return await run_body(self.__wrapped__, *args, **kwargs)
        finally:
            self._leave(invocation)

    def _enter(self, invocation: Invocation) -> Coroutine[Any, Any, None]:
        """Return what waits until the task of a call is inside; not async, to cost no frame more."""
        enter = parking.acquire if self._core.rules is None else parking_together.enter
        return enter(self._monitor, invocation)

    def _leave(self, invocation: Invocation) -> None:
        # Where the monitor was closed under a wait inside, the task is not inside any more.
        if self._monitor_core.owner is invocation.task:
            releasing.release(self._monitor, invocation)

    @enable_ki_protection
    def nowait(self, /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a sync function now if a call made now would start at once.

        Returns:
          What the function returns.

        Raises:
          trio.WouldBlock: if the call would have to wait: a task is inside, or the guard or a rule
              does not permit it.
          TypeError: if the function is async, because it might wait inside; or if it returns an awaitable.
          Exception, RuntimeError, trio.ClosedResourceError: as where the entry is awaited.
        """
        if inspect.iscoroutinefunction(self.__wrapped__):
            raise TypeError(
                f"{self._core.name} is async and may wait inside; await the entry itself"
            )
        invocation = Invocation(self._core, running_task() or OUTSIDE, args, kwargs)
        if self._core.rules is None:
            parking.acquire_nowait(self._monitor, invocation)
        else:
            parking_together.enter_nowait(self._monitor, invocation)
        try:
            return cast(T, _run_now(self.__wrapped__, *args, **kwargs))
        finally:
            self._leave(invocation)

    @enable_ki_protection
    def close(self) -> None:
        """Remove the function from the monitor for good.

        Waiting and later callers of the entry get :exc:`trio.ClosedResourceError`; a call that runs
        continues. Idempotent.
        """
        core, cause = self._monitor_core, EntryClosed(self._core.name)
        releasing.change(self._monitor, lambda: core.remove(self._core, cause))
        if self._core.rules is not None:
            break_waiters_of_partners(self._core.rules, cause)

    def __init_subclass__(cls) -> NoReturn:
        raise TypeError("Entry is final; only a monitor makes entries")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("an Entry cannot be copied or pickled: tasks wait for this one")

    def __repr__(self) -> str:
        return f"<Entry {self._core.name} of {self._monitor!r}>"


#: Whose call it is outside a run.
OUTSIDE = "code outside a run"


@disable_ki_protection  # the user's own code may be interrupted
def _run_now(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    result = function(*args, **kwargs)
    if isinstance(result, Awaitable):
        if inspect.iscoroutine(result):
            result.close()
        raise TypeError(
            f"{name_of(function)} returned an awaitable, which nowait() cannot wait for: {result!r}; "
            "await the entry itself"
        )
    return result


@disable_ki_protection  # the user's own code may be interrupted
async def run_body(
    function: Callable[P, Awaitable[T] | T], /, *args: P.args, **kwargs: P.kwargs
) -> T:
    result: Any = function(*args, **kwargs)
    return cast(T, await result if isinstance(result, Awaitable) else result)


def name_of(function: object) -> str:
    """Return how messages call a function."""
    return getattr(function, "__name__", None) or repr(function)


def check_body(function: object) -> None:
    """Raise TypeError unless the function runs to its end when it is called or awaited."""
    if not callable(function):
        raise TypeError(f"an entry must be a function, not {function!r}")
    call = getattr(function, "__call__", None)  # noqa: B004 - of an object whose call is a generator
    if any(_runs_in_steps(one) for one in (function, call)):
        raise TypeError(
            "an entry must not be a generator function or a context manager, because its body would run "
            f"after the call has left the monitor: {function!r}"
        )


#: What contextlib makes of a generator function: its body runs in a block, after the call.
_OF_BLOCKS = {cast(Any, make)(print).__code__ for make in (contextmanager, asynccontextmanager)}


def _runs_in_steps(function: object) -> bool:
    is_generator = inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function)
    return is_generator or code_of(function) in _OF_BLOCKS


def break_waiters_of_partners(rules: EntryRules, cause: Hashable) -> None:
    """End the calls that wait for an entry that is closed: they were to start together with its own."""
    for one in cast(Rules, rules).bonded()[1:]:
        releasing.change(one.primitive, partial(one.arbiter.break_waiters_of, one.entry, cause))
