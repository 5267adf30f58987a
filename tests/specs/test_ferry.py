"""The primitive of the tutorial: what it promises, and how its first version was wrong."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from structsync.checking import Verdict, check, check_fault
from structsync.checking._load import load

FERRY = Path(__file__).parents[2] / "examples" / "ferry"


def test_the_ferry_keeps_its_promises() -> None:
    (spec,) = load(FERRY / "ferry_spec.py").specs.values()
    assert check(spec).verdict is Verdict.CONFIRMED


@pytest.mark.parametrize("name", load(FERRY / "ferry_spec.py").faults)
def test_each_promise_of_the_ferry_can_be_broken(name: str) -> None:
    found = check_fault(load(FERRY / "ferry_spec.py").faults[name])
    assert found.caught


def test_in_the_first_version_one_bank_can_wait_forever() -> None:
    (spec,) = load(FERRY / "first_ferry_spec.py").specs.values()
    found = check(spec)["every_waiting_passenger_crosses"]
    assert found.verdict is Verdict.REFUTED
    assert found.counterexample is not None
    assert len(found.counterexample.steps) <= 10
    assert found.counterexample.cycle_start is not None


def test_the_program_prints_what_its_docstring_promises() -> None:
    source = (FERRY / "ferry.py").read_text(encoding="utf-8")
    promised = source.partition("Prints::\n\n")[2].partition('"""')[0]
    command = [sys.executable, "-W", "error", str(FERRY / "ferry.py")]
    ran = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    assert ran.stdout == textwrap.dedent(promised)
