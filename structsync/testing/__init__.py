"""Exploring trio programs: every schedule, every cancellation.

_explore.py    explore(): the entry               _session.py   what a test runner adds to it
_search.py     which executions are tried         _choosers.py  who decides in each of them
_engine.py     one execution                      _scheduler.py, _gates.py  its two engines
_fingerprint.py, _objects.py, _globals.py         when two states are the same
_handle.py     x, what a test can say             _primitives.py  what holds of primitives anyway
_control.py    what is watched and forbidden      _recording.py  a failure told for people
_stateful.py   machines of Hypothesis             _live.py, _stepping.py  what they run in
_plugin.py, _items.py, _fixtures.py, _shown.py    in pytest
_command.py, _targets.py, _options.py             on the command line
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from structsync.checking import Verdict as Verdict
    from structsync.testing._errors import ExplorationFailed as ExplorationFailed
    from structsync.testing._errors import ExploreUsageError as ExploreUsageError
    from structsync.testing._errors import NondeterminismError as NondeterminismError
    from structsync.testing._errors import NotExhaustive as NotExhaustive
    from structsync.testing._errors import NotExhaustiveWarning as NotExhaustiveWarning
    from structsync.testing._errors import ReplayError as ReplayError
    from structsync.testing._explore import explore as explore
    from structsync.testing._explore import sweep as sweep
    from structsync.testing._handle import ExploredRun as ExploredRun
    from structsync.testing._result import Exploration as Exploration
    from structsync.testing._result import Failure as Failure
    from structsync.testing._runs import Progress as Progress
    from structsync.testing._settings import Settings as Settings
    from structsync.testing._stateful import MachineFailed as MachineFailed
    from structsync.testing._stateful import RuleTask as RuleTask
    from structsync.testing._stateful import ScheduledStateMachine as ScheduledStateMachine
else:  # a type checker that saw this would take any name for one that exists

    def __getattr__(name: str) -> object:
        """Import what stands behind a public name."""
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = getattr(importlib.import_module(_HOMES[name]), name)
        globals()[name] = found
        return found


# Where the names above come from when somebody asks for one. Not before: pytest imports this package
# for its plugin in every run, also of those who explore nothing; and not all have Hypothesis.
_HOMES = {
    "Verdict": "structsync.checking",
    "ExplorationFailed": "structsync.testing._errors",
    "ExploreUsageError": "structsync.testing._errors",
    "NondeterminismError": "structsync.testing._errors",
    "NotExhaustive": "structsync.testing._errors",
    "NotExhaustiveWarning": "structsync.testing._errors",
    "ReplayError": "structsync.testing._errors",
    "explore": "structsync.testing._explore",
    "sweep": "structsync.testing._explore",
    "ExploredRun": "structsync.testing._handle",
    "Exploration": "structsync.testing._result",
    "Failure": "structsync.testing._result",
    "Progress": "structsync.testing._runs",
    "Settings": "structsync.testing._settings",
    "MachineFailed": "structsync.testing._stateful",
    "RuleTask": "structsync.testing._stateful",
    "ScheduledStateMachine": "structsync.testing._stateful",
}


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
