"""Claims that belong to tasks: what becomes of them when a task ends without a release."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable

from .arbiter import Arbiter
from .request import ClaimT, Request


class OwnedArbiter(Arbiter[ClaimT]):
    """The public base of a core whose claims belong to tasks, for an :class:`OwnedPrimitive`.

    A claim contains its task, so no two tasks make the same claim: it is the task, or a tuple with it.
    """

    @abstractmethod
    def holds(self, claim: ClaimT) -> bool:
        """Return whether the claim is granted and not yet released. Pure."""

    def owner_exited(self, claim: ClaimT, cause: Hashable) -> list[Request[ClaimT]]:
        """End the claims of a task that has exited, and return all requests that this ended.

        What it held is released if there is no cause, once: the caller does so again while
        :meth:`holds` returns that an equal claim is held. Otherwise the primitive is broken with that cause.
        Its requests in the queue are withdrawn.
        """
        if cause is not None and self.holds(claim):
            return self.end(cause)
        left = [request for request in self.queue if request.claim == claim]
        ended = [one for request in left for one in (request, *(self.withdraw(request) or []))]
        return [*ended, *self.release(claim)] if self.holds(claim) else ended
