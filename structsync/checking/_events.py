"""What happened in a program, and which calls of a specification that may mean."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias, final


@final
class Call:
    """An action of a specification with values of its parameters.

    Where the receiver allows it, a parameter may be left out: then it stands for any of its values.

    Attributes:
      action: the name of the action.
      arguments: the values by the names of the parameters.
    """

    __slots__ = ("action", "arguments")

    action: str
    arguments: dict[str, Any]

    def __init__(self, action: str, /, **arguments: Any) -> None:
        self.action = action
        self.arguments = arguments

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Call):
            return NotImplemented
        return (self.action, self.arguments) == (other.action, other.arguments)

    def __hash__(self) -> int:
        return hash((self.action, frozenset(self.arguments.items())))

    def __repr__(self) -> str:
        return f"{self.action}({', '.join(f'{n}={v!r}' for n, v in self.arguments.items())})"


@final
@dataclass(frozen=True, slots=True)
class TraceEvent:
    """One thing that happened in a program, as plain values.

    Attributes:
      kind: what happened: ``requested``, ``granted`` ... of a primitive, or a name of your own.
      details: the facts of the claim, or the values of an event of your own.
      task: the name of the task that it happened to, if that is known.
      primitive: the name of the primitive, or its class if it has no name.
      request: a number for each request, the same in all events of one request.
      state: what was visible of the state right after it, by name.
      time: when it happened, in seconds.
    """

    kind: str
    details: dict[str, Any] = field(default_factory=dict)
    task: str | None = None
    primitive: str = ""
    request: int | None = None
    state: dict[str, Any] = field(default_factory=dict)
    time: float | None = None

    def __str__(self) -> str:
        told = [f"{name}={value!r}" for name, value in self.details.items()]
        told += (
            [f"task={self.task!r}"] if self.task is not None and "task" not in self.details else []
        )
        where = f"{self.primitive}." if self.primitive else ""
        return f"{where}{self.kind}({', '.join(told)})"


#: What an event may mean in a state of a specification; see `Spec.explain`.
Meaning: TypeAlias = Call | Iterable[Call] | bool | None
