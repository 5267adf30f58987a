"""One execution of a test as it is seen by what chooses in it, watches it or writes it down.

What makes it run is an engine, which is above this module and implements :class:`Execution`.
"""

from __future__ import annotations

import abc
import ctypes
from collections.abc import Awaitable, Callable, Container, Sequence
from contextvars import Context
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

import trio
from trio.lowlevel import Task

from structsync.testing._settings import Settings

from .frames import chain_of
from .names import Names, Scopes
from .oracles import WatchedPrimitives
from .schedule import Choice

EndKind: TypeAlias = Literal[
    "passed",
    "skipped",
    "cut",
    "deadlock",
    "error",
    "violation",
    "leak",
    "endless",
    "starvation",
    "livelock",
]
AsyncTest: TypeAlias = Callable[..., Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Ending:
    """How an execution ended.

    Attributes:
      kind: ``passed``; ``skipped`` (the test says that this schedule tells nothing); ``cut`` (the chooser did
          not want to see more); or how it failed.
      message: what went wrong.
      error: the exception, for ``error`` and ``skipped``.
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
        return self.kind not in ("passed", "skipped", "cut")

    @property
    def signature(self) -> tuple[str, str]:
        """Equal for failures that are most likely the same bug."""
        return self.kind, self.culprit


class Execution(abc.ABC):
    """One run of a test, from its first step to its ending."""

    __slots__ = ()

    settings: Settings
    own_file: str | None
    """Where the test stands."""
    clock: VirtualClock
    whole: trio.CancelScope
    """Round the test function, to cancel it from outside."""
    context: Context
    """The context variables with which the run began."""
    names: Names
    scopes: Scopes
    """The cancel scopes of the program that are open."""
    watched: WatchedPrimitives
    """The primitives of the program."""
    choices: list[Choice]
    """What was chosen in each step so far."""
    firsts: list[Choice]
    """What was the first option in each of these steps."""
    cancels_left: int
    """How many cancellations may still be injected."""
    pool: list[Task]
    """The runnable tasks, in the order in which they are options."""
    batch: list[Task]
    """For ``order="trio"``: the tasks that are still to run before anything newly runnable."""
    roused: set[Task]
    """The tasks that waited until all tasks are blocked, were woken by that, and have not run yet."""
    branched: bool
    """Whether there has been more than one option."""
    raced: bool
    """Whether time has passed while different deadlines were to come."""
    ending: Ending | None

    # Of a task.

    @abc.abstractmethod
    def is_alive(self, task: Task) -> bool:
        """Return whether a task has not ended."""

    @abc.abstractmethod
    def coroutine_of(self, task: Task) -> Any:
        """Return the coroutine that a task runs."""

    @abc.abstractmethod
    def pending_of(self, task: Task) -> object:
        """Return what a runnable task will get when it runs."""

    @abc.abstractmethod
    def guard_of(self, task: Task) -> trio.CancelScope | None:
        """Return the scope by which a task can be cancelled alone."""

    @abc.abstractmethod
    def extra_of(self, task: Task) -> Sequence[object]:
        """Return what matters of a task beyond its coroutine."""

    # Of all of them.

    @abc.abstractmethod
    def blocked(self) -> list[Task]:
        """Return the tasks that wait for others."""

    @abc.abstractmethod
    def run_variables(self) -> object:
        """Return the values of the run's :class:`trio.lowlevel.RunVar`, where they can be seen."""

    # What the test has said by its handle.

    @abc.abstractmethod
    def handle_state(self) -> object:
        """Return what the checks to come depend on."""

    @abc.abstractmethod
    def ghosts(self) -> Container[int]:
        """Return the addresses of the objects that are to be left out of the state."""

    @abc.abstractmethod
    def requesting(self) -> set[Task] | None:
        """Return the tasks that want something, or None if the test never says which do."""

    @abc.abstractmethod
    def got_on(self) -> bool:
        """Return whether a task has said in the last step that it got what it wanted."""


class Chooser(Protocol):
    """Decides what happens next."""

    def choose(self, execution: Execution, options: tuple[Choice, ...]) -> Choice | None:
        """Return one of the options (the first is the default), or None to end the execution."""


class Recorder(Protocol):
    """Looks at each step before and after it is made."""

    def before(self, execution: Execution, choice: Choice, first: Choice) -> None:
        """Look at the state in which a choice was made."""

    def after(self, execution: Execution, woke: list[Task]) -> None:
        """Look at the state after the step, and at the tasks that it made runnable."""

    def stuck(self, execution: Execution) -> None:
        """Look at a deadlock before it is unwound."""


def close_for_good(coroutine: Any) -> None:
    """Close a coroutine that may not want to end.

    One that refuses is kept beyond the end of the process, where its end would be a complaint.
    """
    chain = list(chain_of(coroutine))
    try:
        coroutine.close()
    except BaseException:  # noqa: BLE001 - whatever the program does with its end, it is over
        keep_forever(chain)


def keep_forever(what: object) -> None:
    """Keep an object beyond the end of the process: nothing that it refers to is finalized."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(what))


class Abandoned(BaseException):
    """Breaks a task out of a wait that nothing else would end."""


class VirtualClock(trio.abc.Clock):
    """Time that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 0.0
        self.passes = True
        """Whether it goes on to the next deadline when no task can run."""

    def start_clock(self) -> None:
        """Do nothing: the time is always zero at the start."""

    def current_time(self) -> float:
        return self.now

    def deadline_to_sleep_time(self, deadline: float) -> float:
        """Never called: there is no sleep, and time passes by choice."""
        raise AssertionError
