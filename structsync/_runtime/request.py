"""A pending acquire as an object: wait for it, or withdraw it from anywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NoReturn, final

from trio.lowlevel import enable_ki_protection

from structsync._core.queue.request import GRANTED, PENDING, ClaimT, Status
from structsync._core.queue.request import Request as CoreRequest

from . import parking
from .live import Live
from .transitions import of_this_thread

if TYPE_CHECKING:
    from typing import Self


@final
class Request(Generic[ClaimT]):
    """A position in the queue, or a grant, that a task asked for without waiting.

    Made by ``request()`` of a primitive. The claim is in the queue from that call on, so that a place
    can be taken in one task (or in a sync function) and waited for later, and given up from
    anywhere. The owner is the task that made it. As a *sync* context manager, leaving it withdraws
    the request, or gives back what was granted::

        with semaphore.request(3) as request:
            prepare()                   # our position in the queue is kept meanwhile
            await request.wait()
            ...                         # three permits are ours

    A request that is granted holds its permits whether or not anybody waits for it: one that is
    made and forgotten blocks those behind it. Use it as a context manager, or withdraw it.

    Source: seed 002, the request object of an asynchronous acquire.
    """

    __slots__ = ("__weakref__", "_primitive", "_released", "_request")

    def __init__(self, primitive: Live[ClaimT], request: CoreRequest[ClaimT]) -> None:
        self._primitive = primitive
        self._request = request
        self._released = False

    @property
    def status(self) -> Status:
        """``"pending"``, ``"granted"``, ``"withdrawn"`` or ``"broken"``; see :class:`Status`."""
        return self._request.status

    @enable_ki_protection
    async def wait(self) -> None:
        """Wait until the request is granted.

        Cancellation keeps the position in the queue: wait again, or withdraw. A grant beats a cancellation.

        Raises:
          RequestWithdrawn: if it is withdrawn, before or meanwhile.
          trio.BusyResourceError: if another task waits for it already.
          trio.ClosedResourceError: if the primitive was closed before the grant.
          trio.BrokenResourceError: if the primitive broke before the grant.
        """
        await parking.wait_for(self._primitive, self._request)

    @enable_ki_protection
    def withdraw(self) -> bool:
        """Give up a pending request and let in those behind it.

        Returns:
          True if this call withdrew it; False, with nothing changed, if it had ended already.
        """
        transitions = of_this_thread()
        if transitions.running and self._request.status is PENDING:
            # In the middle of a transition, which may still grant it: then it is released.
            transitions.later.append(self._withdraw_or_release)
            return True
        return parking.withdraw(self._primitive, self._request)

    @enable_ki_protection  # an interrupt here would leave the grant with nobody to give it back
    def __enter__(self) -> Self:
        return self

    @enable_ki_protection
    def __exit__(self, *exc_info: object) -> None:
        if not self.withdraw():
            self._release_once()

    def _withdraw_or_release(self) -> None:
        if not parking.withdraw(self._primitive, self._request):
            self._release_once()

    def _release_once(self) -> None:
        if self.status is GRANTED and not self._released:
            self._released = True
            parking.release(self._primitive, self._request.claim)

    def __init_subclass__(cls) -> NoReturn:
        raise TypeError("Request is final; primitives make requests, and no other kind of them")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a Request cannot be copied or pickled: it is one position in one queue")

    def __repr__(self) -> str:
        return f"<Request at {id(self):#x}: {self.status} for {self._primitive!r}>"
