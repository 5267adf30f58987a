"""How philosophers deadlock, starve, and eat with one fork: each found by the named property."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

from structsync import Arbiter, Status
from structsync._core.queue.group import Claims, Member
from structsync._core.queue.policy import Eligible
from structsync._core.queue.request import Request
from structsync.checking import fault

from ._planting import NewestFirst
from ._queues import Ended, Queues
from .philosophers import FivePhilosophersSpec, FourPhilosophersSpec, ThreePhilosophersSpec

Make = Callable[[], Sequence[Arbiter[Any]]]


class OneByOne(Claims):
    """Takes each thing as it comes, and holds it while waiting for the other."""

    def consents(self, request: Request[Any]) -> bool:
        return True

    def grant(self, request: Request[Any]) -> None:
        cast(Member, request).arbiter.grant(request)

    def ended_with(self, request: Request[Any]) -> None:
        pass


@fault(ThreePhilosophersSpec, "core", refuted_by="one_eats_while_one_waits")
class ForksAreTakenOneByOne(Queues):
    """Each takes one fork and, some steps later, waits for the other (Dijkstra, EWD 310)."""

    claims = OneByOne

    def submit(self, who: str, every: bool, wanted: Iterable[tuple[int, Any]]) -> Ended:
        forks = [self.arbiters[at] for at, _ in wanted]
        group = self.claims(every, [(fork, who) for fork in forks], who)
        for fork, member in zip(forks, group.members, strict=True):
            if fork.owner == who:
                member.status = Status.GRANTED
        missing = [one for one in group.members if one.status is Status.PENDING]
        for member in missing:
            member.status = Status.GRANTED
        for member in missing[:1]:
            if member.arbiter.admissible(who):
                member.arbiter.take(who)
            else:
                member.status = Status.PENDING
                member.arbiter.join(member)
        # Told only with the second fork: with one in hand they look idle, and come again for the other.
        return [*group.granted()] if len(missing) == 1 else []

    def withdraw(self, who: str, at: int) -> Ended:
        return super().withdraw(who, next(fork for fork in self.numbers if who in self.queue(fork)))


class TakesOnlyTheFirst(Claims):
    """Grants all, and takes only the thing at whose queue that was decided."""

    def grant(self, request: Request[Any]) -> None:
        for one in self.members:
            if one is request:
                one.arbiter.grant(one)
            else:
                one.arbiter.leave(one)
                one.status = Status.GRANTED


@fault(ThreePhilosophersSpec, "core", refuted_by="forks_are_held_only_while_eating")
class TheOtherForkIsNotTaken(Queues):
    """Everything is granted, but taken only where it was decided: two eat with one fork."""

    claims = TakesOnlyTheFirst


class NewestConsent(Claims):
    """Consents where it is at the end of each queue, not at the head."""

    def consents(self, request: Request[Any]) -> bool:
        return all(
            one.arbiter.queue.tail is one and one.arbiter.admits(one.claim) for one in self.members
        )


@fault(ThreePhilosophersSpec, "core", refuted_by="a_hungry_philosopher_eats")
class TheNewestOfThreeEats(Queues):
    """The last to become hungry eats next; two of them can keep out the third (NewestFirst)."""

    claims = NewestConsent

    def __init__(self, make: Make) -> None:
        super().__init__(make)
        for fork in self.arbiters:
            fork.policy = NewestFirst()


@fault(FourPhilosophersSpec, "core", refuted_by="a_hungry_philosopher_eats")
class TwoOfFourKeepOutTheirNeighbour(Queues):
    """Forks that are free are taken past waiters: left and right eat by turns (O1)."""

    def __init__(self, make: Make) -> None:
        super().__init__(make)
        for fork in self.arbiters:
            fork.policy = Eligible()


@fault(FivePhilosophersSpec, "core", refuted_by="a_hungry_philosopher_eats")
class TwoOfFiveKeepOutTheirNeighbour(Queues):
    """Forks that are free are taken past waiters: left and right eat by turns (O1)."""

    def __init__(self, make: Make) -> None:
        super().__init__(make)
        for fork in self.arbiters:
            fork.policy = Eligible()
