"""Where each test runs: tox's environments choose by these markers, and nothing else decides it.

* ``everywhere``: what may differ between versions of Python or of trio, so on each of them.
* ``once``: what depends on our code alone: on one Python, where its coverage is measured.
* ``slow``: searches to their ends, faults planted in what is checked, and whatever else runs long for other
  reasons than to reach a branch: on one Python too, and unmeasured, because measuring slows a search.
* ``unmeasured``: a test of the first two that takes long and reaches no branch that others miss, or is of a file
  or folder of ``UNMEASURED``: where coverage is measured it is left out, because that takes three times as long,
  and it runs beside the slow ones.
* ``nightly``: the same as ``slow`` at sizes for which the gate has no time.
* ``late``: a test of any of these that takes about a second or longer, where shorter ones of the same kind run in the
  gate; it runs with those of the night, and mutation testing asks it. Marked so, or listed in ``late.txt``.
* ``smoke``: of each file that runs once and is not unmeasured, one test with the oldest dependencies too: the first
  one, or where that takes long, the one that is marked ``light``.

A test marked ``slow``, ``nightly`` or ``late``, or listed as that, is of that tier wherever it stands; for all others it is
the row of their file, or else of their folder.
"""

import re
from pathlib import Path, PurePosixPath

import pytest

TIERS: dict[str, str] = {
    "conforming": "once",
    "core/test_waits_for.py": "once",
    "core": "everywhere",
    "distributed/conformance/test_primitives.py": "everywhere",
    "distributed/test_call_cancellations.py": "slow",
    "distributed/test_cancellations.py": "slow",
    "distributed/test_ruling_storm.py": "slow",
    "distributed": "once",
    "drop_in": "everywhere",
    "every_primitive": "everywhere",
    "observing/test_no_false_alarm.py": "slow",
    "observing/test_inspector.py": "once",
    "observing/test_logs.py": "once",
    "observing/test_metrics.py": "once",
    "observing/test_otel.py": "once",
    "observing/test_recording.py": "once",
    "observing/test_top.py": "once",
    "observing": "everywhere",
    "peers": "everywhere",
    "record": "everywhere",
    "shell/test_many_waiters.py": "slow",
    "shell/test_thread_races.py": "once",
    "shell": "everywhere",
    "test_package.py": "everywhere",
    # what the explorer knows of frames, coroutines, trio's scheduler and its scopes
    "explorer/test_determinism.py": "everywhere",
    "explorer/test_engine_choice.py": "everywhere",
    "explorer/test_engines.py": "everywhere",
    "explorer/test_engines_all_round.py": "everywhere",
    "explorer/test_fingerprint_limits.py": "everywhere",
    "explorer/test_fingerprint_of_frames.py": "everywhere",
    "explorer/test_fingerprint_of_monitors.py": "everywhere",
    "explorer/test_fingerprint_of_objects.py": "everywhere",
    "explorer/test_fingerprint_of_trio.py": "everywhere",
    "explorer/test_interrupted.py": "everywhere",
    "explorer/test_names.py": "everywhere",
    "explorer/test_scopes.py": "everywhere",
    "explorer/test_unwinding.py": "everywhere",
    "explorer": "once",
    "benchmarks": "once",
    "checking": "once",
    "crosscheck": "slow",
    "docs": "once",
    "examples": "slow",
    "mutation": "slow",
    "package": "once",
    "real_programs": "slow",
    "report": "once",
    "schedules": "slow",
    "soak": "slow",
    "specs": "once",
    "stateful": "slow",
    "test_children.py": "once",
    "test_gate.py": "once",
    "test_hangs.py": "once",
    "test_layers.py": "once",
    "test_plants.py": "once",
    "test_tiers.py": "once",
    "typing": "once",
    "zoo": "slow",
    "claims": "slow",
}

LATE = frozenset(Path(__file__).with_name("late.txt").read_text(encoding="utf-8").splitlines())

#: Rows of files and folders whose tests are unmeasured, whatever they are marked.
UNMEASURED = {
    # pages, tools, the gate and what sources say: the package itself does little in them
    "benchmarks",
    "docs",
    "package/test_source_rules.py",
    "specs/test_ferry.py",
    "specs/test_shipped.py",
    "test_children.py",
    "test_gate.py",
    "test_hangs.py",
    "test_layers.py",
    "test_plants.py",
    "test_tiers.py",
    # what is tested in smaller pieces, too
    "checking/test_traces_of_primitives.py",
    "every_primitive/test_cancellation.py",
    "every_primitive/test_checkpoints.py",
    "explorer/test_names.py",
    "explorer/test_notes.py",
    "peers/test_interrupt_sweep.py",
    "peers/test_overtaking.py",
}


def _rows_for(file: Path) -> list[str]:
    """Return the names that a row for a file below ``tests`` may have, those that go before others first."""
    name = PurePosixPath(file.relative_to(Path(__file__).parent))
    return [str(name), name.parts[0]]


def tier_of(file: Path) -> str:
    """Return the tier of a file below ``tests``."""
    for row in _rows_for(file):
        if row in TIERS:
            return TIERS[row]
    raise pytest.UsageError(f"{_rows_for(file)[0]}: tests/tiers.py does not say where it runs")


def is_unmeasured(file: Path) -> bool:
    """Return whether all tests of a file below ``tests`` are left out where coverage is measured."""
    return not UNMEASURED.isdisjoint(_rows_for(file))


def rows_of(expression: str) -> set[str]:
    """Return of which tiers a file must be for ``-m expression`` to choose some of its tests; the empty set if of any.

    Only "slow", "nightly" and "smoke" choose tests in files of other tiers.
    """
    plain = re.fullmatch(r"\(?(\w+(?: or \w+)*)\)?(?: and not unmeasured)?", expression)
    rows = set(plain[1].split(" or ")) if plain else set()
    return rows if rows <= {"everywhere", "once"} else set()
