"""A baton goes round, the worker that has it may work, and each that wants to work eventually does.

Nothing here is structsync's: a specification may be about any object that moves in single steps.
"""

from __future__ import annotations

from structsync.checking import Spec, action, fault, invariant, leads_to, start

# Three, because with two workers "the next one" and "the other one" are the same.
WORKERS = (0, 1, 2)


class Ring:
    """Which worker has the baton, and which ones want to work."""

    def __init__(self) -> None:
        self.holder = 0
        self.wants: frozenset[int] = frozenset()

    def ask(self, who: int) -> None:
        self.wants |= {who}

    def work(self) -> None:
        self.wants -= {self.holder}
        self.pass_on()

    def pass_on(self) -> None:
        self.holder = (self.holder + 1) % len(WORKERS)

    # What the checker needs of an object: its state as a hashable value, and back.

    def snapshot(self) -> tuple[int, frozenset[int]]:
        return self.holder, self.wants

    def restore(self, snapshot: tuple[int, frozenset[int]]) -> None:
        self.holder, self.wants = snapshot


class BatonSpec(Spec):
    """Workers ask when they like; the holder works or passes the baton on."""

    ring: Ring = start(Ring)

    @action(who=WORKERS, when=lambda self, who: who not in self.ring.wants)
    def ask(self, who: int) -> None:
        self.ring.ask(who)

    @action(when=lambda self: self.ring.holder in self.ring.wants, fair=True)
    def work(self) -> None:
        self.ring.work()

    @action(when=lambda self: self.ring.holder not in self.ring.wants, fair=True)
    def pass_on(self) -> None:
        self.ring.pass_on()

    @invariant
    def one_task_has_the_baton(self) -> bool:
        return self.ring.holder in WORKERS

    @leads_to(who=WORKERS)
    def every_worker_gets_its_turn(self, who: int) -> tuple[bool, bool]:
        return who in self.ring.wants, who not in self.ring.wants


# ==== bugs on purpose: a property that finds none of them says nothing ====


@fault(BatonSpec, "ring", refuted_by="every_worker_gets_its_turn")
class HelpfulRing(Ring):
    """The baton goes straight to a worker that wants it, the smallest number first."""

    def pass_on(self) -> None:
        self.holder = min(self.wants, default=self.holder)


@fault(BatonSpec, "ring", refuted_by="one_task_has_the_baton")
class RingThatDoesNotClose(Ring):
    """The last worker passes the baton to no other."""

    def pass_on(self) -> None:
        self.holder += 1
