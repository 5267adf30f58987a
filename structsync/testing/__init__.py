"""Exploring trio programs: every schedule, every cancellation.

From the bottom to the top; tests/test_layers.py keeps it so.

_settings.py, _errors.py, _result.py    what is asked for, what is raised, what was found
_execution/       one run: engines, handle x, oracles, what is watched and forbidden
_state/           when two states are the same
_search/          which runs are tried, and what decides in each of them
_report/          a failure as people read it
_stateful/        machines of Hypothesis
_exploration.py   one exploration, from its first run to its result
_runner.py        what a test runner adds to it
_explore.py       explore() and sweep(): the entry
_pytest/          the plugin
_command/         the command line
"""

from typing import TYPE_CHECKING

from structsync._lazy import importing as _importing

if TYPE_CHECKING:
    from structsync.checking._verdict import Verdict as Verdict

    from ._errors import ExploreUsageError as ExploreUsageError
    from ._errors import NondeterminismError as NondeterminismError
    from ._errors import NotExhaustive as NotExhaustive
    from ._errors import NotExhaustiveWarning as NotExhaustiveWarning
    from ._errors import ReplayError as ReplayError
    from ._execution.handle import ExploredRun as ExploredRun
    from ._explore import explore as explore
    from ._explore import sweep as sweep
    from ._result import Exploration as Exploration
    from ._result import ExplorationFailed as ExplorationFailed
    from ._result import Failure as Failure
    from ._result import Partition as Partition
    from ._search.runs import Progress as Progress
    from ._settings import Settings as Settings
    from ._stateful.machine import MachineFailed as MachineFailed
    from ._stateful.machine import RuleTask as RuleTask
    from ._stateful.machine import ScheduledStateMachine as ScheduledStateMachine

# Where the names above come from when one is asked for. Not before: pytest imports this package
# for its plugin in every run, also of users who explore nothing; and not all have Hypothesis.
_HOMES = {
    "Verdict": "structsync.checking._verdict",
    "ExploreUsageError": "structsync.testing._errors",
    "NondeterminismError": "structsync.testing._errors",
    "NotExhaustive": "structsync.testing._errors",
    "NotExhaustiveWarning": "structsync.testing._errors",
    "ReplayError": "structsync.testing._errors",
    "explore": "structsync.testing._explore",
    "sweep": "structsync.testing._explore",
    "ExploredRun": "structsync.testing._execution.handle",
    "Exploration": "structsync.testing._result",
    "ExplorationFailed": "structsync.testing._result",
    "Failure": "structsync.testing._result",
    "Partition": "structsync.testing._result",
    "Progress": "structsync.testing._search.runs",
    "Settings": "structsync.testing._settings",
    "MachineFailed": "structsync.testing._stateful.machine",
    "RuleTask": "structsync.testing._stateful.machine",
    "ScheduledStateMachine": "structsync.testing._stateful.machine",
}

if not TYPE_CHECKING:  # a type checker that saw this would take any name for one that exists
    __getattr__ = _importing(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES} - {"TYPE_CHECKING"})
