"""What may notice a mutant: nets, each with items that are run one by one.

A net runs in a process in which nothing of the package has been imported before. It tells a *watch* what
it begins and what is red; the watch of a mutant ends the process at the first that is red, that of the
baseline notes what each item takes and which lines it runs.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from typing import Protocol


class Watch(Protocol):
    """Who is told what a net does."""

    def item(self, name: str) -> AbstractContextManager[None]:
        """Wrap the run of one item."""

    def shared(self, names: Collection[str] | None = None) -> AbstractContextManager[None]:
        """Wrap what several items need, all of the net by default."""

    def red(self, name: str, how: str) -> None:
        """Note that an item noticed something; may not return."""


class Net(Protocol):
    """One way to check the package."""

    name: str
    parts: tuple[str, ...]
    """The parts of the package that it is asked about."""
    needs: tuple[str, ...]
    """Modules that its items import and that do not import the package: read once, before any fork."""
    traces: bool
    """Whether its items trace what they run."""
    inspecting: tuple[str, ...]
    """What items begin with that look at the heads of functions without running them."""

    def run(self, names: Sequence[str] | None, watch: Watch) -> None:
        """Run these items, or all; cheap ones come first."""
