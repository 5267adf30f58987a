"""The words in which engines, choosers and recorders speak of one execution."""

from __future__ import annotations

import ctypes
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import trio
from trio.lowlevel import Task

from .frames import chain_of

if TYPE_CHECKING:
    from .engine import Engine
    from .schedule import Choice

EndKind: TypeAlias = Literal[
    "passed", "cut", "deadlock", "error", "violation", "leak", "endless", "starvation"
]
AsyncTest: TypeAlias = Callable[..., Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Ending:
    """How an execution ended.

    Attributes:
      kind: ``passed``; ``cut`` (the chooser did not want to see more); or how it failed.
      message: what went wrong.
      error: the exception, for ``error``.
      value: what the test function returned, for ``passed``.
      culprit: what makes two failures of one kind different ones: a name of a check, a type.
    """

    kind: EndKind
    message: str = ""
    error: BaseException | None = None
    value: object = None
    culprit: str = ""

    @property
    def failed(self) -> bool:
        """True if the test is broken."""
        return self.kind not in ("passed", "cut")

    @property
    def signature(self) -> tuple[str, str]:
        """Equal for failures that are most likely the same bug."""
        return self.kind, self.culprit


class Chooser(Protocol):
    """Decides what happens next."""

    def choose(self, engine: Engine, options: tuple[Choice, ...]) -> Choice | None:
        """Return one of the options (the first is the default), or None to end the execution."""


class Recorder(Protocol):
    """Is told what each step did."""

    def before(self, engine: Engine, choice: Choice, first: Choice) -> None:
        """Look at the state in which a choice was made."""

    def after(self, engine: Engine, woke: list[Task]) -> None:
        """Look at the state after the step, and at the tasks that it made runnable."""

    def stuck(self, engine: Engine) -> None:
        """Look at a deadlock before it is unwound."""


def close_for_good(coroutine: Any) -> None:
    """Close a coroutine that may not want to end.

    One that refuses is kept beyond the end of the process, where its end would be a complaint.
    """
    chain = list(chain_of(coroutine))
    try:
        coroutine.close()
    except BaseException:  # noqa: BLE001 - whatever the program does with its end, it is over
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(chain))


class Abandoned(BaseException):
    """Breaks a task out of a wait that nothing else would end."""


class VirtualClock(trio.abc.Clock):
    """Time that stands still until somebody moves it."""

    def __init__(self) -> None:
        self.now = 0.0

    def start_clock(self) -> None:
        """Do nothing: the time is always zero at the start."""

    def current_time(self) -> float:
        return self.now

    def deadline_to_sleep_time(self, deadline: float) -> float:
        """Nobody asks: there is no sleep, and time passes by choice."""
        raise AssertionError
