"""A session, and how it is opened."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, ParamSpec, TypeVar, cast, final

import trio

from structsync._core.shared.operations import Want
from structsync._runtime.arguments import check_count, check_sync

from .blocks import Block
from .condition import SharedCondition
from .events import SharedEvent
from .membership import Grant, Membership
from .memory import Deliveries
from .monitor import SharedMonitor
from .names import check_name
from .primitives import (
    SharedBarrier,
    SharedLatch,
    SharedLock,
    SharedRWLock,
    SharedSemaphore,
)
from .raised import first_of
from .remote_call import RemoteCall
from .synchronizer import SharedSynchronizer
from .urls import engine_of, lease_of, namespace_of

#: How long a session waits for its engine when it closes, in seconds.
CLOSING = 5

if TYPE_CHECKING:
    from ._calls.exchange import Exchange

P = ParamSpec("P")
T = TypeVar("T")


@final
class Session(Membership):
    """What :func:`open_session` yields: primitives by name, shared with other processes.

    Its methods create nothing: they name a primitive, which exists while any task uses it. A name has one
    definition at a time; using it with another one is a ``ValueError``.

    What a session does keep, until it ends, is a log and a task for each prefix of the names that it has used: for
    ``"order-17"``, which is a prefix of its own, but only one for all of ``"order/17"``, ``"order/18"`` and so on.
    Each renewal of a lease lists all of them. So names that contain a number need a prefix before it; beyond a
    thousand prefixes a warning is logged (logger ``structsync``).

    Attributes:
      identity: identifies this session among all sessions of its engine.
    """

    _calls: Exchange | None = None

    def semaphore(self, name: str, permits: int) -> SharedSemaphore:
        """Return the semaphore of that name.

        Raises:
          TypeError, ValueError: if ``permits`` is not an int, or less than 1; of all methods here: if the name is
              not a str, has no prefix, or cannot be encoded as UTF-8.
          trio.ClosedResourceError: of all methods here: if the session is closed.
          RuntimeError: of all methods here: in a thread other than that of the run that has opened the session.
        """
        check_count(permits, "permits")
        return SharedSemaphore(self, name, permits)

    def lock(self, name: str) -> SharedLock:
        """Return the lock of that name."""
        return SharedLock(self, name)

    def rwlock(self, name: str) -> SharedRWLock:
        """Return the read-write lock of that name."""
        return SharedRWLock(self, name)

    def latch(self, name: str, count: int) -> SharedLatch:
        """Return the latch of that name.

        Raises:
          TypeError, ValueError: if ``count`` is not an int, or less than 1.
        """
        check_count(count, "count")
        return SharedLatch(self, name, count)

    def barrier(self, name: str, parties: int) -> SharedBarrier:
        """Return the barrier of that name.

        Raises:
          TypeError, ValueError: if ``parties`` is not an int, or less than 1.
        """
        check_count(parties, "parties")
        return SharedBarrier(self, name, parties)

    def condition(self, name: str, lock: SharedLock) -> SharedCondition:
        """Return the condition of that name on a lock of the same prefix.

        Raises:
          TypeError: if it is not a :class:`SharedLock`.
          ValueError: if its prefix is another one.
        """
        return SharedCondition(self, name, lock)

    def monitor(self, name: str) -> SharedMonitor:
        """Return the monitor of that name: functions in any processes, of which one runs at a time."""
        return SharedMonitor(self, name)

    def acquire_all(self, *claims: Want) -> Block:
        """Return an async context manager that holds several things, taken in one step.

        It waits in all queues at once and holds nothing meanwhile, so no task deadlocks.

        Raises:
          TypeError: if something is not a claim.
          ValueError: if there is no claim, or if their prefixes differ, because each prefix has its own
              log; on entering, if two claims are on one primitive.
        """
        for claim in claims:
            if not isinstance(claim, Want):
                raise TypeError(
                    f"acquire_all takes claims, as claim() of a shared primitive returns them, not {claim!r}"
                )
        if len({want.name.partition("/")[0] for want in claims}) != 1:
            names = ", ".join([repr(want.name) for want in claims]) or "none"
            raise ValueError(f"acquire_all takes claims of one prefix, at least one; not {names}")
        self._check()
        return Block(self, claims)

    # ==== Calls ====

    def host(
        self,
        name: str,
        obj: object,
        interface: Callable[..., object] | None = None,
        *,
        errors: Sequence[type[Exception]] = (),
        concurrent: int = 100,
        ruled_by: str | None = None,
        ruled: Collection[str] | None = None,
    ) -> AbstractAsyncContextManager[Grant]:
        """Return an async context manager in which other sessions call the methods of an object.

        One session hosts a name at a time; others wait on entering, first come, first served. Calls that no
        host has received wait for the next one. At its end the block waits for running calls, and hands
        waiting calls to the next host; if it is cancelled or raises, running calls are cancelled. When the
        lease ends, the block is cancelled, and raises :exc:`LeaseLost`.

        Args:
          name: the name to call it by; see :class:`SharedPrimitive`.
          obj: the object. Its methods may be sync, async, or entries of a :class:`structsync.Monitor`.
          interface: a class or protocol, whose public methods are served, and no others. By default those
              of the object's class, or the entries of a :class:`structsync.Monitor`. Names that begin with
              an underscore are never served.
          errors: exception classes that callers know, too: they get these instead of a :exc:`RemoteError`.
              Those of Python and trio need not be named. Others are made anew from their ``args``, or from what
              their ``__reduce__`` returns; one whose text differs then becomes a :exc:`RemoteError`.
          concurrent: how many calls run at a time; more wait, first come, first served. Those of the entries of a
              monitor are not counted, because one of them runs at a time, and those that wait for a guard must
              not keep out others.
          ruled_by: the name of a :meth:`synchronizer`, which has to permit each call of a ruled entry that
              comes from a session.
          ruled: the ruled entries; by default all. Calls of other entries need no permission, and do not
              wait behind calls that do.

        Raises:
          TypeError: if a method cannot be called from another process: it is a generator, takes ``*args``,
              or has a parameter or result that is not data; if ``ruled_by`` is given and the object is no
              :class:`structsync.Monitor`; or if an argument here has the wrong type.
          ValueError: if ``concurrent`` is less than 1, two errors have one name, or one of ``ruled`` is not an
              entry; on entering, if others use the name for something else.
          RuntimeError: if ``structsync[calls]`` is not installed; on entering, if this task hosts the name
              already, or that synchronizer rules over 120 objects of this session already.
          LeaseLost: on entering, if the session has ended; on leaving, if it had ended before.
        """
        check_name(name)
        check_count(concurrent, "concurrent")
        exchange = self._exchange()
        from ._calls.failures import known_errors
        from ._calls.interface import methods_of

        methods = methods_of(type(obj) if interface is None else interface)
        for one in methods:
            if not callable(getattr(obj, one, None)):
                raise TypeError(f"{obj!r} has no method {one!r}, which the interface declares")
        if ruled_by is None:
            return exchange.host(name, obj, methods, known_errors(errors), concurrent)
        from ._calls.ruled import check_ruled

        check_name(ruled_by)
        names = check_ruled(obj, methods, ruled)
        return exchange.host(name, obj, methods, known_errors(errors), concurrent, ruled_by, names)

    def synchronizer(
        self, name: str, *, errors: Sequence[type[Exception]] = ()
    ) -> AbstractAsyncContextManager[SharedSynchronizer]:
        """Return an async context manager in which this process rules over objects that other sessions :meth:`host`.

        One session has a name at a time; others wait on entering, first come, first served. While none has
        it, the calls of ruled entries wait.

        Args:
          name: the name that hosts pass as ``ruled_by``.
          errors: as in :meth:`host`, for the errors of rules.

        Raises:
          TypeError, ValueError, RuntimeError, LeaseLost: as :meth:`host`.
        """
        check_name(name)
        exchange = self._exchange()
        from ._calls.failures import known_errors

        return exchange.synchronizer(name, known_errors(errors))

    def connect(
        self, name: str, interface: Callable[..., T], *, errors: Sequence[type[Exception]] = ()
    ) -> T:
        """Return an object whose methods are carried out by the host of that name.

        Awaiting one of them suspends only the calling task, until there is a host and the call has had its
        turn and ended there. Each call is carried out at most once. Cancelling it cancels it at the host,
        and waits for the confirmation: if it had been carried out before, it returns. To continue
        meanwhile, use :meth:`start`.

        Args:
          name: the name under which it is hosted.
          interface: a class or protocol whose public methods are async, or entries of a monitor. Arguments and
              results are data of the annotated types, at most 1 MiB a call (MessagePack).
          errors: exception classes that the host knows, too.

        Raises:
          TypeError: if a method of the interface is not async, or cannot be called from another process.
          ValueError: if two errors have one name.
          RuntimeError: without ``structsync[calls]``.

        A call raises:
          Exception: what the method raised; :exc:`RemoteError`, if its type is not known here.
          CallOutcomeUnknown: if the host or this session ended while the host had the call.
          LeaseLost: if this session ended before a host had the call.
          TypeError: if the method takes other arguments, or they are not data of the declared types.
          ValueError: if the call or its result is too long, or others use the name for something else.
        """
        check_name(name)
        exchange = self._exchange()
        from ._calls.failures import known_errors
        from ._calls.interface import methods_of
        from ._calls.proxy import Proxy

        methods = methods_of(interface)
        for method in methods.values():
            if not method.is_awaited:
                raise TypeError(
                    f"{method.name} is not async, and a call of another process has to be awaited; give an "
                    "interface that declares it with async def"
                )
        described = getattr(interface, "__qualname__", repr(interface))
        proxy = Proxy(exchange.caller(name), described, methods, known_errors(errors))
        return cast("T", proxy)

    def start(
        self, method: Callable[P, Awaitable[T]], /, *args: P.args, **kwargs: P.kwargs
    ) -> RemoteCall[T]:
        """Start a call of a method of an object from :meth:`connect`, and return at once.

        The call is cancelled when the session ends.

        Args:
          method: a method of such an object.
          args, kwargs: its arguments, which are sent as they are now.

        Raises:
          TypeError: if the method takes other arguments, or they are not data.
        """
        self._check()
        call: RemoteCall[T] = RemoteCall(getattr(method, "name", repr(method)))
        prepare = getattr(method, "_prepare", None)  # any other function has none
        make = partial(method, *args, **kwargs) if prepare is None else prepare(args, kwargs)
        self._nursery.start_soon(call._run, make)
        return call

    def _exchange(self) -> Exchange:
        self._check()
        try:
            from ._calls.exchange import Exchange
        except ImportError as error:
            raise RuntimeError("calls need msgspec: pip install 'structsync[calls]'") from error
        if self._calls is None:
            self._calls = Exchange(self)
        return self._calls


@asynccontextmanager
async def open_session(
    url: str,
    *,
    namespace: str | None = None,
    ttl: float | None = None,
    observer: Callable[[SharedEvent], object] | None = None,
    deliveries: Deliveries | None = None,
) -> AsyncIterator[Session]:
    """Open a session with an engine; leaving the block ends it, and releases what it holds.

    A process that is forked inside the block has no session: it must neither use this one nor leave its blocks, and
    cannot open the same file. Start it by ``spawn``, or have it run another program.

    Args:
      url: the engine: ``memory://`` is this run of trio; ``sqlite:///path`` a file that processes of this
          machine share (Linux); ``redis://host:port/db``, ``rediss://`` with TLS and ``unix:///path`` a
          server of Redis 7 or Valkey that several machines share (these need ``structsync[redis]``).
      namespace: separates programs that use the same engine: names belong to it. By default it is
          ``"default"``, which is logged.
      ttl: how long, in seconds, the session survives without contact to its engine; after that, others may
          be granted what it holds. All sessions of a namespace must use the same. By default 10 on a
          server, otherwise unlimited.
      observer: a sync function, called with each :class:`SharedEvent` of this session; one that raises is logged
          and removed.
      deliveries: for tests with ``memory://``: decides what happens to messages.

    Raises:
      ValueError: if there is no such engine, or it has no such option; if the namespace is empty, or cannot be
          encoded as UTF-8, or is in use with another ``ttl``.
      RuntimeError: if the file is that of another program, has another version or is in use in another
          container or network namespace, or was in use when this process was forked, or the system is not Linux; if the file is deleted or replaced
          meanwhile; if the server refuses the login, is too old, or evicts keys.
      OSError: if the server cannot be reached, does not answer within ``ttl``, or is still loading its data; if
          the file cannot be written, then or meanwhile.
      TypeError: if an argument is of another type.
    """
    if observer is not None:
        check_sync(observer, "observer")
    lasts = lease_of(url, ttl)
    engine = engine_of(url, namespace_of(url, namespace), lasts, deliveries)
    failure: BaseException | None = None
    try:
        async with trio.open_nursery() as nursery:
            since = trio.current_time()
            session = Session(engine, await engine.open(lasts), lasts, observer)
            session._move_deadline(since)
            begun = trio.Event()
            nursery.start_soon(session._run, begun)
            # Not nursery.start, which leaves behind what is shielded when it is cancelled meanwhile.
            with trio.CancelScope(shield=True):
                await begun.wait()
            try:
                yield session
            except BaseException as error:  # noqa: BLE001 - raised below, outside of the nursery
                failure = error
            finally:
                with trio.move_on_after(CLOSING, shield=True):
                    await session._close()
    except BaseExceptionGroup as group:
        # The tasks of a session are no children of the block: what ends one of them ends the session.
        raise first_of(group) from None
    if failure is not None:
        raise failure
