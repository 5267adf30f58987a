"""A pending acquire as an object: wait for it, or give it up from anywhere."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Generic, NoReturn, cast, final

from trio.lowlevel import checkpoint_if_cancelled, enable_ki_protection

from structsync._core.queue.request import GRANTED, PENDING, ClaimT, Status
from structsync._core.queue.request import Request as CoreRequest

from .errors import RequestWithdrawn
from .live import Live
from .transitions import of_this_thread

if TYPE_CHECKING:
    from typing import Self


class RequestBase(ABC):
    """What a request for one claim and a request for several have in common."""

    __slots__ = ("__weakref__", "_released")

    def __init__(self) -> None:
        self._released = False

    @property
    @abstractmethod
    def status(self) -> Status:
        """``"pending"``, ``"granted"``, ``"withdrawn"`` or ``"broken"``; see :class:`Status`."""

    @property
    def released(self) -> bool:
        """Whether :meth:`close`, or the end of the block, has released what was granted."""
        return self._released

    @enable_ki_protection
    def withdraw(self) -> bool:
        """Give up a pending request and let in those behind it.

        Returns:
          True if this call withdrew it; False, with nothing changed, if it had ended already.
        """
        transitions = of_this_thread()
        if transitions.running and self.status is PENDING:
            # In the middle of a transition, which may still grant it: then it is released.
            transitions.later.append(self.close)
            return True
        return self._withdraw()

    @enable_ki_protection
    def close(self) -> None:
        """Withdraw the request if it is pending, or release what was granted; idempotent.

        Raises:
          RuntimeError: if another trio run uses the primitive now; or as ``release()`` does, if what
              was granted has been released by hand.
        """
        if self.withdraw() or self._released or self.status is not GRANTED:
            return
        self._released = True  # before: what runs meanwhile may close it, too
        try:
            self._release()
        except BaseException:
            self._released = False
            raise

    @enable_ki_protection  # an interrupt here would leave the grant with no task to release it
    def __enter__(self) -> Self:
        return self

    @enable_ki_protection
    def __exit__(self, *exc_info: object) -> None:
        self.close()

    @abstractmethod
    def _withdraw(self) -> bool: ...

    @abstractmethod
    def _release(self) -> None: ...

    @abstractmethod
    async def _wait_for_grant(self) -> None: ...

    async def _wait(self) -> None:
        if not self._released:
            await self._wait_for_grant()
        if self._released:  # before, or between the grant and the wake
            await checkpoint_if_cancelled()
            raise RequestWithdrawn("what this request was granted is released; make a new one")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        name = type(self).__name__
        raise TypeError(f"a {name} cannot be copied or pickled: its position in a queue is one")

    def _state(self) -> str:
        return f"{self.status}, released" if self._released else str(self.status)


@final
class Request(RequestBase, Generic[ClaimT]):
    """A position in the queue, or a grant, requested without waiting.

    Made by ``request()`` of a primitive. The claim is in the queue from that call on: a position can be
    taken in one task (or in a sync function), waited for later, and given up from anywhere. The owner is
    the task that made it. It is a *sync* context manager, and leaving it withdraws the request, or releases
    what was granted. So a timeout can limit the wait and not what comes after it::

        with semaphore.request(3) as request:
            with trio.fail_after(1):    # for the wait only
                await request.wait()
            ...                         # three permits are ours, for as long as this takes

    A granted request holds its permits whether or not a task waits for it, and a forgotten request blocks
    the requests behind it. Use it as a context manager, or close it.

    Source: Martins 2020, the request object of an asynchronous acquire.
    """

    __slots__ = ("_primitive", "_request")

    def __init__(self, primitive: Live[ClaimT], request: CoreRequest[ClaimT]) -> None:
        super().__init__()
        self._primitive = primitive
        self._request = request

    @property
    def status(self) -> Status:
        """``"pending"``, ``"granted"``, ``"withdrawn"`` or ``"broken"``; see :class:`Status`."""
        return self._primitive._status_of(self._request)

    @enable_ki_protection
    async def wait(self) -> None:
        """Wait until the request is granted.

        Cancellation keeps the position in the queue: wait again, or withdraw. A grant beats a cancellation.

        Raises:
          RequestWithdrawn: if it is withdrawn, or its grant is released, before or meanwhile.
          trio.BusyResourceError: if another task waits for it already.
          trio.ClosedResourceError: if the primitive was closed before the grant.
          trio.BrokenResourceError: if the primitive broke before the grant.
        """
        await self._wait()

    def _withdraw(self) -> bool:
        found: bool = cast(Any, self._primitive)._withdraw(self._request)
        return found

    def _release(self) -> None:
        request = self._request
        # what is requested is a Primitive
        cast(Any, self._primitive)._leave(request.claim, request.waiter)

    async def _wait_for_grant(self) -> None:
        await cast(Any, self._primitive)._wait_for(self._request)

    def __init_subclass__(cls) -> NoReturn:
        raise TypeError("Request is final; only primitives make requests")

    def __repr__(self) -> str:
        return f"<Request at {id(self):#x}: {self._state()} for {self._primitive!r}>"
