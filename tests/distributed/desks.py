"""Two desks to rule over, and a judge of what was called there, let start, begun and done, and what callers were told."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager, suppress
from itertools import groupby
from typing import NamedTuple, Protocol

import trio

from structsync import Invocation, Monitor, entry
from structsync.distributed import (
    CallOutcomeUnknown,
    Grant,
    LeaseLost,
    Session,
    SharedSynchronizer,
)

NAMES = ("desk/left", "desk/right")
RULED = ("alone", "together")

#: How many tasks call at a time.
TASKS = 6

#: Takes what happens: a word, and the number of a call.
Note = Callable[[str, int], object]


class Desk(Monitor):
    """Notes what was begun and done."""

    def __init__(self, note: Note) -> None:
        super().__init__()
        self.note = note

    async def _work(self, which: int) -> int:
        self.note("begun", which)
        for _ in range(which % 3):
            await trio.lowlevel.checkpoint()
        self.note("done", which)
        return which

    @entry
    async def alone(self, which: int) -> int:
        return await self._work(which)

    @entry
    async def together(self, which: int) -> int:
        return await self._work(which)

    @entry
    async def visit(self, which: int) -> int:
        return await self._work(which)


class Working(Protocol):
    """What callers see of it."""

    async def alone(self, which: int) -> int: ...
    async def together(self, which: int) -> int: ...
    async def visit(self, which: int) -> int: ...


def hosted(session: Session, n: int, desk: Desk) -> AbstractAsyncContextManager[Grant]:
    return session.host(NAMES[n], desk, ruled_by="rules", ruled=RULED)


class Rules:
    """Calls start alone unless that is barred, and together two at a time."""

    def __init__(self, rules: SharedSynchronizer, note: Note) -> None:
        self.note = note
        self.is_barred = False
        self.stand_ins = [rules.stand_in(name, Desk) for name in NAMES]
        for one in self.stand_ins:
            rules.rules.disable(one.alone, when=lambda: self.is_barred)
            rules.rules.trigger(one.alone, self.starts_alone)
            rules.rules.trigger(one.together, self.starts_together)
        rules.rules.atomic(*[one.together for one in self.stand_ins])

    async def change(self, seconds: float) -> None:
        """Bar calls now and then, for so long."""
        end = trio.current_time() + seconds
        while trio.current_time() < end:
            await trio.sleep(random.uniform(0.001, 0.02))
            self.is_barred = not self.is_barred
            if not self.is_barred:
                self.stand_ins[0].changed()

    def starts_alone(self, request: Invocation) -> None:
        self.note("barred" if self.is_barred else "starts", request.args[0])

    def starts_together(self, request: Invocation) -> None:
        self.note("joins", request.args[0])


class Callers:
    """Calls, each of its own number, and what their tasks were told."""

    def __init__(self) -> None:
        self.number = 0
        self.returned: set[int] = set()
        self.cancelled: set[int] = set()
        self.unknown: set[int] = set()

    async def call(self, session: Session, patience: float) -> None:
        self.number += 1
        which = self.number
        desk: Working = session.connect(random.choice(NAMES), Working)
        method = random.choice([desk.alone, desk.together, desk.together, desk.visit])
        with trio.move_on_after(patience):
            try:
                assert await method(which) == which
                self.returned.add(which)
            except (CallOutcomeUnknown, LeaseLost, trio.ClosedResourceError):
                self.unknown.add(which)
            except trio.Cancelled:
                self.cancelled.add(which)
                raise

    async def keep_calling(self, session: Session, until: int) -> None:
        while self.number < until and not session._lost:
            await self.call(session, random.choice([0, 0.002, 0.005, 0.02, 0.1, 1]))


async def storm(
    opens: Callable[[], AbstractAsyncContextManager[Session]], callers: Callers, until: int
) -> None:
    """Call so often, from one session after the other, each of which ends while calls are under way."""
    while callers.number < until:
        with suppress(LeaseLost, OSError):
            async with opens() as session, trio.open_nursery() as nursery:
                for _ in range(TASKS):
                    nursery.start_soon(callers.keep_calling, session, until)
                nursery.cancel_scope.deadline = trio.current_time() + random.uniform(0.3, 0.9)


class Noted(NamedTuple):
    """What a process has noted, in order."""

    word: str
    which: int


def complaints(callers: Callers, lives: Iterable[list[Noted]]) -> list[str]:
    """Return what is wrong; nothing, if all is well.

    Args:
      lives: what each process has noted; one that was killed may have been in the middle of a step.
    """
    lives = [*lives]
    tally: dict[str, Counter[int]] = {
        word: Counter() for word in ("begun", "done", "starts", "barred", "joins")
    }
    alone = 0
    for life in lives:
        for word, which in life:
            tally[word][which] += 1
        # All that starts in one step is noted at once: a partner stands beside its partner.
        runs = [(word, len([*notes])) for word, notes in groupby(life, lambda one: one.word)]
        alone += any(word == "joins" and length % 2 for word, length in runs[:-1])
    begun, done = tally["begun"], tally["done"]
    started = tally["starts"] + tally["joins"] + tally["barred"]
    told = callers.returned | callers.cancelled | callers.unknown
    found = {
        "started while that was barred": {*tally["barred"]},
        "started twice": {one for one, times in started.items() if times > 1},
        "begun twice": {one for one, times in begun.items() if times > 1},
        "returned, but not done": callers.returned - {*done},
        "cancelled, but done": callers.cancelled & {*done},
        "started, not begun, and not unknown": {*started} - {*begun} - callers.unknown,
        "told nothing": {*range(1, callers.number + 1)} - told,
    }
    wrong = [f"{what}: {sorted(those)[:5]}" for what, those in found.items() if those]
    return wrong + ["one started without its partner"] * bool(alone)
