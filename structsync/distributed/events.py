"""What the observer of a session is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, final

from trio.lowlevel import Task

SharedEventKind: TypeAlias = Literal["requested", "granted", "withdrawn", "released", "lost"]


@final
@dataclass(frozen=True, slots=True)
class SharedEvent:
    """One step of what this session does with a shared primitive.

    Attributes:
      kind: ``requested``, then ``granted`` or ``withdrawn``, the latter also if it was refused; ``released``;
          ``lost``, if the session ended before, both for what was held and for what was waited for.
      name: of the primitive; of several that are taken together, all names with " + " between them.
      token: of the grant; 0 where nothing is granted.
      task: the task that made the request.
      time: by trio's clock, in seconds.
    """

    kind: SharedEventKind
    name: str
    token: int
    task: Task
    time: float
