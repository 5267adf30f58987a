"""An execution that stands still until it is told from outside what happens next.

Both engines run in here: the fast one hands the control back as it is; the reference one lives in a
guest run of trio, whose host is the caller.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable
from queue import SimpleQueue
from typing import TYPE_CHECKING

import outcome
import trio
from trio.lowlevel import Abort, Task

from structsync.testing._execution import frames
from structsync.testing._execution.current import Current, executing, release
from structsync.testing._execution.engine import Engine
from structsync.testing._execution.execution import AsyncTest, Ending, Execution
from structsync.testing._execution.handle import ExploredRun
from structsync.testing._execution.names import MAIN
from structsync.testing._execution.public_engine import PublicEngine
from structsync.testing._execution.schedule import Choice
from structsync.testing._search import engine_choice

if TYPE_CHECKING:
    from structsync.testing._execution.execution import Recorder
    from structsync.testing._settings import Settings

Order = Callable[[], Awaitable[object]]

#: What is chosen while nothing has been said from outside.
_PAUSE = Choice("clock", "stands still")
_MAIN = Choice("run", MAIN)
_CLOCK = Choice("clock", "")


class SteppedEngine(Engine):
    """Asks its host before each step, and carries out the host's orders in the main task."""

    paused = False

    def __init__(self, settings: Settings, recorder: Recorder) -> None:
        super().__init__(settings, self, ExploredRun(), recorder)
        self.options: tuple[Choice, ...] = ()
        """What can happen next."""
        self.nursery: trio.Nursery
        self.answer: outcome.Outcome[object] | None = None
        """What the latest order has led to; None as long as it is being carried out."""
        self.violation = ""
        """What does not hold of a primitive, if something does not."""
        self.broken = False
        """Whether the nursery was cancelled, which an error in it does too."""
        self.main_task: Task
        self._picked: Choice | None = None
        self._inject: Callable[[], object] | None = None

    if TYPE_CHECKING:  # what an engine adds

        def begin(self, test: AsyncTest) -> None:
            """Prepare the execution."""

        def proceed(self) -> None:
            """Go on until the execution is over, or paused."""

        def close(self) -> None:
            """Clear away what is left of the execution."""

    # For the host.

    def start(self) -> None:
        """Start the execution; its main task waits for orders then."""
        self.begin(self._obey)
        self._go_on()
        self.step(_MAIN)

    def step(self, choice: Choice) -> None:
        """Let one of the options happen, and look at what has come of it."""
        self._picked = choice
        self._go_on()

    def inside(self, action: Callable[[], object]) -> None:
        """Do something between two steps, where trio can be asked to wake a task."""
        self._inject = action
        self._go_on()

    def order(self, order: Order | None) -> None:
        """Let the main task carry out an order, up to its first wait; None: let it come to its end.

        It must have carried out the order before.
        """
        self.answer = None
        self._picked = _MAIN
        self.inside(lambda: trio.lowlevel.reschedule(self.main_task, outcome.Value(order)))

    @property
    def over(self) -> bool:
        """Whether no task is left."""
        return not self.paused

    # For the engine.

    def choose(self, execution: Execution, options: tuple[Choice, ...]) -> Choice:
        picked, self._picked = self._picked, None
        self.options = options[:-1]
        return picked or _PAUSE

    def end(self, ending: Ending) -> None:
        if ending.kind == "violation":
            # Reported by the host; the run is still needed to clean up.
            self.violation = ending.message
        else:
            super().end(ending)

    def decide(self) -> Task | None:
        if self._inject is not None:
            action, self._inject = self._inject, None
            action()
            return None
        return super().decide()

    def _options(self) -> tuple[Choice, ...]:
        return (*super()._options(), _PAUSE)

    def _apply(self, choice: Choice) -> Task | None:
        if choice == _PAUSE:
            self.paused = True
            self.broken = "nursery" in vars(self) and self.nursery.cancel_scope.cancel_called
            return None
        return super()._apply(choice)

    def _go_on(self) -> None:
        self.paused = False
        with executing(self):
            self.proceed()

    async def _obey(self, _: ExploredRun) -> None:
        self.main_task = trio.lowlevel.current_task()
        async with trio.open_nursery() as self.nursery:
            while (order := await trio.lowlevel.wait_task_rescheduled(_give_up)) is not None:
                self.answer = await outcome.acapture(order)
            self.nursery.cancel_scope.cancel()
        self.end(Ending("passed"))


