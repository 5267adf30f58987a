"""What an exploration has found: a verdict, what it covers, and the failure if there is one."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rich.console import Console

from structsync.checking._verdict import Verdict
from structsync.report import Counterexample, to_text
from structsync.report._words import counted

from ._errors import NotExhaustive
from ._settings import Settings, Way

FailureKind: TypeAlias = Literal[
    "deadlock", "error", "violation", "leak", "starvation", "livelock", "endless"
]

#: Why a replay is not exhaustive.
REPLAYED = "one schedule was replayed"
#: Of what stands where a test is expected: that was decorated with @explore.
EXPLORED_AT_ONCE = (
    "was explored while it was imported, and is no test: write @explore() with parentheses"
)


@dataclass(frozen=True, slots=True)
class Failure:
    """The schedule that broke the test.

    Attributes:
      kind: ``deadlock`` (every task waits forever), ``error`` (an exception left the test), ``violation``
          (a check of the handle or an invariant of a primitive), ``leak`` (something was not released),
          ``starvation`` (a fair behaviour in which a task never makes progress), ``livelock`` (a fair
          behaviour in which none does, in a test that can end) or ``endless`` (one execution took more than
          ``max_steps`` steps).
      message: what is wrong, in a sentence or two.
      error: the exception, if one left the test.
      deviations: in how many steps the schedule differs from plain FIFO order.
      execution: the number of the execution that failed first.
      token: replays the schedule, on the command line or with ``replay=``.
      replayed: what the same schedule did inside the real ``trio.run``: ``"same"`` or a difference.
      counterexample: the schedule, step by step, for :mod:`structsync.report`.
    """

    kind: FailureKind
    message: str
    error: BaseException | None
    deviations: int
    execution: int
    token: str
    replayed: str
    counterexample: Counterexample


@dataclass(frozen=True, slots=True)
class Partition:
    """How a search was cut, and which part of it this is.

    Attributes:
      number: which shard this is, from 1 on.
      of: how many there are.
      depth: how long the prefixes are that were shared out; 0 if the search was small, and each shard
          has made all of it.
      prefixes: how many there are.
      digest: differs if the prefixes differ, or how they were shared out.
      complete: whether everything was seen that begins with one of its own.
    """

    number: int
    of: int
    depth: int
    prefixes: int
    digest: str
    complete: bool = False


@dataclass(frozen=True, slots=True)
class Exploration:
    """The result of ``explore`` or ``sweep``.

    Attributes:
      test: the name of what was explored.
      settings: the settings of the search.
      executions: how often the test ran.
      states: the number of different states; 0 if states are not compared.
      steps: the number of steps of all executions.
      seconds: the time that they took.
      memory: the bytes that the known states take.
      unfinished: why not everything was seen, in words; None if everything was.
      failure: the schedule that broke the test, or None.
      way: ``"plain"``: every schedule was tried (or as many as ``unfinished`` says), and nothing else
          is assumed; ``"merged"``: each state was visited once; ``"sampled"``: schedules at random.
      merges_audited: the number of merges whose continuation was searched by the audit.
      schedules_audited: the number of whole random schedules that the audit tried.
      interrupted: whether Ctrl-C was pressed meanwhile, which ends a search early and keeps what it
          has found; a run of several tests should end as well.
      notes: what a reader of the verdict should know besides: that deadlines that could race came only in
          their order, that starvation was not looked for although executions can loop, which clocks
          returned the schedule's time and where they were read.
      shard: the part of the search that this was, if it was divided into shards.
      alone: why pytest explored the test in one process, although more were requested.
    """

    test: str
    settings: Settings
    executions: int
    states: int
    steps: int
    seconds: float
    memory: int
    unfinished: str | None
    failure: Failure | None
    way: Way = "plain"
    merges_audited: int = 0
    schedules_audited: int = 0
    interrupted: bool = False
    notes: tuple[str, ...] = ()
    alone: str | None = None
    shard: Partition | None = None

    @property
    def verdict(self) -> Verdict:
        """Confirmed, refuted, or not finished; only the first is green."""
        if self.failure is not None:
            return Verdict.REFUTED
        return Verdict.CONFIRMED if self.unfinished is None else Verdict.UNFINISHED

    @property
    def searched(self) -> int:
        """The number of executions, without those of the audit."""
        return self.executions - self.merges_audited - self.schedules_audited

    @property
    def covered(self) -> str:
        """What was covered, in one line."""
        settings = self.settings
        size = counted(self.executions, "execution")
        if self.states:
            size = f"{counted(self.states, 'state')}, {size}"
        # A replay executes its schedule again and again, to describe it: that is no size.
        bounds = [] if self.unfinished == REPLAYED else [size]
        bounds += [f"order={settings.order}", f"cancels<={settings.cancels}"]
        if settings.cancels:
            bounds[-1] += f" ({settings.cancel})"
        if settings.clock != "autojump":
            bounds.append(f"clock={settings.clock}")
        if settings.liveness:
            bounds.append("liveness")
        if settings.workers > 1:
            bounds.append(f"workers={settings.workers}")
        if self.alone:
            bounds.append(f"in one process: {self.alone}")
        if self.merges_audited or self.schedules_audited:
            bounds.append(
                f"audited: {counted(self.merges_audited, 'merge')}, "
                f"{counted(self.schedules_audited, 'schedule')}"
            )
        whole = "swept one schedule" if settings.search == "sweep" else "exhaustive"
        said = whole if self.unfinished is None else f"not {whole}: {self.unfinished}"
        return "; ".join((f"{said}: {', '.join(bounds)}", *self.notes))

    def check(self) -> None:
        """Raise if the test was broken, or was to be explored exhaustively and was not.

        Raises:
          ExplorationFailed: with the counterexample as its text; its cause is the test's own error.
          NotExhaustive: the search ended early, and ``exhaustive=True`` was set.
        """
        if self.failure is not None:
            raise ExplorationFailed(self) from self.failure.error
        if self.unfinished is not None and self.settings.exhaustive:
            raise NotExhaustive(f"{self.test}: {self.covered}")


class ExplorationFailed(AssertionError):
    """A schedule breaks the test; the text of this error shows it, and ``exploration`` is the whole result."""

    __module__ = "structsync.testing"

    def __init__(self, exploration: Exploration) -> None:
        self.exploration = exploration
        super().__init__(exploration)

    def __str__(self) -> str:
        return self.text()

    def text(self, width: int | None = None) -> str:
        """Return the failure in lines of this width; by default that of the terminal."""
        failure = self.exploration.failure
        assert failure is not None
        plain = Console(file=io.StringIO(), width=width, no_color=True, highlight=False)
        with plain.capture() as captured:
            plain.print(to_text(failure.counterexample))
        return captured.get().rstrip()
