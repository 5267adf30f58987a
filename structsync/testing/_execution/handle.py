"""The handle ``x`` of an explored test: checks and marks that a plain test has no words for."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TypeVar, final

import trio
from trio.lowlevel import Task, current_task

from structsync._runtime.arguments import check_count, check_sync
from structsync.testing._errors import ExploreUsageError

from . import oracles
from .addresses import address_of
from .execution import Ending, Execution

T = TypeVar("T")
Block = TypeVar("Block", "Exclusive", "NotCancelled")
Check = tuple[Callable[[], object], str]


@final
class ExploredRun:
    """One execution of an explored test, as the test sees it.

    An async test function gets one as its parameter ``x``; it is new in each execution. Where a
    check fails, the execution ends there and is reported as a violation.
    """

    def __init__(self) -> None:
        self._execution: Execution | None = None
        self._violation: Ending | None = None
        self._misuse: ExploreUsageError | None = None
        """What makes a check one that cannot fail; the search is to end by it."""
        self._watched = oracles.WatchedPrimitives()
        self._always: list[Check] = []
        self._finally: list[Check] = []
        self._unused: list[Exclusive | NotCancelled] = []
        """The blocks that were made, and not yet entered."""
        self._inside: dict[str, list[Task]] = {}
        self._limits: dict[str, int] = {}
        self._ghosts: dict[int, object] = {}
        self._pending: set[Task] = set()
        self._got: dict[Task, int] = {}
        """In which step a task has got what it wanted the last time."""
        self._asked = False
        self._exempt: list[Task] = []
        """The tasks in a block that is not to be cancelled; once for each block."""

    def __explore_state__(self) -> object:
        # In which order the sections were entered the first time must not be visible.
        inside = sorted((name, tasks) for name, tasks in self._inside.items() if tasks)
        checks = [check for check, _ in (*self._always, *self._finally)]
        marks = inside, self._exempt, self._asking(), self._wanting()
        return *(one or None for one in marks), len(checks), *checks, *self._watched.state()

    # For tests.

    def watch(self, *primitives: object, **named: object) -> None:
        """Show the state of primitives in the report, and check them at the end.

        Those of structsync and of trio are found without it; it gives them a name. A semaphore without
        ``max_value`` must end with the value that it has now. The report shows any other object by
        ``repr()``; if it has an async ``acquire()`` and ``release()``, without arguments, it must be possible
        to acquire it at the end.
        """
        for one in primitives:
            self._watched.add(one, None)
        for name, one in named.items():
            self._watched.add(one, name)

    def exclusive(self, name: str, limit: int = 1) -> Exclusive:
        """Return a context manager inside which no more than ``limit`` tasks may be at once.

        Args:
          name: the name of the section, for the report.
          limit: how many tasks may be inside, at least 1.

        Raises:
          TypeError: if the limit is not an int.
          ValueError: if it is less than 1, or differs from an earlier one for this name.
        """
        check_count(limit, "limit")
        if self._limits.setdefault(name, limit) != limit:
            raise ValueError(
                f"the section {name!r} has the limit {self._limits[name]}, not {limit}; "
                "give two sections two names"
            )
        return self._made(Exclusive(self, name, limit))

    def always(self, predicate: Callable[[], object], text: str = "") -> None:
        """Demand that a predicate holds after every step from now on.

        Args:
          predicate: a sync function without arguments, which returns True or False; it must not change
            anything.
          text: what it means, for the report; its name by default.
        """
        check_sync(predicate, "predicate")
        self._always.append((predicate, text or _name(predicate)))

    def finally_(self, predicate: Callable[[], object], text: str = "") -> None:
        """Demand that a predicate holds at the end of the test, when its function has returned.

        Args:
          predicate: a sync function without arguments, which returns True or False; it must not change
            anything.
          text: what it means, for the report; its name by default.
        """
        check_sync(predicate, "predicate")
        self._finally.append((predicate, text or _name(predicate)))

    def ghost(self, thing: T) -> T:
        """Leave an object out of the state, and return it.

        Use it for a log that the test only writes: otherwise two states that differ only in the log are
        explored separately. What follows must not depend on it, and a check that reads it may miss a
        violation.
        """
        self._ghosts[address_of(thing)] = thing
        return thing

    def not_cancelled(self) -> NotCancelled:
        """Return a context manager inside which the current task is not cancelled from outside.

        Use it for what no program would really cancel: a task of the test that only observes, the last
        lines of a fixture. Neither the task nor any scope around it is chosen for a cancellation; what the
        program itself cancels is still cancelled.
        """
        return self._made(NotCancelled(self))

    def fail(self, text: str) -> None:
        """Report a violation, at the end of this step."""
        self._violate(text, text)

    def request(self) -> None:
        """Declare that the current task wants something, for ``liveness=True``.

        It does until it calls :meth:`progress` (also if it gives up) or ends.
        """
        self._asked = True
        self._pending.add(current_task())

    def progress(self) -> None:
        """Declare that the current task has what it wanted, or no longer wants it."""
        task = current_task()
        self._pending.discard(task)
        if self._execution is not None:
            self._got[task] = len(self._execution.choices)

    # For the engine.

    def _attach(self, execution: Execution) -> None:
        self._execution = execution

    def _let_go(self) -> None:
        """Forget the execution, which is over, and the checks, which may refer to this handle."""
        self._execution = None
        self._always.clear()
        self._finally.clear()

    def _asking(self) -> set[Task]:
        """Return the tasks that have asked for something; one that has ended does not."""
        run = self._execution
        return {task for task in self._pending if run is None or run.is_alive(task)}

    def _wanting(self) -> set[Task]:
        """Return those that ask without success: not a task that got it in the step just made.

        That one may want the next thing already, but it has made progress.
        """
        now = 0 if self._execution is None else len(self._execution.choices)
        return {task for task in self._asking() if self._got.get(task) != now}

    def _violate(self, text: str, culprit: str) -> None:
        if self._violation is None:
            self._violation = Ending("violation", text, culprit=culprit)

    def _misuse_is(self, text: str) -> None:
        if self._misuse is None:
            self._misuse = ExploreUsageError(text)
            self._violate(text, text)

    def _made(self, block: Block) -> Block:
        self._unused.append(block)
        return block

    def _entered(self, block: Exclusive | NotCancelled) -> None:
        if block in self._unused:
            self._unused.remove(block)

    def _name_of(self, task: object) -> str:
        return str(task) if self._execution is None else self._execution.names.for_report(task)

    def _after_step(self) -> Ending | None:
        """Return what the last step has violated."""
        if self._violation is None and (self._always or self._watched.checked):
            for predicate, text in self._always:
                if problem := self._failed(predicate, text):
                    self._violate(f"not always: {text}{problem}".rstrip(), text)
            if self._watched.checked and (wrong := self._watched.queues.violated()) is not None:
                self._violate(wrong, wrong.partition(":")[0])
        return self._violation

    async def _at_end(self) -> Ending | None:
        """Return what is wrong although the test function has returned."""
        self._look_for_unused_blocks()
        for predicate, text in self._finally:
            if problem := self._failed(predicate, text):
                message = f"not so at the end: {text}{problem}".rstrip()
                return Ending("violation", message, culprit=text)
        if (leak := self._watched.leaked(self._name_of)) is not None:
            return Ending("leak", leak, culprit=leak.partition(" ")[0])
        for name, thing in self._watched.to_probe():
            self._probing = name
            with trio.CancelScope(shield=True):
                await thing.acquire()
                released = thing.release()
                if inspect.isawaitable(released):
                    await released
        return self._after_step()

    _probing = ""

    def _failed(self, predicate: Callable[[], object], text: str) -> str | None:
        """Return None if a predicate holds, else how it failed."""
        try:
            answer = predicate()
            if not _says_nothing(answer):
                return None if answer else " "
        except AssertionError as error:
            return f": {error}"
        except BaseException as error:  # noqa: BLE001 - a check that cannot be made does not hold
            return f": it raises {type(error).__name__}: {error}"
        if inspect.iscoroutine(answer):
            answer.close()
        self._misuse_is(
            f"the predicate {text!r} returned {answer!r}, which always counts as true, so that it checks "
            "nothing; call what is to be called, and return True or False"
        )
        return " "

    def _look_for_unused_blocks(self) -> None:
        """Report a block that no task has entered; where one was cancelled, that may be why."""
        run = self._execution
        if self._unused and run is not None and run.cancels_left == run.settings.cancels:
            made = self._unused[0]
            self._misuse_is(
                f"{made} was made and never entered, so that it does nothing: write 'with {made}:'"
            )


class Exclusive:
    """A section of the test that only so many tasks may be in at once."""

    __slots__ = ("_limit", "_name", "_run")

    def __init__(self, run: ExploredRun, name: str, limit: int) -> None:
        self._run = run
        self._name = name
        self._limit = limit

    def __str__(self) -> str:
        return f"x.exclusive({self._name!r})"

    def __enter__(self) -> None:
        run = self._run
        run._entered(self)
        inside = run._inside.setdefault(self._name, [])
        inside.append(current_task())
        if len(inside) > self._limit:
            names = " and ".join(sorted(map(run._name_of, inside)))
            text = f"{names} are in {self._name!r} at once; the limit is {self._limit}"
            run._violate(text, self._name)

    def __exit__(self, *exc_info: object) -> None:
        self._run._inside[self._name].remove(current_task())


class NotCancelled:
    """A block of the test in which its task is not cancelled from outside."""

    __slots__ = ("_run",)

    def __init__(self, run: ExploredRun) -> None:
        self._run = run

    def __str__(self) -> str:
        return "x.not_cancelled()"

    def __enter__(self) -> None:
        self._run._entered(self)
        self._run._exempt.append(current_task())

    def __exit__(self, *exc_info: object) -> None:
        self._run._exempt.remove(current_task())


def _says_nothing(answer: object) -> bool:
    """Return whether an answer counts as true whatever it is about."""
    later = callable(answer) or inspect.isawaitable(answer) or inspect.isgenerator(answer)
    return later or (isinstance(answer, tuple) and bool(answer))


def _name(predicate: Callable[[], object]) -> str:
    return getattr(predicate, "__name__", repr(predicate))
