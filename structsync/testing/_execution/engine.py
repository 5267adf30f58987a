"""An execution under a schedule that a chooser makes: what both engines have in common.

Between two steps the engine asks its chooser which of the options happens next. An engine adds how
a task is made to run for one step, and how the time is made to pass.
"""

from __future__ import annotations

import abc
from collections.abc import Collection, Container, Sequence
from math import inf

import outcome
import trio
from trio.lowlevel import Task

from structsync.testing._settings import Settings

from .current import executing, note_that_age_decides
from .execution import Abandoned, AsyncTest, Chooser, Ending, Recorder, keep_forever
from .handle import ExploredRun
from .origin import describe_error
from .own import file_of
from .scheduled import ScheduledExecution
from .skips import skip_of

#: An abandoned execution gets so many steps to unwind before its tasks are broken out of their
#: waits, and as many again before it is dropped.
UNWIND_STEPS = 2_000


class Engine(ScheduledExecution):
    """Runs a test once, under the schedule that a chooser makes."""

    __slots__ = (
        "_in_step",
        "_init_task",
        "_most_steps",
        "_root",
        "_stepped",
        "_unwound",
        "chooser",
        "handle",
        "problem",
        "recorder",
    )

    def __init__(
        self,
        settings: Settings,
        chooser: Chooser,
        handle: ExploredRun,
        recorder: Recorder | None = None,
    ) -> None:
        super().__init__(settings, handle._watched)
        self.chooser = chooser
        self.handle = handle
        self.recorder = recorder
        self.problem: Exception | None = None
        """What the chooser raised."""
        self._root = trio.CancelScope() if settings.cancels else self.whole
        """Round everything that is to end when the execution is over; not round tasks of the system."""
        self._unwound = 0
        self._in_step = False
        self._stepped: Task | None = None
        """Whose step the last one was."""
        self._most_steps = settings.max_steps
        handle._attach(self)

    def __explore_state__(self) -> object:
        return "engine"

    @abc.abstractmethod
    def run(self, test: AsyncTest) -> Ending:
        """Run the test once."""

    def run_variables(self) -> object:
        return None

    def handle_state(self) -> object:
        return self.handle

    def ghosts(self) -> Container[int]:
        return self.handle._ghosts

    def exempt(self) -> Collection[Task]:
        return self.handle._exempt

    def requesting(self) -> set[Task] | None:
        return self.handle._wanting() if self.handle._asked else None

    def got_on(self) -> bool:
        return len(self.choices) in self.handle._got.values()

    # The test itself.

    async def main(self, test: AsyncTest) -> None:
        """Run the test function and say how it ended."""
        self._init_task = trio.lowlevel.current_root_task()
        self.own_file = file_of(test)
        with self._root, executing(self):
            try:
                value = None
                if self.settings.cancels:
                    with self.whole:
                        value = await test(self.handle)
                else:
                    value = await test(self.handle)
                problem = None if self.ending else await self.handle._at_end()
            except BaseException as error:
                if self.ending is not None:
                    raise
                self.end(self._ending_by(error))
            else:
                if self.ending is None:
                    self.end(problem or Ending("passed", value=value))
        self.finished = True
        self.test_has_ended()

    def _ending_by(self, error: BaseException) -> Ending:
        if (skip := skip_of(error)) is not None:
            return Ending("skipped", error=skip)
        text, culprit = describe_error(error)
        return Ending("error", self.names.readable(text), error, culprit=culprit)

    def test_has_ended(self) -> None:
        """End what only the test was for; nothing, where trio does that."""

    def end(self, ending: Ending) -> None:
        """Let the execution end like this, unless it has ended already."""
        if self.ending is None:
            self.ending = ending
            if ending.kind != "passed":
                self._root.cancel()

    def crashed(self, error: BaseException, what: str = "") -> None:
        """Let the execution end by the error of a task outside of the test's own nurseries.

        As in ``trio.run``: it cancels the test function, and is raised when that has ended.
        """
        before = self.ending
        if before is not None and before.kind == "cut":
            return  # it is being unwound, and nothing looks at what comes of that
        if before is None or not before.failed or isinstance(before.error, trio.Cancelled):
            text, culprit = describe_error(error)
            # In which line of an engine trio broke down depends on the engine.
            self.ending = Ending(
                "error", self.names.readable(what or text), error, culprit=what or culprit
            )

    def trio_gave_up(self, error: trio.TrioInternalError) -> None:
        """Let the execution end by an error inside of trio, which leaves all tasks as they are.

        The collector would finalize them in any order, with complaints in whatever runs then.
        """
        keep_forever(self._init_task)
        cause = error.__cause__ or error
        dead = cause.args[0] if isinstance(cause, KeyError) and cause.args else None
        if isinstance(cause, BaseExceptionGroup):  # of a system task, which is the program's
            what = ""
        elif isinstance(dead, Task) and (name := self.names.of.get(dead)):
            what = f"trio broke down: {name} was rescheduled when it had ended"
        else:
            what = f"trio broke down: {describe_error(cause)[0]}"
        self.crashed(cause, what)

    # Between two steps.

    def decide(self) -> Task | None:
        """Let something happen; return the task that is to run for a step, if that is it."""
        woke = self._settle() if self._woken else []
        if self._aborts.made:
            self._look_at_aborts(woke)
        recorder = self.recorder
        if self._in_step and self.ending is None:
            self._in_step = False
            if recorder is not None:
                recorder.after(self, woke)
            handle = self.handle
            if (
                (handle._violation or handle._always or self.watched.checked)
                and not self.finished
                and (violation := handle._after_step()) is not None
            ):
                self.end(violation)
                return None  # a task that it aborts is runnable only after this
        if self.ending is not None or self.finished:
            return self._unwind()
        if self._timers and self._next_deadline() <= self.clock.now and self._fire_due():
            return None
        options = self._options()
        choices = self.choices
        if not options:
            self._deadlocked()
            return None
        if len(choices) >= self._most_steps:
            self._never_ends()
            return None
        self.branched |= len(options) > 1
        try:
            choice = self.chooser.choose(self, options)
        except Exception as error:  # noqa: BLE001 - raised again when the execution is unwound
            self.problem = error
            choice = None
        if choice is None:
            self.end(Ending("cut"))
            return None
        if recorder is not None:
            recorder.before(self, choice, options[0])
        choices.append(choice)
        self.firsts.append(options[0])
        self._in_step = True
        kind, name = choice
        self._stepped = task = (
            self._take(self.names.tasks[name]) if kind == "run" else self._apply(choice)
        )
        return task

    def _look_at_aborts(self, woke: Sequence[Task]) -> None:
        """Note if another order of the aborts of the last step could have had another effect.

        Not of those by which the execution is unwound: nothing looks at what comes of that.
        """
        pending = [
            self.pending_of(task)
            for task in woke
            if task is not self._stepped and self._is_in_a_cancelled_scope(task)
        ]
        if self._aborts.order_matters(pending) and self.ending is None:
            note_that_age_decides()

    def _deadlocked(self) -> None:
        names = [self.names.of[task] for task in self.blocked()]
        text = f"{_listed(names)} wait{'s' * (len(names) == 1)} forever"
        if probed := self.handle._probing:
            text = f"{probed} cannot be acquired again at the end: {text}"
        if self.recorder is not None:
            self.recorder.stuck(self)
        self.end(Ending("deadlock", text))

    def _never_ends(self) -> None:
        text = f"the execution was not over after {self.settings.max_steps} steps"
        self.end(Ending("endless", text))

    # The end of an execution.

    def _unwind(self) -> Task | None:
        """Run what is left, first in, first out, until nothing is left."""
        self._unwound += 1
        if self.pool and self._unwound <= 2 * UNWIND_STEPS:
            return self._take(self.pool[0])
        if self._next_deadline() != inf and self._unwound <= UNWIND_STEPS:
            self.clock.now = max(self.clock.now, self._next_deadline())
            self._expire()
            return None
        if self._unwound > 2 * UNWIND_STEPS:
            self._drop()
            return None
        for task in self.blocked():
            # A parent that waits for its children is not to be broken out before they are gone.
            if not any(nursery.child_tasks for nursery in task.child_nurseries):
                trio.lowlevel.reschedule(task, outcome.Error(Abandoned()))
        return None

    @abc.abstractmethod
    def _drop(self) -> None:
        """Give up on tasks that do not end."""


def _listed(names: list[str]) -> str:
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"
