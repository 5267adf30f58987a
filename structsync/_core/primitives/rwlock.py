"""Many readers or one writer: the decisions of :class:`structsync.RWLock`.

Which task goes before which is a policy of the queue and nothing else: with ``"fifo"`` the head blocks those
behind it, so that readers in a row enter together and no task passes a writer; with a preference one
side has the smaller number, and the head still blocks.
"""

from __future__ import annotations

from collections.abc import Hashable
from enum import StrEnum
from typing import Any, ClassVar, Literal, NamedTuple, NoReturn, TypeAlias, final

from structsync._core.queue.claimants import ClaimantArbiter
from structsync._core.queue.policy import Policy, Priority
from structsync._core.queue.request import Queue, Request

RWPolicyName: TypeAlias = Literal["fifo", "phase", "readers", "writers"]


class Mode(StrEnum):
    """What a claimant wants to do."""

    READ = "read"
    WRITE = "write"


READ, WRITE = Mode


@final
class Access(NamedTuple):
    """A claim on a read-write lock: ``mode``, to ``"read"`` or to ``"write"``, and its ``claimant``."""

    mode: Mode
    claimant: Hashable


class Preference(Priority):
    """One mode before the other, first come first served within each; the head blocks."""

    __slots__ = ()
    first: ClassVar[Mode]

    def __init__(self) -> None:
        super().__init__(ageing=None)


class ReadersFirst(Preference):
    __slots__ = ()
    name: ClassVar[str] = "readers"
    first = READ


class WritersFirst(Preference):
    __slots__ = ()
    name: ClassVar[str] = "writers"
    first = WRITE


class PhaseFair(WritersFirst):
    """Writers first, but for the readers that enter where a writer leaves; see :class:`PhaseFairCore`."""

    __slots__ = ()
    name: ClassVar[str] = "phase"


class RWLockCore(ClaimantArbiter):
    """The readers, the writer, and a queue of those that want to be; each claimant once."""

    writer: Hashable  # None while no task writes

    def __init__(self, preference: Preference | None = None) -> None:
        super().__init__()
        if preference is not None:
            self.policy: Policy = preference
            self.queue: Queue[Any] = preference.new_queue()
        # The mode that stands behind the other.
        self.later: Mode | None
        self.later = None if preference is None else WRITE if preference.first is READ else READ
        self.writer = None
        self.readers: dict[Hashable, None] = {}  # in the order in which they entered

    @property
    def is_idle(self) -> bool:
        return self.writer is None and not self.readers and not self.queue

    def admits(self, claim: Access) -> bool:
        if claim.mode is READ:
            return self.writer is None and claim.claimant not in self.readers
        return self.writer is None and not self.readers

    def admit(self, claim: Access) -> None:
        if claim.mode is READ:
            self.readers[claim.claimant] = None
        else:
            self.writer = claim.claimant

    def discharge(self, claim: Access) -> None:
        if self.held_by(claim.claimant) != claim:
            raise RuntimeError("can't release an RWLock you don't hold")
        if claim.mode is READ:
            del self.readers[claim.claimant]
        else:
            self.writer = None

    def held_by(self, claimant: Hashable) -> Access | None:
        """Return the claim that a task was granted and has not released."""
        if claimant in self.readers:
            return Access(READ, claimant)
        return Access(WRITE, claimant) if self.writer == claimant else None

    def claimant_of(self, claim: Access) -> Hashable:
        return claim.claimant

    def entered(self, request: Request[Any]) -> None:
        self.pending[request.claim.claimant] = request

    def left(self, request: Request[Any]) -> None:
        del self.pending[request.claim.claimant]

    def refuse_impossible(self, claim: Access) -> None:
        held = self.held_by(claim.claimant)
        if held is not None:
            _refuse_second(held.mode, claim.mode)
        if claim.claimant in self.pending:
            raise RuntimeError(
                f"{claim.claimant!r} already has a live request for this RWLock; wait for it or "
                "withdraw it"
            )

    # The mode decides the position in the queue; a caller's number does not matter.

    def admissible(self, claim: Access, priority: int = 0) -> bool:
        if claim.claimant in self.pending:
            return False  # where its mode goes first it would pass itself; refused when it joins
        return super().admissible(claim, claim.mode is self.later)

    def join(self, request: Request[Any], priority: int = 0) -> None:
        super().join(request, request.claim.mode is self.later)

    def downgrade(self, claimant: Hashable) -> list[Request[Any]]:
        """Make the writer a reader and let in the readers that may read beside it, in one step."""
        if self.writer is None or self.writer != claimant:
            raise RuntimeError("can't downgrade an RWLock you don't hold for writing")
        self.writer = None
        self.readers[claimant] = None
        return self.writing_ended()

    def writing_ended(self) -> list[Request[Any]]:
        """Grant what a writer that left, or became a reader, makes room for."""
        return self.settle()

    def snapshot(self) -> Hashable:
        return (frozenset(self.readers), super().snapshot())

    def restore(self, snapshot: Any) -> None:
        readers, rest = snapshot
        super().restore(rest)
        self.readers = dict.fromkeys(readers)


