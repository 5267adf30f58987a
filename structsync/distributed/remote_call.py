"""A call whose caller goes on: a handle, and callbacks."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any, Generic, Literal, TypeAlias, TypeVar, final

import trio

from structsync._runtime.arguments import check_sync

from .raised import raised_by_call

T = TypeVar("T")

RemoteCallStatus: TypeAlias = Literal["pending", "returned", "raised", "cancelled"]

_log = logging.getLogger("structsync")


@final
class RemoteCall(Generic[T]):
    """A call that was started with :meth:`Session.start` or :meth:`SharedMonitor.do_when_free`.

    Attributes:
      status: ``"pending"``, then ``"returned"``, ``"raised"`` or ``"cancelled"``.
    """

    status: RemoteCallStatus

    def __init__(self, name: str) -> None:
        self.status = "pending"
        self._name = name
        self._scope = trio.CancelScope()
        self._ended = trio.Event()
        self._value: Any = None
        self._error: BaseException | None = None
        self._callbacks: list[Callable[[RemoteCall[T]], object]] = []

    def __repr__(self) -> str:
        return f"<call of {self._name}, {self.status}>"

    async def wait(self) -> T:
        """Wait until the call has ended, and return its result. Cancelling the wait does not cancel the call.

        Raises:
          Exception: what the call raised, also where it was cancelled and its cleanup raised.
          RuntimeError: if it was cancelled.
        """
        await self._ended.wait()
        return self.result()

    def result(self) -> T:
        """Return the result of a call that has ended, or raise its error.

        Raises:
          RuntimeError: if it has not ended, or was cancelled.
        """
        if self._error is not None:
            raise self._error
        if self.status != "returned":
            raise RuntimeError(f"{self!r} has no result")
        value: T = self._value
        return value

    def cancel(self) -> None:
        """Cancel the call. If it is carried out before its host learns of that, it returns."""
        self._scope.cancel()

    def then(self, callback: Callable[[RemoteCall[T]], object]) -> RemoteCall[T]:
        """Call a sync function with this call when it ends, or at once if it has ended; return the call.

        What the function raises is logged, because no task waits for it.

        Raises:
          TypeError: if it is not a sync function.
        """
        check_sync(callback, "callback")
        if self._ended.is_set():
            self._call_back(callback)
        else:
            self._callbacks.append(callback)
        return self

    async def _run(self, make: Callable[[], Awaitable[T]]) -> None:
        ended: RemoteCallStatus = "cancelled"
        try:
            with self._scope:
                try:
                    self._value = await make()
                    ended = "returned"
                except BaseException as error:  # noqa: BLE001 - it is for the task that waits
                    self._error = raised_by_call(error)
                    ended = "raised"
        finally:
            self.status = ended
            self._ended.set()
            for callback in self._callbacks:
                self._call_back(callback)

    def _call_back(self, callback: Callable[[RemoteCall[T]], object]) -> None:
        try:
            callback(self)
        except Exception:  # noqa: BLE001 - it is the user's, and no part of this
            _log.exception("callback %r of %r failed", callback, self)
