"""What a group holds: several claims that were granted in one step, and are released one by one or all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeAlias, TypeVar, cast, final

from trio.lowlevel import Task, enable_ki_protection

from structsync._core.queue.group import Claims, Member
from structsync._core.queue.request import Status
from structsync._runtime import parking_together
from structsync._runtime.claim import Claim
from structsync._runtime.live import Live
from structsync._runtime.request import RequestBase

if TYPE_CHECKING:
    from typing import Self

    from .buffer import Buffer

T = TypeVar("T")


def sum_of(primitive: Live[Any], amounts: Sequence[Any]) -> Any:
    """Return what claims on one primitive are together.

    Raises:
      RuntimeError: if there is more than one, and they have no sum.
    """
    try:
        return primitive._core.sum_of(amounts)
    except RuntimeError as error:
        raise RuntimeError(f"{error}; leave one of the {len(amounts)} on {primitive!r}") from None


#: A claim, with what it was for the task that acquired: to make it again might give something else.
Portion: TypeAlias = tuple[Claim[Any], Any]


def by_primitive(portions: Iterable[Portion]) -> list[tuple[Any, list[Any]]]:
    """Return each primitive, with what is claimed of it.

    By identity: two of a class that defines equality are two, and a dataclass has no hash.
    """
    found: dict[int, tuple[Any, list[Any]]] = {}
    for claim, amount in portions:
        primitive = claim.primitive
        found.setdefault(id(primitive), (primitive, []))[1].append(amount)
    return [*found.values()]


@final
class Holding:
    """What :func:`acquire_all` was granted and has not released yet.

    A claim that is released early is available to others at once::

        async with structsync.acquire_all(source.claim(), slow := target.claim()) as held:
            ...
            held.release(slow)          # the rest stays held

    It is a *sync* context manager; leaving it releases what is left.
    """

    __slots__ = ("_items", "_kept", "_owner", "_portions")
    _items: dict[Claim[Any], Any]
    _kept: bool
    _owner: Task  # whose claims these are, whichever task releases them
    _portions: list[Portion]

    def __init__(self, portions: Iterable[Portion], granted: Iterable[Member], task: Task) -> None:
        primitives = {id(member.primitive): member.claim for member in granted}
        self._kept = False
        self._owner = task
        # one that is given to the group twice is here twice
        self._portions = []
        # what was got from buffers: there the granted claim has become that
        self._items = {}
        for claim, amount in portions:
            primitive = claim.primitive
            if id(primitive) in primitives:
                self._portions.append((claim, amount))
                if primitive._core.grants_make_room and type(amount) is not tuple:
                    self._items[claim] = primitives[id(primitive)]

    @property
    def claims(self) -> tuple[Claim[Any], ...]:
        """The claims that are still held, in the order in which they were made."""
        return tuple(claim for claim, _ in self._portions)

    def item(self, claim: Claim[Buffer[T]]) -> T:
        """Return the item that a claim to get was granted.

        Args:
          claim: the very object that the group was made of, from :meth:`Buffer.get_claim`.

        Raises:
          ValueError: if it is not a claim to get, or was not granted to this group.
        """
        if claim not in self.claims or claim not in self._items:
            raise ValueError(
                f"{claim!r} has no item; pass the claim of get_claim() that the group was made of"
            )
        return cast(T, self._items[claim])

    @enable_ki_protection
    def release(self, claim: Claim[Any]) -> None:
        """Release one claim before the others, and grant what that makes room for.

        Args:
          claim: the very object that the group was made of.

        Raises:
          ValueError: if it is not held: of another group, or released already.
        """
        for place, (held, amount) in enumerate(self._portions):
            if held is claim:
                del self._portions[place]  # before: what runs meanwhile may release it, too
                try:
                    held.primitive._leave(amount, self._owner)
                except BaseException:
                    self._portions.insert(place, (held, amount))
                    raise
                return
        raise ValueError(
            f"{claim!r} is not held by this group; pass the claim that the group was made of, once"
        )

    @enable_ki_protection
    def keep(self) -> Self:
        """Keep what is held beyond the block: leaving the block releases nothing.

        Release it by :meth:`close` or :meth:`release`, from any task. The task that acquired a lock remains
        its owner: if that task exits, the lock is broken.

        Returns:
          The same object.
        """
        self._kept = True
        return self

    @enable_ki_protection
    def close(self) -> None:
        """Release whatever is still held; idempotent."""
        self._release_all()

    def __enter__(self) -> Self:
        return self

    @enable_ki_protection
    def __exit__(self, *exc_info: Any) -> None:
        self._release_all(*exc_info)

    @enable_ki_protection
    def _leave_block(self, *exc_info: Any) -> None:
        if not self._kept:
            self._release_all(*exc_info)

    def _release_all(self, *exc_info: Any) -> None:
        portions, self._portions = self._portions, []
        stack = ExitStack()  # if one cannot be released, the others still are
        for primitive, several in by_primitive(portions):
            whole = several[0] if len(several) == 1 else sum_of(primitive, several)
            stack.callback(primitive._leave, whole, self._owner)
        # with the body's error, which that of a release would else hide
        stack.__exit__(*(exc_info or (None, None, None)))

    def __init_subclass__(cls) -> NoReturn:
        raise TypeError("Holding is final; only acquire_all makes holdings")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a Holding cannot be copied or pickled: what is held is released once")

    def __repr__(self) -> str:
        kept = ", kept" if self._kept and self._portions else ""
        return f"<Holding of {len(self._portions)} claims{kept}>"


@final
class GroupRequest(RequestBase, Generic[T]):
    """A position in several queues, or a grant, requested without waiting.

    Made by ``acquire_all(...).request()`` and ``acquire_any(...).request()``; otherwise as
    :class:`Request`. If any of the primitives is closed or breaks before the grant, the request is
    broken and leaves the other queues.
    """

    __slots__ = ("_group", "_holding", "_outcome", "_portions")

    def __init__(
        self, portions: Sequence[Portion], group: Claims, outcome: Callable[[Holding], T]
    ) -> None:
        super().__init__()
        self._portions = portions
        self._group = group
        self._outcome = outcome
        self._holding: Holding | None = None

    @property
    def status(self) -> Status:
        """``"pending"``, ``"granted"``, ``"withdrawn"`` or ``"broken"``; see :class:`Status`."""
        return self._group.standing.status

    @enable_ki_protection
    async def wait(self) -> T:
        """Wait until the request is granted.

        Cancellation keeps the positions in the queues: wait again, or withdraw. A grant beats a
        cancellation.

        Returns:
          For ``acquire_all`` the :class:`Holding`, the same each time; for ``acquire_any`` the
          :class:`Claim` that was granted.

        Raises:
          RequestWithdrawn: if it is withdrawn, or its grant is released, before or meanwhile.
          trio.BusyResourceError: if another task waits for it already.
          trio.ClosedResourceError, trio.BrokenResourceError: if one of the primitives was closed or
              broke before the grant.
        """
        await self._wait()
        return self._outcome(self._held())

    def _held(self) -> Holding:
        if self._holding is None:
            owner: Any = self._group.waiter
            self._holding = Holding(self._portions, self._group.granted(), owner)
        return self._holding

    def _withdraw(self) -> bool:
        return parking_together.withdraw_group(self._group)

    def _release(self) -> None:
        self._held()._leave_block()

    async def _wait_for_grant(self) -> None:
        await parking_together.wait_for_group(self._group)

    def __init_subclass__(cls) -> NoReturn:
        raise TypeError("GroupRequest is final; only groups make them")

    def __repr__(self) -> str:
        name = "acquire_all" if self._group.every else "acquire_any"
        return f"<GroupRequest of {name} at {id(self):#x}: {self._state()}>"
