"""The model checker: transitions per second on a spec that ships, and the command on all of them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from time import thread_time

from structsync.checking import Spec, check
from structsync.checking._load import shipped_specs

from ._measure import Case, Effort


def cases(effort: Effort) -> Iterator[Case]:
    specs = shipped_specs().specs
    for name in sorted(name for name in specs if name.startswith("semaphore.")):
        yield Case(name, partial(_rate, specs[name], effort.of(20_000, 200)))


def _rate(spec: type[Spec], max_states: int) -> float:
    began = thread_time()
    transitions = check(spec, max_states=max_states).transitions
    return transitions / (thread_time() - began)


def command_cases(effort: Effort) -> Iterator[Case]:
    """The CPU seconds of all processes: twice what it takes on two cores that do nothing else."""
    only = ["--only", "latch.LatchSpec"] if effort.quick else []
    yield Case("structsync check -j 2", partial(_spent_by, "-j", "2", *only))


def _spent_by(*arguments: str) -> float:
    before = os.times()
    subprocess.run(
        [sys.executable, "-m", "structsync.cli", "check", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    now = os.times()
    return now.children_user + now.children_system - before.children_user - before.children_system
