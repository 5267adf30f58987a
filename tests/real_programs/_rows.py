"""What is explored of a released library: a program, the property that it checks, and what comes of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from structsync.testing._settings import Options

Program = Callable[..., Awaitable[object]]

#: Of what is not finished on record; on a machine that is idle it may be confirmed.
SLOW = "limit of ours: not at its end within 75 seconds on a busy machine"


@dataclass(frozen=True, kw_only=True)
class Row:
    """One exploration.

    Attributes:
      library: the distribution, as the package index calls it.
      what: is explored of it.
      holds: the property that the program checks.
      program: the async function that is explored.
      verdict: what is to come of it: "confirmed", "refuted", "not finished" or "refused".
      judgement: of what is not confirmed: "bug", "documented limit", "our mistake" or a limit of ours, and why.
      script: the plain program that shows the same without the explorer, in the folder ``plainly``.
      options: the settings that differ from the default.
    """

    library: str
    what: str
    holds: str
    program: Program
    verdict: str = "confirmed"
    judgement: str = ""
    script: str = ""
    options: Options = field(default_factory=lambda: Options())
