"""The block in which something shared is held: cancelled when the lease ends, and released at its end."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import final

from trio.lowlevel import current_task, enable_ki_protection

from structsync._core.shared.kinds import HOST
from structsync._core.shared.operations import Outcome, Want
from structsync._runtime.outcomes import Pending

from .errors import LEASE_ENDED, LeaseLost
from .membership import Grant, Membership

#: What one task cannot hold twice: it would wait for itself.
ONCE_PER_TASK = ("lock", "rwlock", HOST)


@final
class Block:
    """An async context manager that holds something; it yields the :class:`Grant`."""

    def __init__(
        self, session: Membership, wants: Sequence[Want], queued: Pending[Outcome] | None = None
    ) -> None:
        self._session = session
        self._wants = wants
        self._queued = queued  # the position that was taken before; None: to be taken on entering
        self._entered = False  # or one waits to enter it
        self._grant: Grant | None = None

    @enable_ki_protection
    async def __aenter__(self) -> Grant:
        session, task = self._session, current_task()
        if self._entered:
            raise RuntimeError("this block is entered already; make another one for each task")
        once = [(task, want.name) for want in self._wants if want.kind in ONCE_PER_TASK]
        for one in once:
            if one in session._owners:
                raise RuntimeError(
                    f"this task holds {one[1]!r} already and would wait for itself; it is not reentrant"
                )
        self._entered = True
        try:
            grant = self._grant = await session._acquire(self._wants, self._queued)
        finally:
            self._entered = self._grant is not None
        session._owners.update(dict.fromkeys(once, grant))
        grant._scope.__enter__()
        return grant

    @enable_ki_protection
    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        grant, self._grant = self._grant, None
        self._entered = False
        assert grant is not None, "a block that was not entered cannot be left"
        for want in self._wants:
            self._session._owners.pop((grant._task, want.name), None)
        try:
            handled = grant._scope.__exit__(kind, error, traceback)
        except BaseException:
            await self._session._release(grant)
            raise
        held = await self._session._release(grant)
        if held and not grant._scope.cancelled_caught:
            return handled
        if error is not None and not handled:
            return False  # what the block raised says more than that its lease has ended
        raise LeaseLost(grant.name, grant.token, self._session._lost or LEASE_ENDED)
