"""A counterexample as one self-contained HTML page with a drawing of who did what when.

Here are the places of things; `counterexample.html.jinja` draws them and holds all colours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from structsync.report._model import Counterexample

ROW = 44
LANE_MIN, LANE_MAX = 110, 260
LEFT = 70
TOP = 54
# The width of a monospaced character at 13 pixels, a little generous.
CHARACTER = 8.1
# What a step changed stands beside it, as far as it fits; the table below has all of it.
NOTE_LENGTH = 70


@dataclass(frozen=True, slots=True)
class Box:
    """A step in the drawing."""

    number: int
    text: str
    title: str
    changed: str
    x: float
    y: float
    width: float
    in_cycle: bool
    is_last: bool


@dataclass(frozen=True, slots=True)
class Drawing:
    """Where everything stands: one column per actor, time runs down."""

    lanes: tuple[tuple[str, float], ...]
    boxes: tuple[Box, ...]
    notes: float
    width: float
    height: float
    bottom: float
    cycle_top: float | None
    cycle_bottom: float


def to_html(shown: Counterexample) -> str:
    """Return a counterexample as the text of one HTML file that refers to no other file."""
    return _template().render(shown=shown, drawing=_drawing(shown), row=ROW)


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("structsync.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("counterexample.html.jinja")


def _drawing(shown: Counterexample) -> Drawing:
    actors = list(dict.fromkeys(sorted(step.actor for step in shown.steps)))
    longest = max((len(step.call) for step in shown.steps), default=0)
    lane = min(max(longest * CHARACTER + 34, LANE_MIN), LANE_MAX)
    bottom = TOP + ROW * (len(shown.steps) + shown.stutters)
    cycle = shown.cycle_start
    notes = LEFT + lane * max(len(actors), 1) + 16
    return Drawing(
        lanes=tuple((actor, LEFT + lane * (n + 0.5)) for n, actor in enumerate(actors)),
        boxes=tuple(_boxes(shown, actors, lane)),
        notes=notes,
        width=notes + NOTE_LENGTH * CHARACTER,
        height=bottom + 16,
        bottom=bottom,
        cycle_top=None if cycle is None or shown.stutters else TOP + ROW * (cycle + 0.5),
        cycle_bottom=TOP + ROW * (len(shown.steps) - 0.5),
    )


def _boxes(shown: Counterexample, actors: list[str], lane: float) -> Iterator[Box]:
    fits = int((lane - 20) / CHARACTER)
    cycle = len(shown.steps) if shown.cycle_start is None else shown.cycle_start
    for index, step in enumerate(shown.steps):
        width = min(len(step.call) * CHARACTER + 20, lane - 10)
        middle = LEFT + lane * (actors.index(step.actor) + 0.5)
        changed = [f"{name} {value}" for name, value in shown.changes(index).items()]
        yield Box(
            number=index + 1,
            text=_cut(step.call, fits),
            title="\n".join([step.call, *changed]),
            changed=_cut("   ".join(changed), NOTE_LENGTH),
            x=middle - width / 2,
            y=TOP + ROW * index + 7,
            width=width,
            in_cycle=index >= cycle,
            is_last=index == len(shown.steps) - 1,
        )


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"
