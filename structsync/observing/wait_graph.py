"""Which task waits for which, as a graph: text, and a picture where graphviz is installed."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True, slots=True)
class WaitEdge:
    """One wait.

    Attributes:
      waiter: the name of the task that waits.
      primitive: for what.
      holder: which task has to do something first.
    """

    waiter: str
    primitive: str
    holder: str


@final
@dataclass(frozen=True, slots=True)
class WaitGraph:
    """Which tasks wait for which; of :func:`snapshot` or a :exc:`DeadlockError`.

    Attributes:
      edges: the waits.
    """

    edges: tuple[WaitEdge, ...]

    def to_text(self) -> str:
        """Return one line for each waiter, and below each what it waits for in turn."""
        return "\n".join(self._lines()) or "no task waits for another that is known"

    def to_dot(self) -> str:
        """Return the graph in the language of graphviz: tasks are boxes, waits are arrows."""
        names = dict.fromkeys(name for edge in self.edges for name in (edge.waiter, edge.holder))
        numbers = {name: number for number, name in enumerate(names)}
        lines = [
            "digraph waits_for {",
            "  node [shape=box, fontname=monospace];",
            "  edge [fontname=monospace];",
        ]
        lines += [f"  t{number} [label={_quoted(name)}];" for name, number in numbers.items()]
        lines += [
            f"  t{numbers[one.waiter]} -> t{numbers[one.holder]} [label={_quoted(one.primitive)}];"
            for one in self.edges
        ]
        return "\n".join([*lines, "}"])

    def to_svg(self) -> str:
        """Return the picture as SVG: by graphviz's ``dot`` if it is installed, otherwise as in a report.

        Without graphviz the tasks stand side by side, as in the reports of the explorer, with arrows
        below them. If ``dot`` fails, the ``subprocess.SubprocessError`` of that is raised.
        """
        dot = shutil.which("dot")
        if dot is None:
            # Late: a program that only synchronizes need not load rich.
            from .wait_drawing import svg_of

            return svg_of(
                {
                    _printable(waiter): [
                        (_printable(one.primitive), _printable(one.holder)) for one in edges
                    ]
                    for waiter, edges in self._by_waiter().items()
                }
            )
        drawn = subprocess.run(
            [dot, "-Tsvg"],
            input=self.to_dot(),
            capture_output=True,
            text=True,
            check=True,
            timeout=30,
        )
        return drawn.stdout

    def _by_waiter(self) -> dict[str, list[WaitEdge]]:
        by_waiter: dict[str, list[WaitEdge]] = {}
        for edge in self.edges:
            by_waiter.setdefault(edge.waiter, []).append(edge)
        return by_waiter

    def _lines(self) -> Iterator[str]:
        for waiter, edges in self._by_waiter().items():
            yield f"{waiter} waits for"
            yield from (f"  {edge.holder}, because of {edge.primitive}" for edge in edges)


def _printable(name: str) -> str:
    """Return a name without what no picture may contain: control characters are none of XML."""
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode() for each in name
    )


def _quoted(name: str) -> str:
    escaped = _printable(name).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