def _give_up(_: object) -> Abort:
    return Abort.SUCCEEDED


class StepLog:
    """Describes each step in a line: which task ran, where it parked, which tasks it woke."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        """What has not been printed yet."""
        self._steps = 0
        self._begun = ""

    def before(self, execution: Execution, choice: Choice, first: Choice) -> None:
        """Note which task runs."""
        self._begun = ""
        if choice.kind == "run" and choice.name != MAIN:
            self._steps += 1
            star = "*" if choice != first else " "
            self._begun = f"# {self._steps:3}{star} {choice.name}"
            pending = execution.pending_of(execution.names.tasks[choice.name])
            if isinstance(pending, outcome.Error):
                self._begun += f" gets {type(pending.error).__name__},"
        elif choice == _CLOCK:
            self._begun = "#      time passes"

    def after(self, execution: Execution, woke: list[Task]) -> None:
        """Note where that has led."""
        if not self._begun:
            return
        line, self._begun = self._begun, ""
        choice = execution.choices[-1]
        if choice == _CLOCK:
            line += f" until {execution.clock.now:g}"
        else:
            place = whereabouts(execution, execution.names.tasks[choice.name])
            line += " " + place.replace("is at", "runs to", 1)
        others = [name for one in woke if (name := execution.names.of[one]) != choice.name]
        self.lines.append(f"{line}; wakes {', '.join(others)}" if others else line)

    def stuck(self, execution: Execution) -> None:
        """Do nothing: the host sees it."""


def whereabouts(execution: Execution, task: Task) -> str:
    """Return where a task stands, in words."""
    if not execution.is_alive(task):
        return "ends"
    coroutine = execution.coroutine_of(task)
    if inspect.getcoroutinestate(coroutine) == inspect.CORO_CREATED:
        return "has not begun"
    return f"is at {frames.where(coroutine)}"


class SteppedPublicEngine(SteppedEngine, PublicEngine):
    """The reference engine as a guest of its host."""

    def begin(self, test: AsyncTest) -> None:
        self.prepare()
        self._host: SimpleQueue[Callable[[], object]] = SimpleQueue()
        self._ended: outcome.Outcome[None] | None = None
        trio.lowlevel.start_guest_run(
            self.main,
            test,
            run_sync_soon_threadsafe=self._host.put,
            done_callback=self._done,
            host_uses_signal_set_wakeup_fd=True,
            clock=self.clock,
            instruments=[self],
        )
        release(self)

    def proceed(self) -> None:
        while self._ended is None and not self.paused:
            self._host.get()()
        if isinstance(self._ended, outcome.Error):
            error = self._ended.error
            if isinstance(error, trio.TrioInternalError):
                self.trio_gave_up(error)
            # Any other was raised while the execution was unwound, and says nothing.
            assert self.ending is not None, error

    def close(self) -> None:
        release(self)

    # trio waits for the time in a thread of its own, and the program is what may not start one.

    def before_io_wait(self, timeout: float) -> None:
        Current.execution = None

    def after_io_wait(self, timeout: float) -> None:
        Current.execution = self

    def _done(self, ended: outcome.Outcome[None]) -> None:
        self._ended = ended


@functools.cache
def kind(base: type[Engine] | None = None) -> type[SteppedEngine]:
    """Return the engine to step: made of the given one, or of the one that is used here."""
    base = base or engine_choice.chosen()[0]
    if issubclass(base, PublicEngine):
        return SteppedPublicEngine
    return type("SteppedLoopEngine", (SteppedEngine, base), {})
