"""One number replays a run: Hypothesis seeds trio's scheduler, and structsync adds no chance.

Each run is a pytest of its own, as it would be after a red build.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

PROGRAM = """
import trio
from hypothesis import Phase, given, settings, strategies as st

import structsync
from structsync._core.queue.policy import Fifo

VISITORS = st.lists(st.integers(1, 3), min_size=2, max_size=5)
# without shrinking, which would end at the same smallest example whatever the seed
# and by the seed alone, also where the surroundings ask for fixed examples, as CI does
reproducibly = settings(
    deadline=None, database=None, max_examples=60, phases=[Phase.generate], derandomize=False
)


async def visit(semaphore, permits):
    async with semaphore.permits(permits):
        await trio.lowlevel.checkpoint()


async def run(visitors):
    semaphore, requested, granted = structsync.Semaphore(3, max_value=3), [], []

    def note(event):
        if event.kind in ("requested", "granted"):
            {"requested": requested, "granted": granted}[event.kind].append(event.task.name)

    with structsync.observe(note):
        async with trio.open_nursery() as nursery:
            for number, permits in enumerate(visitors):
                nursery.start_soon(visit, semaphore, permits, name=str(number))
    return requested, granted


@reproducibly
@given(visitors=VISITORS)
async def test_grants(visitors):
    print("GRANTS", *(await run(visitors))[1])


@reproducibly
@given(visitors=VISITORS)
async def test_that_the_grants_follow_the_requests_of_a_broken_core(visitors):
    intact, Fifo.may_pass = Fifo.may_pass, lambda *_: True
    Fifo.may_be_passed = True
    try:
        requested, granted = await run(visitors)
    finally:
        Fifo.may_pass = intact
        Fifo.may_be_passed = False
    assert granted == requested, granted
"""


def run(folder: Path, seed: int) -> str:
    (folder / "pytest.ini").write_text("[pytest]\ntrio_mode = true\n")
    program = folder / "test_program.py"
    program.write_text(PROGRAM)
    command = [sys.executable, "-m", "pytest", "-s", "-p", "no:cacheprovider"]
    ran = subprocess.run(
        [*command, f"--hypothesis-seed={seed}", program],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "1 failed, 1 passed" in ran.stdout
    return ran.stdout


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What pytest prints with a seed, with the same again, and with another one."""
    seeds = {"first": 1, "again": 1, "other": 2}
    folder = tmp_path_factory.mktemp("replay")
    return {name: run(folder, seed) for name, seed in seeds.items()}


def grants(printed: str) -> list[str]:
    queues = re.findall("^GRANTS.*$", printed, re.MULTILINE)
    assert len(queues) > 10
    return queues


def counterexample(printed: str) -> list[str]:
    """The program that failed, and the grants in it."""
    found = re.findall(r"visitors=\[.*?\]|AssertionError: \[.*?\]", printed)
    assert len(found) > 1
    return found


def test_the_same_seed_gives_the_same_grants(runs: dict[str, str]) -> None:
    assert grants(runs["first"]) == grants(runs["again"])


def test_a_counterexample_is_found_again_by_its_seed(runs: dict[str, str]) -> None:
    assert counterexample(runs["first"]) == counterexample(runs["again"])


@pytest.mark.parametrize("what", [grants, counterexample])
def test_another_seed_gives_others(runs: dict[str, str], what: Callable[[str], list[str]]) -> None:
    """Else the tests above would show nothing."""
    assert what(runs["first"]) != what(runs["other"])
