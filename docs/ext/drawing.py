"""Edges as an inline SVG: stages that go on stand in a row, those that are ends in a column.

An arrow to the next stage of the row is straight. Every other one goes down from its stage, along a
lane of its own, and into its target, so that no two lanes cover each other whatever the edges are.
Colours are those of the page (``currentColor``), so that it can be read on light and dark ones.
"""

from __future__ import annotations

from html import escape

from lives import Edges

BOX_W, BOX_H = 96, 34
LINE = 17  # from one line of text to the next
LETTER = 6.4  # as wide as a letter is on average
PAD = 12  # above the words of a lane
LEFT = 6

STYLE = (
    "max-width:100%;height:auto;font:13px sans-serif;color:var(--color-foreground-primary, #222)"
)
HEAD = (
    '<defs><marker id="{name}-tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" '
    'markerHeight="8" orient="auto"><path d="M0 0 8 4 0 8z" fill="currentColor"/></marker></defs>'
)


class Drawing:
    """One picture of one set of edges."""

    def __init__(self, name: str, edges: Edges) -> None:
        self.name = name
        self.edges = edges
        self.parts: list[str] = []
        sources = {source for source, _ in edges}
        stages = list(dict.fromkeys(stage for edge in edges for stage in edge))
        # None, the start, is the first of the row; a stage is in the row if it leads anywhere.
        self.row = [None, *(stage for stage in stages if stage is not None and stage in sources)]
        self.ends = [stage for stage in stages if stage not in sources]
        self.x = self._columns()
        straight = [len(words) for edge, words in edges.items() if self._straight(*edge)]
        self.y = max(straight, default=0) * LINE - LINE / 2 + BOX_H / 2 + 2

    def svg(self) -> str:
        """Return the picture."""
        bottom = self._lanes()
        for stage in self.row[1:]:
            self._box(str(stage), self.x[stage], self.y)
        width = max(self.x.values()) + BOX_W + LEFT
        words = escape("; ".join(sentence(edge, said) for edge, said in self.edges.items()))
        return (
            f'<svg role="img" aria-label="{words}" viewBox="0 0 {width:.0f} {bottom:.0f}" '
            f'width="{width:.0f}" style="{STYLE}">{HEAD.format(name=self.name)}'
            f"{''.join(self.parts)}</svg>"
        )

    def _straight(self, source: str | None, target: str) -> bool:
        return target in self.row and self.row.index(target) == self.row.index(source) + 1

    def _columns(self) -> dict[str | None, float]:
        """Give each stage its place from left to right, with room for the words between."""
        x: dict[str | None, float] = {None: LEFT - BOX_W}
        for left, right in zip(self.row, self.row[1:], strict=False):
            x[right] = x[left] + BOX_W + self._room(self.edges.get((left, right or ""), []))
        # The longest words of a lane have to fit between its source and its end.
        last = max(
            x[source] + BOX_W / 2 + self._room(words)
            for (source, target), words in self.edges.items()
            if target in self.ends
        )
        return x | dict.fromkeys(self.ends, max(last, x[self.row[-1]] + BOX_W + 40))

    @staticmethod
    def _room(words: list[str]) -> float:
        return max((len(line) * LETTER for line in words), default=0) + 34

    def _lanes(self) -> float:
        """Draw the arrows; return the lower end of the picture."""
        for (source, target), words in self.edges.items():
            if self._straight(source, target):
                left = self.x[source] + BOX_W
                self._arrow(f"M{left:.0f} {self.y} H{self.x[target]:.0f}")
                self._words(words, left + 8, self.y - 6)
        y = self.y + BOX_H / 2
        for target in self._targets():
            lanes = []
            for source in reversed(self.row):
                words = self.edges.get((source, target), [])
                if words and not self._straight(source, target):
                    y += len(words) * LINE + PAD
                    self._lane(source, target, words, y)
                    lanes.append(y)
            if target in self.ends:
                self._box(target, self.x[target], lanes[0], lanes[-1])
                y += PAD
        return y + 8

    def _targets(self) -> list[str]:
        """Return the targets of lanes: those that late stages lead to come first."""
        known = list(dict.fromkeys(edge[1] for edge in self.edges))
        latest = {
            target: max(self.row.index(source) for source, to in self.edges if to == target)
            for target in known
        }
        return sorted(known, key=lambda target: (target in self.row, -latest[target]))

    def _lane(self, source: str | None, target: str, words: list[str], y: float) -> None:
        x = LEFT if source is None else self.x[source] + BOX_W / 2
        start = self.y if source is None else self.y + BOX_H / 2
        if target in self.ends:
            self._arrow(f"M{x:.0f} {start} V{y:.0f} H{self.x[target]:.0f}")
        else:
            up = self.x[target] + BOX_W / 2 - 14
            self._arrow(f"M{x:.0f} {start} V{y:.0f} H{up:.0f} V{self.y + BOX_H / 2}")
        self._words(words, x + 8, y - 5)

    def _arrow(self, path: str) -> None:
        self.parts.append(
            f'<path d="{path}" fill="none" stroke="currentColor" stroke-opacity=".55" '
            f'marker-end="url(#{self.name}-tip)"/>'
        )

    def _words(self, words: list[str], x: float, y: float) -> None:
        for number, line in enumerate(reversed(words)):
            self.parts.append(
                f'<text x="{x:.0f}" y="{y - number * LINE:.0f}" fill="currentColor">'
                f"{escape(line)}</text>"
            )

    def _box(self, stage: str, x: float, top: float, bottom: float | None = None) -> None:
        """Draw a stage: round at one height, or an end from its first lane to its last."""
        middle = (top + (bottom or top)) / 2
        height = (bottom or top) - top + BOX_H
        corner, width = (BOX_H / 2, 1.2) if bottom is None else (4, 2)
        self.parts.append(
            f'<rect x="{x:.0f}" y="{top - BOX_H / 2:.0f}" width="{BOX_W}" height="{height:.0f}" '
            f'rx="{corner:.0f}" stroke="currentColor" stroke-width="{width}" '
            'fill="var(--color-background-primary, #fff)"/>'
            f'<text x="{x + BOX_W / 2:.0f}" y="{middle + 5:.0f}" text-anchor="middle" '
            f'font-weight="bold" fill="currentColor">{escape(stage)}</text>'
        )


def sentence(edge: tuple[str | None, str], words: list[str]) -> str:
    """Describe an arrow in words, for readers who do not see it."""
    source, target = edge
    return f"from {source or 'the start'} to {target}: {' or '.join(words)}"
