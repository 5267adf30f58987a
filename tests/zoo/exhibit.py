"""What the zoo says about each of its animals."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from structsync.testing import Settings

if TYPE_CHECKING:
    from structsync.testing import ExploredRun
    from structsync.testing._result import FailureKind

Program: TypeAlias = "Callable[[ExploredRun], Awaitable[None]]"


@dataclass(frozen=True, kw_only=True)
class Exhibit:
    """A known bug, its fix, and what the explorer has to make of both.

    Attributes:
      name: the bug in the words of the field.
      source: where it was seen, as in tests/peers, or the text that first described it.
      mechanism: how it comes about, in a sentence.
      buggy: the program with the bug.
      fixed: the same program with the fix; it has to be confirmed, with the same settings.
      settings: what is explored of both.
      finds: the kind of failure.
      culprit: a regular expression that the counterexample's text has to match.
      budget: the executions within which the first failure has to come.
    """

    name: str
    source: str
    mechanism: str
    buggy: Program
    fixed: Program
    settings: Settings
    finds: FailureKind
    culprit: str
    budget: int
