"""The line on which a search shows how far it has come."""

import io
import re

import pytest
from rich.console import Console

from structsync.report._progress import ProgressLine

NAME = "tests/test_courier.py::test_no_parcel_is_lost_on_the_way"
FIGURES = "12,345 executions  1,234 states  2,345/s  12 s"


def line_on(console: Console) -> ProgressLine:
    line = ProgressLine(console)
    line.begin(NAME, 20_000)
    line.show(FIGURES, completed=12_345)
    return line


def shown(width: int) -> str:
    console = Console(force_terminal=True, width=width, file=io.StringIO(), color_system=None)
    with console.capture() as captured:
        console.print(line_on(console)._progress.get_renderable())
    return captured.get()


@pytest.mark.parametrize("width", [40, 80, 110, 200])
def test_nothing_is_cut_off_at_any_width(width: int) -> None:
    text = shown(width)
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
    assert all(word in text for word in FIGURES.split())
    assert len(re.sub(r"[\s━╸⠋]", "", text)) == len(re.sub(r"\s", "", NAME + FIGURES))


@pytest.mark.parametrize(("width", "bar"), [(80, False), (200, True)])
def test_a_bar_is_drawn_where_there_is_room(width: int, bar: bool) -> None:
    assert ("━" in shown(width)) == bar


def test_nothing_is_printed_where_there_is_no_terminal() -> None:
    console = Console(force_terminal=False, file=io.StringIO(), record=True)
    with line_on(console) as line:
        line.print("a schedule breaks it")
    assert console.export_text() == ""
