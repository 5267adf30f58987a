"""What `structsync top` shows, and which key leads where."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from .wait_graph import WaitEdge, WaitGraph

Page: TypeAlias = Literal["primitives", "tasks", "stack", "graph"]

HELP: dict[Page, str] = {
    "primitives": "up/down j/k: choose   enter: its tasks   w: which waits for which   q: quit",
    "tasks": "up/down j/k: choose   enter: its stack   esc: back   w: graph   q: quit",
    "stack": "up/down j/k: scroll   esc: back   w: graph   q: quit",
    "graph": "up/down j/k: scroll   esc: back   q: quit",
}
#: Lines beside those of a table: the heading of the screen, of the table, and the help.
AROUND = 5


@final
@dataclass
class Screen:
    """The pages, where the cursor stands on each, and what was answered last."""

    ask: Callable[..., dict[str, Any]]
    page: Page = "primitives"
    chosen: dict[Page, int] = field(default_factory=dict)
    state: dict[str, Any] = field(default_factory=dict)
    problem: str = ""
    stack: dict[str, Any] = field(default_factory=dict)
    _rates: dict[int, float] = field(default_factory=dict)
    _before: list[Page] = field(default_factory=list)
    _id: int | None = None  # of the primitive whose tasks are shown
    _number: int | None = None  # of the task whose stack is shown

    # What comes in.

    def refresh(self) -> None:
        """Ask for what is shown."""
        self.take(self.ask(ask="state"))
        if self.page == "stack":
            self.stack = self.ask(ask="task", task=self._number)

    def take(self, state: dict[str, Any]) -> None:
        """Take in a state, and see how fast things went since the last one."""
        seconds = state["at"] - self.state.get("at", state["at"])
        before = {_counted(one): _count(one) for one in self.state.get("primitives", ())}
        if seconds > 0:
            self._rates = {
                one["id"]: (_count(one) - before[_counted(one)]) / seconds
                for one in state["primitives"]
                if _counted(one) in before
            }
        chosen = self._chosen_one()
        self.state, self.problem = state, ""
        self._follow(chosen)

    def _chosen_one(self) -> object:
        """Return what the cursor stands on: a primitive, or a task."""
        keys = self._keys()
        return keys[self._at(len(keys))] if keys else None

    def _follow(self, chosen: object) -> None:
        """Let the cursor stand on the same as before, though the rows have another order."""
        if chosen is not None and chosen in (keys := self._keys()):
            self.chosen[self.page] = keys.index(chosen)

    def _keys(self) -> list[object]:
        if self.page == "primitives":
            return [one["id"] for one in self.state.get("primitives", ())]
        return [one["task"] for _, one in self._tasks()] if self.page == "tasks" else []

    def press(self, key: str) -> bool:
        """Do what a key stands for; return whether to go on."""
        if key == "q":
            return False
        if key in ("up", "k", "down", "j"):
            step = 1 if key in ("down", "j") else -1
            self.chosen[self.page] = self._at(self._length()) + step
            self.chosen[self.page] = self._at(self._length())
        elif key == "enter":
            self._go_in()
        elif key == "w" and self.page != "graph":
            self._go("graph")
        elif key == "esc" and self._before:
            self.page = self._before.pop()
        return True

    def _go(self, page: Page) -> None:
        self._before.append(self.page)
        self.page, self.chosen[page] = page, 0

    def _go_in(self) -> None:
        primitives = self.state.get("primitives", ())
        if self.page == "primitives" and primitives:
            self._id = primitives[self._at(len(primitives))]["id"]
            self._go("tasks")
        elif self.page == "tasks" and (tasks := [*self._tasks()]):
            _, one = tasks[self._at(len(tasks))]
            self._number, self.stack = one["task"], {"task": one["name"], "stack": []}
            self._go("stack")
            self.refresh()

    def _at(self, length: int) -> int:
        return max(0, min(self.chosen.get(self.page, 0), length - 1))

    def _length(self) -> int:
        if self.page == "primitives":
            return len(self.state.get("primitives", ()))
        if self.page == "tasks":
            return len([*self._tasks()])
        return len(self._lines())

    def _primitive(self) -> dict[str, Any] | None:
        primitives = self.state.get("primitives", ())
        return next((one for one in primitives if one["id"] == self._id), None)

    def _tasks(self) -> Iterator[tuple[str, dict[str, Any]]]:
        one = self._primitive()
        if one is not None:
            yield from (("holds", each) for each in one["holders"])
            yield from ((f"waits, {n}.", each) for n, each in enumerate(one["waiters"], 1))

    def _lines(self) -> list[str]:
        if self.page == "stack":
            return list(self.stack.get("stack") or ["it has ended, or went on"])
        return self.graph().to_text().splitlines()

    def graph(self) -> WaitGraph:
        """Return which tasks wait for which."""
        return WaitGraph(tuple(WaitEdge(*edge) for edge in self.state.get("edges", ())))

    # What is shown.

    def render(self, height: int) -> RenderableType:
        """Return the page, as many lines as there are."""
        room = max(height - AROUND, 1)
        pages: dict[Page, Callable[[int], RenderableType]] = {
            "primitives": self._show_primitives,
            "tasks": self._show_tasks,
            "stack": self._show_lines,
            "graph": self._show_lines,
        }
        body = pages[self.page](room) if self.state else Text("")
        return Group(self._heading(), body, Text(HELP[self.page], style="dim", no_wrap=True))

    def _heading(self) -> Text:
        if self.problem:
            return Text(f"structsync top: {self.problem}", style="bold red", no_wrap=True)
        state = self.state
        words = f"{state['program']} (pid {state['pid']})   {state['tasks']:,} tasks"
        left = f", {state['left_out']} not shown" if state["left_out"] else ""
        return Text(
            f"{words}   {len(state['primitives'])} primitives{left}", style="bold", no_wrap=True
        )

    def _show_primitives(self, room: int) -> Table:
        table = _table(("primitive", 3), ("state", 3), "waiting", "per s", "longest", "p99")
        table.add_column("held by", ratio=3, no_wrap=True)
        for one, is_chosen in self._window(self.state["primitives"], room):
            rate = self._rates.get(one["id"])
            longest = "" if one["longest"] is None else _seconds(one["longest"])
            holders = [each["name"] for each in one["holders"]]
            more = f" and {len(holders) - 1} more" if len(holders) > 1 else ""
            table.add_row(
                Text(one["title"]),
                Text(one["state"]),
                str(one["waiting"] or ""),
                "" if not rate else f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}",
                f"{'' if one['exact'] else '>'}{longest}",
                "" if one["p99"] is None else _seconds(one["p99"]),
                Text(f"{holders[0]}{more}" if holders else ""),
                style="reverse" if is_chosen else "",
            )
        return table

    def _show_tasks(self, room: int) -> RenderableType:
        one = self._primitive()
        if one is None:
            return Text("this primitive is gone")
        table = _table(("task", 3), ("", 2), "claim", "for")
        table.add_column("line", ratio=4, no_wrap=True)
        for (what, each), is_chosen in self._window([*self._tasks()], room - 1):
            claim = each.get("claim") or (str(each["units"]) if each.get("units", 1) > 1 else "")
            table.add_row(
                Text(each["name"]),
                what,
                claim,
                "" if each["for"] is None else _seconds(each["for"]),
                Text(each.get("line") or ""),
                style="reverse" if is_chosen else "",
            )
        hidden = one["waiting"] - len(one["waiters"])
        more = f", {hidden} more wait" if hidden > 0 else ""
        return Group(Text(f"{one['title']}: {one['state']}{more}", no_wrap=True), table)

    def _show_lines(self, room: int) -> RenderableType:
        title = f"{self.stack.get('task')}, outermost first" if self.page == "stack" else ""
        shown = [line for line, _ in self._window(self._lines(), room)]
        return Group(
            Text(title or "which task waits for which", no_wrap=True),
            Text("\n".join(shown), no_wrap=True, overflow="ellipsis"),
        )

    def _window(self, rows: Sequence[Any], room: int) -> list[tuple[Any, bool]]:
        """Return the rows round the chosen one, as many as there is room for."""
        chosen = self._at(len(rows))
        start = max(0, min(chosen - room // 2, len(rows) - room))
        return [(row, n == chosen) for n, row in enumerate(rows[start : start + room], start)]


def _table(*columns: str | tuple[str, int]) -> Table:
    table = Table(box=None, expand=True, pad_edge=False, header_style="underline")
    for one in columns:
        if isinstance(one, tuple):
            table.add_column(one[0], ratio=one[1], no_wrap=True, overflow="ellipsis")
        else:
            table.add_column(one, justify="right", no_wrap=True)
    return table


def _counted(one: dict[str, Any]) -> tuple[int, bool]:
    """Return of which primitive what is counted: no rate is between two numbers of different things."""
    return one["id"], one["granted"] is None


def _count(one: dict[str, Any]) -> int:
    """Return how many were granted; where that is not counted, how many had to queue."""
    count: int = one["queued"] if one["granted"] is None else one["granted"]
    return count


def _seconds(seconds: float) -> str:
    if seconds < 0.001:
        return f"{seconds * 1e6:.0f} us"
    if seconds < 1:
        return f"{seconds * 1e3:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds:,.0f} s"