class PhaseFairCore(RWLockCore):
    """Phases of reading and of writing take turns (Brandenburg and Anderson 2010).

    While readers are inside and a writer waits, later readers wait too; where a writer leaves, all
    readers that wait enter before the next writer. So a reader waits for one writer at most once the
    readers of its time have left, and a writer for one phase of readers per writer ahead of it.

    When it is quiescent that is the queue of :class:`WritersFirst`: the readers in it wait for a writer to leave.
    Why not a mark for whose turn it is: it would be a second home of what readers and queue tell.
    """

    def __init__(self) -> None:
        super().__init__(PhaseFair())

    def start_index(self) -> None:
        super().start_index()
        # writers that leave would have to search the queue for them
        self.readers_in_queue: dict[int, Request[Any]] = {}

    def entered(self, request: Request[Any]) -> None:
        super().entered(request)
        if request.claim.mode is READ:
            self.readers_in_queue[request.ticket] = request

    def left(self, request: Request[Any]) -> None:
        super().left(request)
        self.readers_in_queue.pop(request.ticket, None)

    def release(self, claim: Access) -> list[Request[Any]]:
        if claim.mode is READ:
            return super().release(claim)
        self.discharge(claim)
        return self.writing_ended()

    def writing_ended(self) -> list[Request[Any]]:
        entering = list(self.readers_in_queue.values())
        for request in entering:
            self.grant(request)
        return entering or self.settle()


def make_core(policy: str) -> RWLockCore:
    """Return a core with the policy of that name.

    Raises:
      ValueError: if there is no such policy.
    """
    if policy == "fifo":
        return RWLockCore()
    if policy == "phase":
        return PhaseFairCore()
    for preference in (ReadersFirst, WritersFirst):
        if policy == preference.name:
            return RWLockCore(preference())
    raise ValueError(f"policy must be 'fifo', 'phase', 'readers' or 'writers', not {policy!r}")


def _refuse_second(held: Mode, wanted: Mode) -> NoReturn:
    if held is WRITE:
        way_out = "downgrade() to read on" if wanted is READ else "release() first"
    elif wanted is READ:
        # behind a writer that waits, a second read would wait for the first: forever
        way_out = "release() first; it is not reentrant"
    else:
        raise RuntimeError(
            "can't upgrade an RWLock from read to write: two readers that upgrade would wait for "
            "each other forever; release() first, and look again at what you read"
        )
    raise RuntimeError(
        f"attempt to acquire an RWLock for {_ING[wanted]} that this task already holds for "
        f"{_ING[held]}; {way_out}"
    )


_ING = {READ: "reading", WRITE: "writing"}
