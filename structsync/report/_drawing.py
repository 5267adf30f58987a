"""Where everything stands in the drawing of a counterexample: a column per actor, time runs down.

Each row has one step, so whatever goes sideways in a row meets no other box. In a schedule a line
leads from each step along its row to the columns of the tasks that it woke, and down to where they
run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size

from ._model import Blocked, Counterexample, Step
from ._words import listed

LEFT, TOP = 84, 8
LANE_MIN, LANE_MAX = 110, 260
# With this much, the drawing and the state beside it fit on a page that is 1280 pixels wide.
ROOM = 850
# The width of a monospaced character at 13 pixels, a little generous.
CHARACTER = 8.1
# What a step changed stands beside it if there is room; the table below has all of it.
NOTE_LEAST, NOTE_MOST = 24, 70
# An arrow's tip: half its width, and its length.
TIP, TIP_LENGTH = 5, 8
# Which task waits for which is drawn below the boxes of the blocked: a level for each that waits, and
# a point of its own at the box of each that it waits for, so that no two lines cover each other.
LEVEL, LEAVES, ARRIVES, APART = 14, 18, -34, 10


@dataclass(frozen=True, slots=True)
class Lane:
    """The column of an actor; its line ends where the task exits."""

    name: str
    title: str
    x: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Box:
    """A step; or, at the foot of a column, that its task is blocked forever."""

    number: int
    lines: tuple[str, ...]
    title: str
    x: float
    y: float
    width: float
    look: str = ""
    """What sets it apart: again, last, injected, blocked, ended."""
    starred: bool = False
    changed: str = ""

    @property
    def middle(self) -> float:
        """Where its text is centred."""
        return self.x + self.width / 2


@dataclass(frozen=True, slots=True)
class Arrow:
    """From a step to a task that it made runnable."""

    number: int
    line: str
    tip: str


@dataclass(frozen=True, slots=True)
class Wait:
    """From a task that is blocked to those that would have to do something first."""

    title: str
    line: str
    tips: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """All of it, and how large it is."""

    lanes: tuple[Lane, ...]
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    blocked: tuple[Box, ...]
    waits: tuple[Wait, ...]
    left: float
    notes: float
    row: float
    box: float
    width: float
    height: float
    bottom: float
    cycle_top: float | None
    cycle_bottom: float


@dataclass(frozen=True, slots=True)
class _Grid:
    actors: tuple[str, ...]
    lane: float
    row: float
    box: float

    @property
    def right(self) -> float:
        return LEFT + self.lane * max(len(self.actors), 1)

    @property
    def fits(self) -> int:
        """How many characters fit into a box."""
        return int((self.lane - 20) / CHARACTER)

    def x(self, actor: str) -> float:
        return LEFT + self.lane * (self.actors.index(actor) + 0.5)

    def y(self, index: float) -> float:
        return TOP + self.row * index


def draw(shown: Counterexample) -> Drawing:
    """Return the places of everything in the drawing of a counterexample."""
    grid = _grid(shown)
    steps = len(shown.steps)
    notes = grid.right + 16
    noted = min(int((ROOM - notes) / CHARACTER), NOTE_MOST)
    bottom = grid.y(steps + shown.stutters)
    return Drawing(
        lanes=tuple(_lanes(shown, grid, bottom)),
        boxes=tuple(_boxes(shown, grid, noted if noted >= NOTE_LEAST else 0)),
        arrows=tuple(_arrows(shown, grid)),
        blocked=tuple(_blocked(shown, grid)),
        waits=tuple(_waits(shown, grid)),
        left=LEFT,
        notes=notes,
        row=grid.row,
        box=grid.box,
        width=notes + noted * CHARACTER if noted >= NOTE_LEAST else notes,
        height=bottom + (grid.row if shown.blocked else 0) + LEVEL * len(_waiting(shown)) + 8,
        bottom=bottom,
        cycle_top=None
        if shown.cycle_start is None or shown.stutters
        else grid.y(shown.cycle_start + 0.5),
        cycle_bottom=grid.y(steps - 0.5),
    )


def _grid(shown: Counterexample) -> _Grid:
    actors = shown.columns
    longest = max((cell_len(line) for one in shown.steps for line in _lines(shown, one)), default=0)
    share = max((ROOM - LEFT - 16) / max(len(actors), 1), LANE_MIN)
    lane = min(max(longest * CHARACTER + 34, LANE_MIN), share, LANE_MAX)
    # The two lines of a schedule's box: the function where the task parked, and the source there.
    return _Grid(actors, lane, *((56, 44) if shown.is_schedule else (44, 30)))


def _lines(shown: Counterexample, step: Step) -> tuple[str, ...]:
    if not shown.is_schedule:
        return (step.call,)
    first, _, second = step.turn.partition(" ") if step.injected else step.parked.partition("  ")
    return tuple(line for line in (first or "runs", second.strip()) if line)


def _lanes(shown: Counterexample, grid: _Grid, bottom: float) -> Iterator[Lane]:
    exits = {step.actor: n for n, step in enumerate(shown.steps) if step.parked == "exits"}
    for actor in grid.actors:
        end = grid.y(exits[actor] + 0.5) if actor in exits else bottom
        yield Lane(_tail(actor, grid.fits), actor, grid.x(actor), end)


def _boxes(shown: Counterexample, grid: _Grid, noted: int) -> Iterator[Box]:
    cycle = len(shown.steps) if shown.cycle_start is None else shown.cycle_start
    for index, step in enumerate(shown.steps):
        lines = _lines(shown, step)
        # What is injected into no task in particular stands across all columns.
        across = step.actor not in grid.actors
        room = grid.right - LEFT if across else grid.lane
        longest = max(map(cell_len, lines)) * CHARACTER + 20
        width = room - 10 if across else min(longest, room - 10)
        middle = (LEFT + grid.right) / 2 if across else grid.x(step.actor)
        changed = [f"{name} {value}" for name, value in shown.changes(index).items()]
        yield Box(
            number=index + 1,
            lines=tuple(_cut(line, int((room - 20) / CHARACTER)) for line in lines),
            title="\n".join([*lines, *changed]),
            x=middle - width / 2,
            y=grid.y(index) + (grid.row - grid.box) / 2,
            width=width,
            look=_look(step, again=index >= cycle, last=index == len(shown.steps) - 1),
            starred=step.deviation,
            changed=_cut("   ".join(changed), noted) if noted else "",
        )


def _look(step: Step, *, again: bool, last: bool) -> str:
    if step.injected:
        return "injected"
    if again:
        return "again"
    return "last" if last else ""


def _blocked(shown: Counterexample, grid: _Grid) -> Iterator[Box]:
    for one in shown.blocked:
        # The reason says more than the innermost frame, which is often inside trio.
        reason = one.why or next(iter(one.where), "")
        yield Box(
            number=0,
            lines=("blocked forever", _cut(reason, grid.fits)),
            title="\n".join([one.task, one.why, *one.where]),
            x=grid.x(one.task) - grid.lane / 2 + 5,
            y=grid.y(len(shown.steps)) + (grid.row - grid.box) / 2,
            width=grid.lane - 10,
            look="blocked",
        )
    for name in _ended(shown):
        yield Box(
            number=0,
            lines=("has ended",),
            title=name,
            x=grid.x(name) - grid.lane / 2 + 5,
            y=grid.y(len(shown.steps)) + (grid.row - grid.box) / 2,
            width=grid.lane - 10,
            look="ended",
        )


def _waiting(shown: Counterexample) -> list[Blocked]:
    return [one for one in shown.blocked if one.waits_for]


def _ended(shown: Counterexample) -> Iterator[str]:
    """Yield the tasks that others wait for although they do not wait, so have ended."""
    blocked = {one.task for one in shown.blocked}
    awaited = dict.fromkeys(name for one in shown.blocked for name in one.waits_for)
    yield from (name for name in awaited if name not in blocked)


def _waits(shown: Counterexample, grid: _Grid) -> Iterator[Wait]:
    arrived: dict[str, int] = {}
    foot = grid.y(len(shown.steps) + 1) - (grid.row - grid.box) / 2
    for level, one in enumerate(_waiting(shown), 1):
        across = foot + LEVEL * level
        line = f"M{grid.x(one.task) + LEAVES},{foot} V{across}"
        tips = ""
        for name in one.waits_for:
            number = arrived[name] = arrived.get(name, -1) + 1
            x = grid.x(name) + min(ARRIVES + APART * number, LEAVES - APART)
            line += f" M{grid.x(one.task) + LEAVES},{across} H{x} V{foot + TIP_LENGTH}"
            tips += f"M{x},{foot} l{-TIP},{TIP_LENGTH} h{2 * TIP} z "
        yield Wait(f"{one.task} waits for {listed(one.waits_for)}", line, tips.rstrip())


def _arrows(shown: Counterexample, grid: _Grid) -> Iterator[Arrow]:
    for index, step in enumerate(shown.steps):
        for name in step.woke:
            turn = shown.next_turn(name, index)
            # A task that never runs is blocked below the last step, or was abandoned when the test failed.
            row = len(shown.steps) if turn is None else turn
            x, y = grid.x(name), grid.y(row) + (grid.row - grid.box) / 2
            if step.actor == name or step.actor not in grid.actors:
                line = f"M{x},{grid.y(index + 0.5)} V{y - TIP_LENGTH}"
            else:
                corner = x - 8 if grid.x(step.actor) < x else x + 8
                middle = grid.y(index + 0.5)
                line = (
                    f"M{grid.x(step.actor)},{middle} H{corner} "
                    f"Q{x},{middle} {x},{middle + 8} V{y - TIP_LENGTH}"
                )
            tip = f"M{x},{y} l{-TIP},{-TIP_LENGTH} h{2 * TIP} z"
            yield Arrow(index + 1, line, tip)


def _cut(text: str, room: int) -> str:
    """Return the beginning of a text, as much as fits."""
    return text if cell_len(text) <= room else set_cell_size(text, max(room - 1, 0)).rstrip() + "…"


def _tail(text: str, room: int) -> str:
    """Return the end of a name, as much as fits: it is what tells tasks apart."""
    return text if cell_len(text) <= room else "…" + _cut(text[::-1], room)[:-1][::-1]
