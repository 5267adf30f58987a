"""The state of the specification of stand-ins: two objects, each in a process of its own, and the rules in a third one.

What a host does when it is asked to reserve its object, and what `SharedSynchronizer` does about its answer, is
spelled out here; what is decided is decided by the cores that ship.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from structsync import Status
from structsync._core.monitors.entry import EntryCore, Guard, Invocation, Trigger
from structsync._core.monitors.stages import Stage
from structsync._core.monitors.stand_in import Readiness, StandInCore
from structsync._core.monitors.synchronizer import Rules, SynchronizerCore
from structsync._core.queue.group import settle_transitively
from structsync._core.queue.request import Request

Ended = list[Request[Any]]

# Each task makes one call: of which object, and of which entry. The entries of one name have one rule.
CALLS: dict[str, tuple[int, str]] = {
    "on, here": (0, "on"),
    "on, there": (1, "on"),
    "off": (0, "off"),
    "on, here too": (0, "on"),
    "joins here": (0, "join"),
    "joins there": (1, "join"),
}
VISITOR = "visitor"  # a call that no rule concerns


class StandIns:
    """The stand-ins with their rules, and for which call each object is reserved where it is."""

    readiness: type[Readiness] = Readiness
    monitor: type[StandInCore] = StandInCore
    rules: type[Rules] = Rules

    def __init__(self, callers: tuple[str, ...]) -> None:
        self.ready = self.readiness()
        self.monitors = [self.monitor(self.ready), self.monitor(self.ready)]
        places = {who: CALLS[who] for who in callers}
        entries = {place: EntryCore(place[1]) for place in places.values()}
        # Made once: a call is equal to itself alone.
        self.calls = {who: Invocation(entries[place], who) for who, place in places.items()}
        self.synchronizer = SynchronizerCore()
        rules = {
            (at, name): self.rules(entry, self.monitors[at], at)
            for (at, name), entry in entries.items()
        }
        for (_, name), one in rules.items():
            if name == "on":
                self.synchronizer.disable(one, Guard(lambda: self.lit))
            self.synchronizer.trigger(one, Trigger(self._triggered, reads_request=True))
        if joins := [one for (_, name), one in rules.items() if name == "join"]:
            self.synchronizer.atomic(joins)
        self.lit = 0
        self.ran: list[str] = []  # whose triggers ran in the last transition
        self.started: list[str] = []  # and which calls started
        self.asked: set[str] = set()  # whose hosts have not answered yet
        self.held: list[str | None] = [None, None]  # for which call each object is reserved
        self.inside: set[str] = set()  # of these, which calls have started
        self.aside: list[str] = []  # which calls were set aside, and wait where their object is

    def _triggered(self, call: Invocation) -> None:
        self.ran.append(call.task)
        if call.entry.name == "on":
            self.lit += 1
        elif call.entry.name == "off":
            self.lit = 0

    # ==== Hosts ====

    def propose(self, who: str) -> None:
        self.begin()
        self.ready.note(who, Stage.PROPOSED)
        _, ended = self.monitors[CALLS[who][0]].arrive(self.calls[who], who)
        self.carry(ended)

    def answer(self, who: str) -> None:
        """Reserve the object, unless it is occupied."""
        self.begin()
        self.asked.remove(who)
        if self.is_free(CALLS[who][0]):
            self.reserve(who)
        else:
            self.ready.set_aside(who)
            self.aside.append(who)
            self.carry([])

    def reserve(self, who: str) -> None:
        """Reserve the object, and say so; be let go at once if that is not wanted any more."""
        self.begin()
        at = CALLS[who][0]
        self.aside = [one for one in self.aside if one != who]
        self.held[at] = who
        if self.ready.reserved(who):
            self.carry(self.monitors[at].settle())
        else:
            self.held[at] = None
            self.carry([])

    def withdraw(self, who: str) -> None:
        self.begin()
        at = CALLS[who][0]
        request = next(one for one in self.monitors[at].queue if one.waiter == who)
        ended = self.monitors[at].withdraw(request) or []
        self.forget(who)
        if self.held[at] == who:
            self.held[at] = None
        self.carry(ended)

    def die(self, at: int) -> None:
        """End the host of an object: its calls are over, and the next one finds the object free."""
        self.begin()
        for who in self.queue(at):
            self.withdraw(who)
        self.begin()
        self.held[at] = None
        self.inside = {who for who in self.inside if CALLS[who][0] != at}

    def finish(self, who: str) -> None:
        self.begin()
        self.inside.remove(who)
        self.held[CALLS[who][0]] = None

    # ==== The process with the rules ====

    def begin(self) -> None:
        self.ran, self.started = [], []

    def forget(self, who: str) -> None:
        del self.ready.stages[who]
        self.asked.discard(who)
        self.aside = [one for one in self.aside if one != who]

    def carry(self, ended: Ended) -> None:
        """Let the calls in that may start, and tell hosts what is wanted of them."""
        worklist = deque(ended)
        while worklist:
            one = worklist.popleft()
            worklist += [each for _, others in settle_transitively([one]) for each in others]
            if one.status is Status.GRANTED:
                self.started.append(one.waiter)
                self.inside.add(one.waiter)
                self.forget(one.waiter)
                worklist += self.monitors[CALLS[one.waiter][0]].release(one.claim)
        review = self.ready.review()
        self.asked.update([str(who) for who in review.asked])
        for who in review.let_go:
            at = CALLS[str(who)][0]
            if self.held[at] == who:
                self.held[at] = None

    # ==== Views ====

    def is_free(self, at: int) -> bool:
        """Return whether a newcomer may enter an object: no call is inside, or in the queue there."""
        return self.held[at] is None and not self.head_of_queue(at)

    def head_of_queue(self, at: int) -> list[str]:
        return [who for who in self.aside if CALLS[who][0] == at][:1]

    def queue(self, at: int) -> list[str]:
        return [one.waiter for one in self.monitors[at].queue]

    def waiting(self) -> list[str]:
        return [*self.queue(0), *self.queue(1)]

    def stage(self, who: str) -> Stage:
        return self.ready.stages[who]

    def snapshot(self) -> tuple[Any, ...]:
        """Return plain data: of a call its name."""
        monitors = []
        for one in self.monitors:
            core: Any = one.snapshot()
            (state, cause, queue, ranks), urgent = core
            monitors.append(((state, cause, tuple([who for _, who in queue]), ranks), urgent))
        return (
            tuple(monitors),
            frozenset([(str(who), stage.value) for who, stage in self.ready.stages.items()]),
            self.lit,
            frozenset(self.asked),
            tuple(self.held),
            frozenset(self.inside),
            tuple(self.aside),
        )

    def restore(self, snapshot: tuple[Any, ...]) -> None:
        monitors, stages, self.lit, asked, held, inside, aside = snapshot
        self.ready.stages.clear()
        self.ready.stages.update({who: Stage(stage) for who, stage in stages})
        for one, ((state, cause, queue, ranks), urgent) in zip(
            self.monitors, monitors, strict=True
        ):
            calls = tuple([(self.calls[who], who) for who in queue])
            one.restore(((state, cause, calls, ranks), urgent))
        self.asked, self.held, self.inside, self.aside = {*asked}, [*held], {*inside}, [*aside]
        self.begin()
