"""Several resources as one: all of them in one step, or whichever comes first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import CoroutineType
from typing import Any, Generic, NoReturn, TypeVar, final, overload

from trio.lowlevel import Task, current_task, enable_ki_protection

from structsync._core.queue.group import Claims
from structsync._runtime import parking_together
from structsync._runtime.claim import Claim
from structsync._runtime.done import DONE
from structsync._runtime.primitive import Primitive

from .holding import GroupRequest, Holding, Portion, by_primitive, sum_of

T = TypeVar("T")
P = TypeVar("P", bound=Primitive[Any])
Q = TypeVar("Q", bound=Primitive[Any])


def acquire_all(*claims: Claim[Any]) -> AllOf:
    """Return an async context manager that holds all the claims, taken in one step.

    The task has one position in each queue, and holds nothing while it waits. It is granted everything at
    once when it is at the head of each queue and each claim fits; leaving the block releases all of it. The
    order of the claims does not matter::

        async with structsync.acquire_all(left_fork.claim(), right_fork.claim()):
            ...

    The block gets a :class:`Holding`, which can release one claim before the others, or take all of
    them out of the block. Instead of the block, ``acquire_all(...).request()`` returns a
    :class:`GroupRequest`. Several claims on one :class:`Semaphore` are summed. A body that acquires still more may
    deadlock, as any task that holds something and waits.

    Fairness: strictly first come, first served in each queue. So a task that waits here blocks the requests
    behind it *in every queue*, even where that primitive is free. If everything that is held is released
    eventually, no task waits forever. Cancellation: a cancelled acquire has taken nothing of any primitive,
    and the requests behind it move up.

    Args:
      claims: from ``claim()`` of a :class:`Semaphore`, a :class:`Lock`, a :class:`CapacityLimiter` or a
          primitive of your own, ``read_claim()`` and ``write_claim()`` of an :class:`RWLock`, or
          ``get_claim()`` and ``put_claim()`` of a :class:`Buffer`, of which leaving the block returns
          nothing (:meth:`Holding.item` returns the item); with the policy ``"fifo"``.

    Raises:
      ValueError: if there is no claim, or a policy is not ``"fifo"``; on entry, if a semaphore never
          had as many permits as are claimed.
      TypeError: if something else is passed.
      RuntimeError: on entry, if a lock or a limiter is claimed twice, or its future holder holds it
          already; or if the block is entered already.
      trio.ClosedResourceError, trio.BrokenResourceError: on entry or while it waits, if one of the
          primitives is closed or breaks; the other queues are left as if never joined.

    Source: Dijkstra 1971 on dining philosophers; Chandy and Misra 1984 on drinking ones.
    """
    return AllOf(checked_claims(claims, "acquire_all"))


@overload
def acquire_any(first: Claim[P], second: Claim[Q], /) -> AnyOf[P | Q]: ...
@overload
def acquire_any(*claims: Claim[P]) -> AnyOf[P]: ...
@overload
def acquire_any(*claims: Claim[Any]) -> AnyOf[Any]: ...
def acquire_any(*claims: Claim[Any]) -> AnyOf[Any]:
    """Return an async context manager that holds the first of the claims that is granted.

    The task has one position in each queue. Exactly one claim is granted, and the other positions are given
    up in the same step. If several are available at once, the first of them as written is granted. The
    block yields that :class:`Claim`, and leaving it releases the claim::

        async with structsync.acquire_any(near.claim(), far.claim()) as claim:
            use(claim.primitive)

    Fairness: strictly first come, first served in each queue. Cancellation: a cancelled acquire has
    taken nothing, and the requests behind it move up.

    Args:
      claims: as in :func:`acquire_all`, each on another primitive: they are alternatives, and of two
          on one primitive the smaller would always be granted. None on a :class:`Buffer`: an item
          cannot be released at the end of a block; :func:`first_of` takes those.

    Raises:
      ValueError: if two claims are on one primitive, or one is on a :class:`Buffer`; else as :func:`acquire_all`.
      TypeError, RuntimeError: as :func:`acquire_all`, for any of the claims.
      trio.ClosedResourceError, trio.BrokenResourceError: if any of the primitives is closed or
          breaks before one is granted.

    Source: Ada's selective accept and CSP's guarded choice, for resources.
    """
    checked = checked_claims(claims, "acquire_any")
    claimed: set[int] = set()
    for claim in checked:
        if id(claim.primitive) in claimed:
            raise ValueError(
                f"acquire_any takes one claim on each primitive, because its claims are alternatives "
                f"and no sum, and there are two on {claim.primitive!r}; keep the one that is enough, "
                "or use acquire_all, which sums them"
            )
        claimed.add(id(claim.primitive))
        if claim.primitive._core.grants_make_room:
            raise ValueError(
                "acquire_any has no place for an item, and leaving a block returns none; "
                f"use await first_of(...) for {claim.primitive!r}"
            )
    return AnyOf(checked)


def checked_claims(claims: Sequence[Claim[Any]], name: str) -> Sequence[Claim[Any]]:
    """Return the claims, or raise if a group cannot be made of them."""
    if not claims:
        raise ValueError(f"{name} needs at least one claim; make one with claim() of a primitive")
    for claim in claims:
        if not isinstance(claim, Claim):
            raise TypeError(
                f"{name} takes claims, as claim() of a primitive returns them, not {claim!r}"
            )
        policy = claim.primitive._core.policy.name
        if policy != "fifo":
            raise ValueError(
                f"{name} needs the policy 'fifo', not {policy!r} of {claim.primitive!r}: "
                "a position in several queues is only one if no task can pass it"
            )
    return claims


class _Block:
    """What both blocks do: take for the task that enters, release all that was taken."""

    __slots__ = ("_claims", "_entered", "_holding")
    _every: bool

    def __init__(self, claims: Sequence[Claim[Any]]) -> None:
        self._claims = claims
        self._entered = False
        self._holding: Holding | None = None

    @enable_ki_protection
    async def _enter(self) -> Holding:
        if self._entered:
            raise RuntimeError("this block is entered already; make another one for each use")
        task = current_task()
        group, portions = self._group(task)
        self._entered = True
        try:
            await parking_together.acquire_group(group)
            holding = self._holding = Holding(portions, group.granted(), task)
        finally:
            self._entered = self._holding is not None
            group.members.clear()  # which point back at it: nothing is left to the collector
        return holding

    def _submit(self, outcome: Callable[[Holding], T]) -> GroupRequest[T]:
        group, portions = self._group(current_task())
        parking_together.submit_group(group)
        return GroupRequest(portions, group, outcome)

    def _group(self, task: Task) -> tuple[Claims, list[Portion]]:
        """Return the claims as they are for this task: as a group, summed where several are on one, and each."""
        portions = [(claim, claim._claim_for(task)) for claim in self._claims]
        wanted = by_primitive(portions)
        cores = ((each._core, sum_of(each, amounts)) for each, amounts in wanted)
        group = Claims(self._every, cores, task)
        for member, (primitive, _) in zip(group.members, wanted, strict=True):
            member.primitive = primitive
        return group, portions

    @enable_ki_protection
    def __aexit__(self, *exc_info: Any) -> CoroutineType[Any, Any, None]:
        holding, self._holding = self._holding, None
        self._entered = False
        if holding is not None:
            holding._leave_block(*exc_info)
        return DONE

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.__mro__[1] is not _Block:
            raise TypeError("the blocks of acquire_all and acquire_any are final")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("this block cannot be copied or pickled: make another one for each use")

    def __repr__(self) -> str:
        name = "acquire_all" if self._every else "acquire_any"
        state = "held" if self._holding is not None else "waiting" if self._entered else "idle"
        return f"<{name} of {len(self._claims)} claims: {state}>"


@final
class AllOf(_Block):
    """The block of :func:`acquire_all`."""

    __slots__ = ()
    _every = True

    @enable_ki_protection
    async def __aenter__(self) -> Holding:
        return await self._enter()

    @enable_ki_protection
    def request(self) -> GroupRequest[Holding]:
        """Take all the claims, or a position in each queue, now; return the handle.

        Raises:
          ValueError, RuntimeError, trio.ClosedResourceError, trio.BrokenResourceError: as entering
              the block.
        """
        return self._submit(lambda holding: holding)


@final
class AnyOf(_Block, Generic[P]):
    """The block of :func:`acquire_any`."""

    __slots__ = ()
    _every = False

    @enable_ki_protection
    async def __aenter__(self) -> Claim[P]:
        return _first(await self._enter())

    @enable_ki_protection
    def request(self) -> GroupRequest[Claim[P]]:
        """Take the first claim that is available, or a position in each queue; as :meth:`AllOf.request`."""
        return self._submit(_first)


def _first(holding: Holding) -> Claim[Any]:
    return holding.claims[0]
