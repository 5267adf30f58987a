"""Primitives that end with a block, like the tasks in it."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Hashable, Iterator
from contextlib import AbstractAsyncContextManager
from functools import partial
from types import TracebackType
from typing import Any, NoReturn, TypeVar, TypeVarTuple, final

import trio
from trio.lowlevel import enable_ki_protection

from structsync._core.queue.claimants import ClaimantArbiter
from structsync._core.queue.ledger import Ledger
from structsync._runtime.causes import error_of
from structsync._runtime.errors import PermitLeakError
from structsync._runtime.events import PrimitiveEvent
from structsync._runtime.live import Live, everywhere
from structsync._runtime.primitive import Primitive
from structsync._runtime.reports import lines_of, report

from .broadcast import Broadcast

PrimitiveT = TypeVar("PrimitiveT", bound=Primitive[Any] | Broadcast[Any])
Ts = TypeVarTuple("Ts")


def open_scope() -> AbstractAsyncContextManager[Scope]:
    """Open a nursery that owns primitives: they close when it ends, and leaks are reported.

    Use it like :func:`trio.open_nursery`::

        async with structsync.open_scope() as scope:
            limit = scope.own(structsync.Semaphore(3, max_value=3))
            for url in urls:
                scope.start_soon(fetch, url, limit)

    The block ends when its body and all its children have. Then each owned primitive is closed; and if
    something of one of them was not released, :exc:`PermitLeakError` names the primitive and the tasks that
    took more than they released, with the keys of a :class:`LockMap` (and, inside :func:`trace_waits`, the
    lines). It is raised alone if nothing else went wrong; otherwise it joins the exception group that trio
    raises.
    """
    return _ScopeManager()


@final
class Scope:
    """A nursery that owns primitives; made by :func:`open_scope`."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self._nursery = nursery
        self._owned: list[_Account] | None = []
        self._broadcasts: list[Broadcast[Any]] = []  # which lend nothing

    @property
    def nursery(self) -> trio.Nursery:
        """The nursery itself, for a function that wants one.

        Tasks started in it are children of the scope like any others.
        """
        return self._nursery

    @property
    def cancel_scope(self) -> trio.CancelScope:
        """The cancel scope around the body and the children, as in a nursery."""
        return self._nursery.cancel_scope

    @enable_ki_protection
    def own(self, primitive: PrimitiveT) -> PrimitiveT:
        """Close the primitive when the scope ends, and report what has not been released by then.

        Returns:
          The primitive.

        Raises:
          TypeError: if it is not a primitive of structsync.
          ValueError: if a scope owns it already.
          RuntimeError: if this scope has ended.
          trio.ClosedResourceError, trio.BrokenResourceError: if it is closed or broken already.
        """
        if not isinstance(primitive, Primitive | Broadcast):
            raise TypeError(f"a scope owns primitives of structsync, not {primitive!r}")
        if self._owned is None:
            raise RuntimeError("this scope has ended; own primitives inside its block")
        if isinstance(primitive, Broadcast):
            self._own_broadcast(primitive)
            return primitive
        if primitive._observers is not everywhere:
            raise _owned_already(primitive)
        if primitive._core.cause is not None:
            raise error_of(primitive._core.cause)
        self._owned.append(_Account(primitive))
        return primitive

    def _own_broadcast(self, broadcast: Broadcast[Any]) -> None:
        if broadcast._owned:
            raise _owned_already(broadcast)
        if broadcast.closed:
            broadcast._refuse_if_complete()
        broadcast._owned = True
        self._broadcasts.append(broadcast)

    def start_soon(
        self,
        async_fn: Callable[[*Ts], Awaitable[object]],
        *args: *Ts,
        name: object = None,
    ) -> None:
        """Start a child task; see :meth:`trio.Nursery.start_soon`."""
        self._nursery.start_soon(async_fn, *args, name=name)

    async def start(
        self, async_fn: Callable[..., Awaitable[object]], *args: object, name: object = None
    ) -> Any:
        """Start a child task and wait until it is ready; see :meth:`trio.Nursery.start`."""
        return await self._nursery.start(async_fn, *args, name=name)

    async def _end(self) -> PermitLeakError | None:
        accounts, self._owned = self._owned or [], None
        try:
            leaks = [leak for account in accounts if (leak := account.settle())]
        finally:  # whatever a primitive of the user's does, the others close
            for account in accounts:
                account.close()
            for broadcast in self._broadcasts:
                _close_from_here(broadcast.close)
                broadcast._owned = False
        for account in accounts:
            await account.primitive._after_close()
        return PermitLeakError("; ".join(leaks)) if leaks else None

    def __init_subclass__(cls) -> NoReturn:
        raise TypeError("Scope is final; only open_scope() makes scopes")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a Scope cannot be copied or pickled: it is a block of one task")


