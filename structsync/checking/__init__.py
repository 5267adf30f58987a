"""Checked specifications: the language, the exhaustive model checker, the verdicts.

_language.py   what a specification is: Spec, start
_words.py      what stands above its functions: action, invariant, step, terminal
_behaviours.py  leads_to, eventually, always_eventually
_refinement.py  refines: each step is one of a simpler specification
_dead_ends.py  states that allow no step
_faults.py     bugs on purpose that a named property must find
_model.py      a spec compiled for the search        _domains.py arguments of actions
_search.py     breadth first over all states         _graph.py   what it stores
_memory.py     what the system gives for it                 _forgotten.py only steps see what is forgotten
_judging.py    evaluates properties                  _implies.py antecedents that were never true
_audit.py      everything twice, at some states      _image.py   an object to the bottom
_merging.py    what canonical merges must have the same future
_values.py     what a value of a state may be        _reach.py   what code can change besides
_noticed.py    no declaration gets lost
_finding.py    what refutes a property               _trace.py   the steps that lead to it
_symmetry.py   of states that differ by names, one    _renaming.py  exchanging names in a value
_unfolded.py   all of them again, for behaviours      _exchanged.py  can the names be exchanged?
_liveness.py   fair cycles, a question about a graph   _fairness.py  what is fair
_history.py    random walks without a restore
_check.py      check(spec), check_fault(fault)        _verdict.py what they return
_concluding.py  from a search to verdicts
_load.py       spec modules from files and folders    _suite.py   many specs in one run
_jobs.py       one search of a run                    _together.py  many in several processes
_worker.py     what such a process does
_manifest.py   verdicts and state counts on record

_simulation.py a specification that is queried, and taken step by step
_events.py     what happened in a program           _following.py in which states it may be after that
_trace_file.py a trace that was recorded            _witness.py  is everything true in those states?

What holds running programs against specifications needs trio, and stands where that is known:
`structsync/observing/validating.py`, `structsync/testing/_stateful/`.
"""

from typing import TYPE_CHECKING

from structsync._lazy import importing as _importing
from structsync._naming import name_all_after as _name_all_after

from ._behaviours import always_eventually as always_eventually
from ._behaviours import eventually as eventually
from ._behaviours import leads_to as leads_to
from ._budget import Progress as Progress
from ._check import check as check
from ._check import check_fault as check_fault
from ._errors import SpecError as SpecError
from ._events import Call as Call
from ._events import Meaning as Meaning
from ._events import TraceEvent as TraceEvent
from ._faults import Fault as Fault
from ._faults import fault as fault
from ._implies import implies as implies
from ._language import Spec as Spec
from ._language import start as start
from ._load import Loaded as Loaded
from ._load import load as load
from ._load import shipped_specs as shipped_specs
from ._refinement import refines as refines
from ._simulation import Simulation as Simulation
from ._verdict import FaultResult as FaultResult
from ._verdict import PropertyResult as PropertyResult
from ._verdict import Result as Result
from ._verdict import Verdict as Verdict
from ._words import action as action
from ._words import invariant as invariant
from ._words import step as step
from ._words import terminal as terminal

if TYPE_CHECKING:
    from structsync.observing.validating import NothingFollowed as NothingFollowed
    from structsync.observing.validating import Trace as Trace
    from structsync.observing.validating import TraceRecorder as TraceRecorder
    from structsync.observing.validating import TraceRefuted as TraceRefuted
    from structsync.observing.validating import record as record
    from structsync.observing.validating import validate as validate
    from structsync.testing._stateful.conforming import Adapter as Adapter
    from structsync.testing._stateful.conforming import machine as machine

# Where the names above come from when one is asked for. Not before: specifications are checked
# without the primitives, and not all have Hypothesis.
_HOMES = {
    "NothingFollowed": "structsync.observing.validating",
    "Trace": "structsync.observing.validating",
    "TraceRecorder": "structsync.observing.validating",
    "TraceRefuted": "structsync.observing.validating",
    "record": "structsync.observing.validating",
    "validate": "structsync.observing.validating",
    "Adapter": "structsync.testing._stateful.conforming",
    "machine": "structsync.testing._stateful.conforming",
}

if not TYPE_CHECKING:  # a type checker that saw this would take any name for one that exists
    __getattr__ = _importing(__name__, _HOMES)


_name_all_after(__name__)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES} - {"TYPE_CHECKING"})
