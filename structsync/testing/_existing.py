"""One test of an existing suite, explored beside its plain run; see ``--explore-all``."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from . import _exploration
from ._errors import ExploreUsageError, NondeterminismError
from ._execution.execution import AsyncTest
from ._execution.fixtures import Placeholder, refuse_what_finalizes, with_fixtures
from ._execution.handle import ExploredRun
from ._execution.whole_test import cancelled_as_a_whole
from ._report.failures import failure_of
from ._result import Exploration
from ._search.existing import NotExplored, search_existing
from ._search.runs import Progress, Runs
from ._settings import Settings

#: What trio does today, so that a failure is one that a user can meet; and as long as a suite can wait.
SETTINGS = Settings(cancels=0, order="trio", search="pct", executions=1_000, seconds=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExistingTest:
    """A test, as a test runner knows it.

    Attributes:
      name: what it is called.
      function: the test function; for a method, the function without its instance.
      arguments: what it takes, with placeholders for what is made in each execution.
      instance: of its class, if it has one.
      fixtures: what is set up in each execution, in this order.
      start_over: is called before each execution.
    """

    name: str
    function: Callable[..., Awaitable[object]]
    arguments: Mapping[str, object]
    instance: object
    fixtures: Sequence[Placeholder]
    start_over: Callable[[], None]

    def program(self) -> AsyncTest:
        """Return the program of one execution."""

        async def execution(x: ExploredRun) -> object:
            self.start_over()
            with cancelled_as_a_whole(x):
                return await with_fixtures(
                    self.fixtures, self.function, self.arguments, self.instance
                )

        return execution


def run_existing(
    test: ExistingTest,
    settings: Settings,
    *,
    sweep: bool = False,
    replay: str | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Exploration:
    """Explore a test of a suite, or replay one schedule of it.

    Raises:
      NotExplored: it cannot be explored, with the reason.
      ReplayError: the token does not fit the test.
    """
    runs = Runs(test.program(), settings, progress=progress)
    try:
        refuse_what_finalizes(test.instance)
        with runs.open():
            if replay is not None:
                runs.settings = replace(settings, cancels=1)  # the token may have one
                found = _exploration.replayed(runs, replay)
            else:
                code = inspect.unwrap(test.function).__code__
                found = search_existing(runs, file=code.co_filename, sweep=sweep)
                found = _exploration.with_the_world_outside(runs, found)
            failure = None if found.failed is None else failure_of(runs, found, test.name)
    except (ExploreUsageError, NondeterminismError) as error:
        raise NotExplored(str(error)) from error
    return Exploration(
        test=test.name,
        settings=settings,
        executions=runs.executions,
        states=0,
        steps=runs.steps,
        seconds=runs.seconds,
        memory=0,
        unfinished=found.unfinished,
        failure=failure,
        way=found.way,
        interrupted=bool(runs.interrupt),
    )
