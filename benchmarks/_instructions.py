"""How many instructions an operation takes, counted by valgrind: a figure that a busy machine does not change.

A program is run twice under callgrind, the second time with twice as many operations; the difference is
the operations' own. Each count takes a quarter of a minute, so these rows run only on request.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache, partial

from ._measure import Case

TIMES = 500

_ASYNC_WITH = "async with thing: pass"
_HANDED_ON = "async with thing: await trio.lowlevel.checkpoint()"
#: The three hottest paths: ours, theirs, what is done with either, and by how many tasks.
PATHS = {
    "Semaphore, uncontended": ("structsync.Semaphore(1)", "trio.Semaphore(1)", _ASYNC_WITH, 1),
    "Lock, uncontended": ("structsync.Lock()", "trio.Lock()", _ASYNC_WITH, 1),
    "Lock, 10 tasks": ("structsync.Lock()", "trio.Lock()", _HANDED_ON, 10),
}

_PROGRAM = """
import sys, trio, structsync
structsync.Semaphore, structsync.Lock
async def member(thing, times):
    for _ in range(times):
        {operation}
async def main():
    thing = {make}
    async with trio.open_nursery() as nursery:
        for _ in range({tasks}):
            nursery.start_soon(member, thing, int(sys.argv[1]) // {tasks})
trio.run(main)
"""


def cases() -> Iterator[Case]:
    """Each path against trio's; nothing without valgrind."""
    if shutil.which("valgrind"):
        for name, (ours, trios, operation, tasks) in PATHS.items():
            subject, reference = (
                _PROGRAM.format(make=make, operation=operation, tasks=tasks)
                for make in (ours, trios)
            )
            yield Case(f"{name} / trio's", partial(_quotient, subject, reference))
            yield Case(f"{name}, each", partial(each, subject), compared=False)


def _quotient(subject: str, reference: str) -> float:
    return each(subject) / each(reference)


@cache  # a second count of the same would give the same
def each(program: str) -> float:
    """Return the instructions of one operation of a program that does as many as it is told."""
    return (counted(program, 2 * TIMES) - counted(program, TIMES)) / TIMES


def counted(program: str, times: int) -> int:
    valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    ran = subprocess.run(
        [*valgrind, sys.executable, "-c", program, str(times)],
        env={**os.environ, "PYTHONHASHSEED": "0"},
        check=True,
        capture_output=True,
        text=True,
    )
    found = re.search(r"Collected : (\d+)", ran.stderr)
    assert found, ran.stderr
    return int(found[1])
