"""Waiting for a notification under a lock: the decisions of :class:`structsync.Condition`.

A wait has two stages. *Notified*: the request moves from the condition's queue to the end of the
lock's queue, inside ``notify``. *Granted*: it owns the lock; only now the wait has happened.

The stages are what lets trio's condition lose a notification (N1 in trio 0.35): the notified waiter
is cancelled in the lock's queue and takes the notification with it. Here the cancellation of a
notified waiter, in the same step, gives its position in the lock's queue to the oldest waiter that is
not notified; if there is none, the notification ends as if the cancelled one had never waited.

A cancelled waiter must own the lock before it may raise, because the ``async with`` around it will
release the lock. It joins the lock's queue at the end, notified or not, and nothing can take it out
again but the end of the lock itself: that is why a holder that waits for a cancelled waiter
deadlocks (N8), with any condition that has a lock.
"""

from __future__ import annotations

from collections.abc import Hashable
from itertools import islice
from typing import Any

from structsync._core.queue.arbiter import EndedForGood
from structsync._core.queue.claimants import ClaimantArbiter
from structsync._core.queue.request import BROKEN, WITHDRAWN, Request

from .exclusive import ExclusiveCore


class ConditionCore(ClaimantArbiter):
    """The queue of the tasks that wait for a notification, and the lock whose queue they move to."""

    def __init__(self, lock: ExclusiveCore[Any]) -> None:
        super().__init__()
        self.lock = lock

    def admits(self, claim: Hashable) -> bool:
        return False  # only a notification moves a waiter, and it moves it to the lock's queue

    def admit(self, claim: Hashable) -> None:
        raise NotImplementedError("a condition grants nothing; its lock does")

    def discharge(self, claim: Hashable) -> None:
        raise NotImplementedError("a condition holds nothing; its lock does")

    def refuse_unless_owner(self, claim: Hashable, verb: str) -> None:
        """Raise RuntimeError unless the claimant owns the lock."""
        if self.lock.owner != claim:
            raise RuntimeError(f"must {self.lock.possession} to {verb}")

    def wait(self, claim: Any, waiter: Any) -> tuple[Request[Any], list[Request[Any]]]:
        """Queue the owner of the lock for a notification and release the lock, in one step.

        Returns the request, and the requests that the release ended.

        Raises:
          EndedForGood: if the condition or the lock is: no task could own the lock to notify.
        """
        if self.lock.cause is not None:
            raise EndedForGood(self.lock.cause)
        request = self.enqueue(claim, waiter=waiter)
        self.lock.conditions[self] = None
        return request, self.lock.release(claim)

    def notify(self, count: int | None) -> list[Request[Any]]:
        """Move the oldest ``count`` waiters (all if None) to the end of the lock's queue.

        Ends no request: the caller owns the lock.
        """
        for request in self._oldest(count):
            self._pop(request)
            self.lock.join(request)
        return []

    def cancel(self, request: Request[Any]) -> list[Request[Any]] | None:
        """End a wait that is not granted yet; its waiter joins the lock's queue at the end.

        Returns the requests for the lock that this ended, perhaps that of the waiter itself; None,
        with nothing changed, if the wait had ended already.
        """
        if not self._stop_waiting(request):
            return None
        self.end_with(request, WITHDRAWN)
        self._rejoin(request)
        return self.lock.settle()

    def forget(self, request: Request[Any]) -> None:
        """Take out a waiter that can never own the lock again; its notification passes to the next.

        The caller settles the lock.
        """
        self._stop_waiting(request)
        self.end_with(request, WITHDRAWN)

    def end(self, cause: Hashable) -> list[Request[Any]]:
        """Close the condition: its waiters join the lock's queue, and raise once they own it.

        Those that are notified already got what they waited for, and return normally.
        """
        if self.cause is None:
            self.cause = cause
        waiting = self._oldest(None)
        for request in waiting:
            self._pop(request)
            self.end_with(request, BROKEN, cause)
            self._rejoin(request)
        # Without waiters nothing has changed in the lock, which may be in use by another run.
        return self.lock.settle() if waiting else []

    def break_waiters(self, cause: Hashable) -> list[Request[Any]]:
        """Break the waits for a notification, because the lock is closed or broken."""
        ended = self._oldest(None)
        for request in ended:
            self._pop(request)
            self.end_with(request, BROKEN, cause)
        return ended

    def restore(self, snapshot: Any) -> None:
        super().restore(snapshot)
        if self.queue:
            self.lock.conditions[self] = None
        else:
            self.lock.conditions.pop(self, None)

    def _oldest(self, count: int | None) -> list[Request[Any]]:
        most = len(self.queue)  # islice takes no int that is larger than a size
        return list(islice(self.queue, most if count is None else min(count, most)))

    def _stop_waiting(self, request: Request[Any]) -> bool:
        if self._pop(request):
            return True
        if request.queue is not self.lock.queue:
            return False
        for successor in self._oldest(1):
            self._pop(successor)
            self.lock.replace(request, successor)
            return True
        return self.lock.leave(request)

    def _rejoin(self, request: Request[Any]) -> None:
        again: Request[Any] = Request(request.claim, -1, request.waiter)
        again.parked, request.parked = request.parked, False
        self.lock.join(again)

    def _pop(self, request: Request[Any]) -> bool:
        found = self.leave(request)
        if not self.queue:
            self.lock.conditions.pop(self, None)
        return found