class _Account:
    """What a primitive had when a scope took it over, and which tasks took from it since."""

    def __init__(self, primitive: Primitive[Any]) -> None:
        self.primitive = primitive
        self.opening = primitive._balance()
        self.parts = primitive._parts_held()
        self.ledger = Ledger()
        primitive._observers = [self.note]

    def note(self, event: PrimitiveEvent) -> None:
        if event.kind in ("granted", "released"):
            units = self.primitive._units(event.claim)
            self.ledger.note(self._who(event), units if event.kind == "granted" else -units)

    def _who(self, event: PrimitiveEvent) -> Hashable:
        core = self.primitive._core
        if isinstance(core, ClaimantArbiter):
            return core.claimant_of(event.claim)  # the one that releases may be another task
        return event.task

    def close(self) -> None:
        """Close the primitive, if it can be closed from here."""
        # its class may mean something else by the name
        _close_from_here(partial(Primitive.close, self.primitive))
        self.primitive._observers = everywhere

    def settle(self) -> str | None:
        """Return what is missing, in words."""
        closing = self.primitive._balance()
        missing = (
            self.ledger.total()
            if self.opening is None or closing is None
            else self.opening - closing
        )
        if missing <= 0:
            return None
        debtors = ", ".join(self._debts())
        leak = f"{missing} not returned to {self.primitive!r}: {debtors or 'by no known task'}"
        report("leak", self.primitive, leak)
        return leak

    def _debts(self) -> Iterator[str]:
        for who, units in self.ledger.debtors():
            yield f"{who!r} took {units} too many{_place(self.primitive, who)}"
        for (key, who), part in self.primitive._parts_held().items():
            if (key, who) not in self.parts:
                yield f"{who!r} has locked {key!r}{_place(part, who)}"


def _place(primitive: Live[Any], who: Hashable) -> str:
    lines = lines_of(primitive, who)
    return f", acquired at {' and '.join(lines)}" if lines else ""


def _owned_already(primitive: object) -> ValueError:
    return ValueError(f"{primitive!r} is owned by a scope already; own it once")


def _close_from_here(close: Callable[[], None]) -> None:
    # In use by another run it cannot be, and an error about that would hide what ended the scope.
    with contextlib.suppress(RuntimeError):
        close()


class _ScopeManager:
    """The block of a scope: trio's nursery manager, and the end of what the scope owns."""

    @enable_ki_protection
    async def __aenter__(self) -> Scope:
        self._nursery_manager = trio.open_nursery()  # here: a manager may be made outside a run
        self._scope = Scope(await self._nursery_manager.__aenter__())
        return self._scope

    @enable_ki_protection
    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        try:
            handled = await self._nursery_manager.__aexit__(kind, error, traceback)
        except BaseException as raised:
            if leak := await self._scope._end():
                raise _joined(raised, leak) from None
            raise
        leak = await self._scope._end()
        if leak is None:
            return handled
        if handled or error is None:
            raise leak
        raise _joined(error, leak) from None


def _joined(error: BaseException, leak: PermitLeakError) -> BaseException:
    """Return one group of what trio raises and the leak, as if the leak were a child's error."""
    if isinstance(error, BaseExceptionGroup):
        group = error.derive([*error.exceptions, leak])
        return group.with_traceback(error.__traceback__)
    return BaseExceptionGroup("a structsync scope ended with a leak", [error, leak])
