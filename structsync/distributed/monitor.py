"""One monitor over functions of several processes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Generic, ParamSpec, TypeVar, cast, final, overload

from trio.lowlevel import current_task, enable_ki_protection

from structsync._core.shared.operations import Outcome
from structsync._primitives.entries import check_body, name_of, run_body
from structsync._runtime.outcomes import Pending

from .blocks import Block
from .membership import Grant, Membership
from .primitives import SharedLock, SharedStatistics
from .remote_call import RemoteCall

P = ParamSpec("P")
T = TypeVar("T")


@final
class SharedEntry(Generic[P, T]):
    """A function of this process under a :class:`SharedMonitor`: await it with the arguments of the function.

    The function itself, which runs at once wherever it is called, is ``__wrapped__``.

    Attributes:
      name: of the monitor and of the function.
    """

    name: str

    def __init__(self, monitor: SharedMonitor, function: Callable[P, Any]) -> None:
        check_body(function)
        self.__wrapped__: Callable[P, Any] = function
        self.name = f"{monitor.name}.{name_of(function)}"
        self._monitor = monitor

    def __repr__(self) -> str:
        return f"<entry {self.name} of {self._monitor!r}>"

    async def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run the function while no other is inside the monitor, in any process.

        Returns:
          What the function returns; of an async function, what awaiting it returns.

        Raises:
          Exception: what the function raises.
          LeaseLost: if the session is over before it has ended; then it was cancelled, or had not begun.
          RuntimeError: if this task is inside the monitor already.
          ValueError: if others use the name for something else.
        """
        return cast(T, await self._monitor._run(None, self.__wrapped__, *args, **kwargs))


@final
class SharedMonitor:
    """Functions in any processes, of which one runs at a time; :meth:`Session.monitor` makes it.

    Each process puts its own functions under it, at any time. They run in their own processes, which share
    only the monitor: the engine just records which call's turn it is.

    It is not reentrant: a task inside that calls an entry gets RuntimeError. A task inside may wait for
    others on a :meth:`Session.condition` of the monitor's :attr:`lock`. For functions with guards, host an
    object that has them (:meth:`Session.host`): a guard has to be evaluated where its state is.

    Fairness: first come, first served, over all processes. Cancellation: a call that is cancelled while it
    waits has not run; once it runs, its function is cancelled like any other. A process that dies inside
    leaves the monitor, and its function half done; the next call sees that from :meth:`grant`, whose token
    is larger.

    Attributes:
      name: the name by which other sessions find it.
      lock: the :class:`SharedLock` of the same name, which an entry holds while it runs. A task may hold it for a
          block, too, or together with others (:meth:`Session.acquire_all`).

    Source: Silvestre and others 2010 (``doWhenFree``); Hoare 1974.
    """

    name: str
    lock: SharedLock

    def __init__(self, session: Membership, name: str) -> None:
        self.lock = SharedLock(session, name)
        self.name = name
        self._session = session

    def __repr__(self) -> str:
        return f"<shared monitor {self.name!r}>"

    @overload
    def entry(self, fn: Callable[P, Awaitable[T]]) -> SharedEntry[P, T]: ...
    @overload
    def entry(self, fn: Callable[P, T]) -> SharedEntry[P, T]: ...
    def entry(self, fn: Callable[P, Any]) -> SharedEntry[P, Any]:
        """Put a function, sync or async, under this monitor; the function itself is unchanged.

        Raises:
          TypeError: if it is not callable, or a generator function.
        """
        return SharedEntry(self, fn)

    @overload
    def do_when_free(
        self, fn: Callable[P, Awaitable[T]], /, *args: P.args, **kwargs: P.kwargs
    ) -> RemoteCall[T]: ...
    @overload
    def do_when_free(
        self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs
    ) -> RemoteCall[T]: ...
    @enable_ki_protection
    def do_when_free(
        self, fn: Callable[P, Any], /, *args: P.args, **kwargs: P.kwargs
    ) -> RemoteCall[Any]:
        """Queue a call of a function, and return at once; it runs when its turn comes.

        It takes its position in the queue now, so calls of one task run in the order in which they were
        queued. It is cancelled when the session ends. A task inside the monitor must not wait for it there.

        Args:
          fn: sync or async; it runs in this process, in a task of the session.
          args, kwargs: its arguments.

        Returns:
          The call, to wait for, to cancel, or with a callback.

        Raises:
          TypeError: as :meth:`entry`.
          trio.ClosedResourceError: if the session is closed.
        """
        check_body(fn)
        self._session._check()
        call: RemoteCall[Any] = RemoteCall(f"{self.name}.{name_of(fn)}")
        queued = self._session._queue([self.lock.claim()])
        run = partial(self._run, queued, fn, *args, **kwargs)
        self._session._nursery.start_soon(call._run, run)
        return call

    def grant(self) -> Grant:
        """Return the grant of the call that this task runs; its token is larger than those of earlier calls.

        Raises:
          RuntimeError: if this task is not inside.
        """
        grant = self._session._owners.get((current_task(), self.name))
        if grant is None:
            raise RuntimeError(f"this task is not inside {self!r}")
        return grant

    @enable_ki_protection
    async def statistics(self) -> SharedStatistics:
        """Read its state: how many calls wait, and whether one runs.

        Raises:
          LeaseLost: if the session has ended.
          ValueError: if others use the name for something else.
        """
        return await self.lock.statistics()

    @enable_ki_protection
    async def _run(
        self, queued: Pending[Outcome] | None, fn: Callable[..., Any], /, *args: Any, **kwargs: Any
    ) -> Any:
        async with Block(self._session, [self.lock.claim()], queued):
            return await run_body(fn, *args, **kwargs)
