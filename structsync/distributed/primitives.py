"""Primitives by name, which all sessions with the same engine and namespace share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from types import TracebackType
from typing import Any, ClassVar, final

from trio.lowlevel import Task, current_task, enable_ki_protection

from structsync._core.shared.operations import Outcome, Verb, Want
from structsync._runtime.arguments import check_count

from .blocks import Block
from .membership import Grant, Membership
from .names import check_name


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

    @enable_ki_protection
    async def _ask(self, verb: Verb, *details: Any, **undone: bool) -> Outcome:
        client = self._session._client(self.name)
        return await self._session._ask(client, self.name, verb, *details, **undone)

    @enable_ki_protection
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

    @enable_ki_protection
    async def wait(self) -> None:
        """Wait until the count is zero; a checkpoint, even if it is.

        Raises:
          LeaseLost: if the session has ended.
          ValueError: if others use the name for something else.
        """
        await self._ask(Verb.ACQUIRE, (self._want(),), withdrawable=True)

    @enable_ki_protection
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

    @enable_ki_protection
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
