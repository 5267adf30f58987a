"""Primitives by name, which all sessions with the same engine and namespace share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, ClassVar, TypeVar, final

from trio.lowlevel import Task, current_task, enable_ki_protection

from structsync._core.shared.operations import Outcome, Verb, Want
from structsync._runtime.arguments import check_count, check_sync

from .blocks import Block
from .membership import Grant, Membership
from .names import check_name

T = TypeVar("T")


@final
@dataclass(frozen=True, slots=True)
class SharedStatistics:
    """The state of a shared primitive, in all sessions.

    Attributes:
      tasks_waiting: how many requests wait.
      holders: how many grants are held.
      value: the permits on hand of a semaphore; what is left to count down of a latch; otherwise None.
    """

    tasks_waiting: int
    holders: int
    value: int | None


class SharedPrimitive:
    """What shared primitives have in common; the methods of :class:`Session` make them.

    Attributes:
      name: the name by which other sessions find it. The part before the first ``/`` is its prefix: names
          with the same prefix are decided together, in one log, which a session keeps until it ends. Without a
          ``/`` all of it is the prefix; so write ``"order/17"``, not ``"order-17"``, where there are many.
    """

    name: str
    _kind: ClassVar[str]

    def __init__(self, session: Membership, name: str, size: int | None = None) -> None:
        check_name(name)
        session._check()
        self.name = name
        self._session = session
        self._size = size

    def __repr__(self) -> str:
        size = "" if self._size is None else f" of {self._size}"
        return f"<shared {self._kind} {self.name!r}{size}>"

    def _made_with(self) -> object:
        """Return what it has to have in common with all others of its name."""
        return self._size

    def _want(self, amount: Any = None) -> Want:
        return Want(self.name, self._kind, self._size, amount)

    async def _ask(self, verb: Verb, *details: Any, **undone: bool) -> Outcome:
        client = self._session._client(self.name)
        return await self._session._ask(client, self.name, verb, *details, **undone)

    async def statistics(self) -> SharedStatistics:
        """Read its current state.

        Raises:
          LeaseLost: if the session has ended.
          ValueError: if others use the name for something else.
        """
        client = self._session._client(self.name)
        await client.read(self.name)
        state = client.replica.core
        found = state.find(self.name, self._kind, self._made_with())
        places = [
            place
            for place in state.places.values()
            if any(want.name == self.name for want in place.wants)
        ]
        value = {"semaphore": "value", "latch": "count"}.get(self._kind)
        return SharedStatistics(
            0 if found is None else len(found.core.queue),
            sum(1 for place in places if place.token),
            None if value is None else self._size if found is None else getattr(found.core, value),
        )


class _Entered(SharedPrimitive, ABC):
    """``async with`` on the primitive itself, by any number of tasks."""

    def __init__(self, session: Membership, name: str, size: int | None = None) -> None:
        super().__init__(session, name, size)
        self._blocks: dict[Task, list[Block]] = {}

    @abstractmethod
    def _block(self) -> Block:
        """Return the block that ``async with`` enters."""

    @enable_ki_protection
    async def __aenter__(self) -> Grant:
        block = self._block()
        grant = await block.__aenter__()
        self._blocks.setdefault(current_task(), []).append(block)
        return grant

    @enable_ki_protection
    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        task = current_task()
        block = self._blocks[task].pop()
        if not self._blocks[task]:
            del self._blocks[task]
        return await block.__aexit__(kind, error, traceback)


@final
class SharedSemaphore(_Entered):
    """Permits that all sessions share; first come, first served.

    ``async with semaphore as grant:`` holds one permit, :meth:`permits` several. A cancelled wait leaves the
    queue, and nothing was taken. A session that ends releases what it holds.
    """

    _kind = "semaphore"

    def _block(self) -> Block:
        return self.permits(1)

    def permits(self, n: int = 1) -> Block:
        """Return an async context manager that holds ``n`` permits, all or none.

        Raises:
          TypeError: if n is not an int.
          ValueError: if it is less than 1; on entering, if it is more than there are, or if others use the
              name for something else.
          LeaseLost: on entering, if the session has ended; on leaving, if it had ended before.
        """
        return Block(self._session, [self.claim(n)])

    def claim(self, n: int = 1) -> Want:
        """Return what :meth:`Session.acquire_all` takes: ``n`` permits.

        Raises:
          TypeError, ValueError: if n is not an int, or less than 1.
        """
        check_count(n, "n")
        return self._want(n)


@final
class SharedLock(_Entered):
    """A lock that all sessions share; first come, first served.

    ``async with lock as grant:`` holds it. A cancelled wait leaves the queue. A session that ends releases
    it. Unlike a :class:`structsync.Lock`, it is not broken by that, because the next holder sees from its
    token that it is not the first. A task that acquires it twice gets ``RuntimeError``.
    """

    _kind = "lock"

    def __init__(self, session: Membership, name: str) -> None:
        super().__init__(session, name)
        self._wants = (self.claim(),)

    def _block(self) -> Block:
        return Block(self._session, self._wants)

    def claim(self) -> Want:
        """Return what :meth:`Session.acquire_all` takes."""
        return self._want()


@final
class SharedRWLock(SharedPrimitive):
    """Many readers or one writer, in all sessions; first come, first served.

    A reader that comes after a waiting writer waits for it. A task that acquires it twice gets
    ``RuntimeError``.
    """

    _kind = "rwlock"

    def reading(self) -> Block:
        """Return an async context manager that holds it for reading."""
        return Block(self._session, [self.read_claim()])

    def writing(self) -> Block:
        """Return an async context manager that holds it for writing."""
        return Block(self._session, [self.write_claim()])

    def read_claim(self) -> Want:
        """Return what :meth:`Session.acquire_all` takes, for reading."""
        return self._want("read")

    def write_claim(self) -> Want:
        """Return what :meth:`Session.acquire_all` takes, for writing."""
        return self._want("write")


@final
class SharedLatch(SharedPrimitive):
    """A count that falls to zero, once. It is remembered while any session uses its prefix."""

    _kind = "latch"

    async def wait(self) -> None:
        """Wait until the count is zero; a checkpoint, even if it is.

        Raises:
          LeaseLost: if the session has ended.
          ValueError: if others use the name for something else.
        """
        await self._ask(Verb.ACQUIRE, (self._want(),), withdrawable=True)

    async def count_down(self, n: int = 1) -> None:
        """Count down by ``n``. Once sent, this is not cancelled.

        Raises:
          TypeError: if n is not an int.
          ValueError: if it is less than 1, or more than is left.
          LeaseLost: if the session has ended, also where this was cancelled; whether it counted is then unknown.
        """
        check_count(n, "n")
        await self._ask(Verb.COUNT_DOWN, self._want(n))


@final
class SharedBarrier(SharedPrimitive):
    """Parties in any sessions that wait for each other, round by round."""

    _kind = "barrier"

    async def wait(self) -> int:
        """Wait for the others of the round; return a number that is unique within it.

        A cancelled party is not counted, and neither is one that waits when its session ends.

        Raises:
          LeaseLost: if the session has ended; whether this party was counted before is then unknown.
          ValueError: if others use the name for something else.
        """
        # A round that this party has completed stays so, whatever becomes of its session.
        met = await self._ask(
            Verb.ACQUIRE, (self._want(),), withdrawable=True, leaves_nothing=False
        )
        number: int = met.value
        return number


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
          LeaseLost: if the session has ended.
        """
        grant = self._grant()
        try:
            await self._ask(Verb.WAIT, self.name, grant._number, withdrawable=True)
        finally:
            grant.token = grant._client.token_of(grant._number) or grant.token

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

    async def notify(self, n: int = 1) -> None:
        """Notify the ``n`` oldest waiters; each continues once it owns the lock.

        Raises:
          TypeError, ValueError: if n is not an int, or less than 1.
          RuntimeError: if this task does not hold the lock.
          LeaseLost: if the session has ended.
        """
        check_count(n, "n")
        await self._ask(Verb.NOTIFY, self.name, self._grant()._number, n)

    async def notify_all(self) -> None:
        """Notify all waiters. See :meth:`notify`."""
        await self._ask(Verb.NOTIFY, self.name, self._grant()._number, None)
