"""A condition by name: waits for a notification under a shared lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, final

from trio.lowlevel import current_task, enable_ki_protection

from structsync._core.shared.operations import Verb
from structsync._runtime.arguments import check_count, check_sync

from .membership import Grant, Membership
from .primitives import SharedLock, SharedPrimitive

T = TypeVar("T")


@final
class SharedCondition(SharedPrimitive):
    """Waits for a notification under a :class:`SharedLock` of the same prefix.

    A notification is not lost with a wait that is cancelled or whose session ends: the next waiter gets it.
    """

    _kind = "condition"

    def __init__(self, session: Membership, name: str, lock: SharedLock) -> None:
        super().__init__(session, name)
        if not isinstance(lock, SharedLock):
            raise TypeError(f"a shared condition needs a SharedLock, not {lock!r}")
        if lock.name.partition("/")[0] != name.partition("/")[0]:
            raise ValueError(
                f"a condition and its lock need the same prefix, not {name!r} and {lock.name!r}"
            )
        self._lock = lock

    def _made_with(self) -> object:
        return self._lock.name

    def _grant(self) -> Grant:
        grant = self._session._owners.get((current_task(), self._lock.name))
        if grant is None:
            raise RuntimeError(f"must hold {self._lock!r}; do it inside its block")
        return grant

    @enable_ki_protection
    async def wait(self) -> None:
        """Release the lock, wait for a notification, and acquire the lock again.

        A cancelled wait raises once it owns the lock again. The token of the grant is a new one.

        Raises:
          RuntimeError: if this task does not hold the lock.
          LeaseLost: if the session has ended, also where this was cancelled; others may have held the lock by then.
        """
        grant = self._grant()
        try:
            # The lock that it has released is not owned again, whatever becomes of its session.
            await self._ask(
                Verb.WAIT, self.name, grant._number, withdrawable=True, leaves_nothing=False
            )
        finally:
            grant.token = grant._client.token_of(grant._number) or grant.token

    @enable_ki_protection
    async def wait_for(self, predicate: Callable[[], T]) -> T:
        """Wait until the predicate is true; return its value. See :meth:`wait`.

        Raises:
          TypeError: if the predicate is not a sync function.
        """
        check_sync(predicate, "predicate")
        self._grant()
        while not (value := predicate()):
            await self.wait()
        return value

    @enable_ki_protection
    async def notify(self, n: int = 1) -> None:
        """Notify the ``n`` oldest waiters; each continues once it owns the lock.

        Raises:
          TypeError, ValueError: if n is not an int, or less than 1.
          RuntimeError: if this task does not hold the lock.
          LeaseLost: if the session has ended.
        """
        check_count(n, "n")
        await self._ask(Verb.NOTIFY, self.name, self._grant()._number, n)

    @enable_ki_protection
    async def notify_all(self) -> None:
        """Notify all waiters. See :meth:`notify`."""
        await self._ask(Verb.NOTIFY, self.name, self._grant()._number, None)
