"""How a line of a summary keeps to the terminal: what does not fit stands below, and no word is cut."""

from __future__ import annotations

import textwrap

_MARGIN = " " * 14


def entry(verdict: str, name: str, told: str, width: int) -> str:
    """Return what is told of one test: in one line if it fits, else the name, and the rest below it."""
    first = f"{verdict:12}  {name}"
    whole = f"{first}  {told}"
    return whole if len(whole) <= width else f"{first}\n{_wrapped(_MARGIN + told, width)}"


def group(verdict: str, told: str, width: int) -> str:
    """Return what is told of several tests, which are listed below it."""
    return _wrapped(f"{verdict:12}  {told}", width)


def _wrapped(text: str, width: int) -> str:
    # An address of a file is copied: it stays whole on any terminal.
    return textwrap.fill(
        text,
        width,
        subsequent_indent=_MARGIN,
        break_long_words=False,
        break_on_hyphens=False,
    )
