"""Which task waits for which, drawn as at the foot of the explorer's reports: a box for each task, arrows below."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from structsync.report._drawing import Drawing, draw
from structsync.report._model import Blocked, Counterexample

_HEADING, _MARGIN = 36, 10
_FONT = 'font-family="monospace" font-size="13" text-anchor="middle"'


def svg_of(waits: Mapping[str, Sequence[tuple[str, str]]]) -> str:
    """Return a picture: for each task that waits, what it waits for and which task has that."""
    blocked = [
        Blocked(
            task,
            why=" and ".join(dict.fromkeys(what for what, _ in each)),
            waits_for=tuple(dict.fromkeys(holder for _, holder in each)),
        )
        for task, each in waits.items()
    ]
    # A schedule of no steps: only its foot is drawn. What is not blocked there has not ended here.
    shown = Counterexample("", "", "", {}, (), blocked=tuple(blocked), token="-")
    return "\n".join(_lines(draw(shown))) + "\n"


def _lines(drawing: Drawing) -> Iterator[str]:
    # Without the room that a report has at the left for the numbers of steps; readable on a dark page, too.
    left = min((box.x for box in drawing.blocked), default=_MARGIN) - _MARGIN
    width = max((box.x + box.width for box in drawing.blocked), default=left) + _MARGIN - left
    height = drawing.height + _HEADING
    size = f'width="{width:.0f}" height="{height:.0f}" style="background: white"'
    view = f'viewBox="{left:.0f} 0 {width:.0f} {height:.0f}"'
    yield f'<svg xmlns="http://www.w3.org/2000/svg" {size} {view}>'
    yield f'<g transform="translate(0 {_HEADING})">'
    for lane in drawing.lanes:
        name = f"{escape(lane.name)}<title>{escape(lane.title)}</title>"
        yield f'<text x="{lane.x}" y="-8" font-weight="bold" {_FONT}>{name}</text>'
    for wait in drawing.waits:
        yield f"<g><title>{escape(wait.title)}</title>"
        yield f'<path d="{wait.line}" fill="none" stroke="#b00020" stroke-width="1.5"/>'
        yield f'<path d="{wait.tips}" fill="#b00020"/></g>'
    for box in drawing.blocked:
        waits = box.look == "blocked"
        lines = ("waits for", *box.lines[1:]) if waits else ("goes on",)
        place = f'x="{box.x}" y="{box.y}" width="{box.width}" height="{drawing.box}" rx="6"'
        yield f"<g><title>{escape(box.title)}</title>"
        yield f'<rect {place} fill="white" stroke="#555"/>'
        for number, line in enumerate(lines):
            y = box.y + drawing.box / 2 + 4 + 18 * (number - (len(lines) - 1) / 2)
            yield f'<text x="{box.middle}" y="{y}" {_FONT}>{escape(line)}</text>'
        yield "</g>"
    yield "</g></svg>"
