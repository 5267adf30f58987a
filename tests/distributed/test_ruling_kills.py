"""Calls under rules while the processes that host and those that rule are killed and stopped at random moments.

What each of them lets start, begins and does is in a file that outlives it; the judge is that of the storm within one
process. A call whose caller was told that it is not known may have been carried out or not.
"""

from __future__ import annotations

import os
import random
import signal
import sys
from pathlib import Path

import pytest
import trio

from tests.distributed import desks
from tests.distributed.children import child
from tests.distributed.conftest import Place
from tests.distributed.desks import NAMES, Callers, Noted, complaints

pytest.importorskip("msgspec")

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(sys.platform != "linux", reason="sqlite:// needs Linux"),
    pytest.mark.timeout(3600),
    pytest.mark.slow,
    pytest.mark.parametrize("place", ["sqlite", "redis"], indirect=True),
]


@pytest.fixture
def place(place: Place) -> Place:
    """Where leases end soon after a process is killed; one that a busy machine stops goes on with another session."""
    return place._replace(ttl=place.ttl and 2.0)


#: In seconds; more for a night.
LASTS = float(os.environ.get("STRUCTSYNC_KILLS_SECONDS", "8"))


class Processes:
    """Those that host and rule, of which each life has a file."""

    def __init__(self, place: Place, folder: Path) -> None:
        self.place = place
        self.folder = folder
        self.lives = 0

    async def keep(self, program: str, *arguments: str) -> None:
        """Run a process, stop it at times, and kill it; forever."""
        while True:
            self.lives += 1
            file = self.folder / f"life {self.lives}"
            async with child(program, *self.place.arguments, *arguments, str(file)) as one:
                await one.says()
                await trio.sleep(random.uniform(0, 1.5))
                if random.random() < 0.4:
                    one.process.send_signal(signal.SIGSTOP)
                    await trio.sleep(random.choice([0.2, 1, 3]))
                    one.process.send_signal(signal.SIGCONT)
                    await trio.sleep(random.uniform(0, 0.5))
                await one.kill()

    def joined(self) -> int:
        """Return how many calls have started together with another one."""
        return sum(one.word == "joins" for life in self.noted() for one in life)

    def noted(self) -> list[list[Noted]]:
        found = []
        for file in self.folder.glob("life *"):
            lines = [line.split() for line in file.read_text().splitlines()]
            found.append([Noted(word, int(which)) for word, which in lines])
        return found


async def test_what_was_let_start_has_begun_or_is_unknown_whoever_is_killed(
    place: Place, tmp_path: Path
) -> None:
    callers, processes = Callers(), Processes(place, tmp_path)

    def is_enough() -> bool:
        return len(callers.returned) > LASTS and processes.joined() > LASTS / 2

    async with trio.open_nursery() as nursery:
        for n in range(len(NAMES)):
            nursery.start_soon(processes.keep, "desk", str(n))
        for _ in range(2):  # one rules, and the other stands by
            nursery.start_soon(processes.keep, "rules")
        while not is_enough():  # on a busy machine processes take long to begin
            with trio.move_on_after(LASTS):
                await desks.storm(place.opens, callers, 10**9)
        nursery.cancel_scope.cancel()
    assert complaints(callers, processes.noted()) == []
    print(  # noqa: T201
        f"\n{processes.lives} processes, {callers.number} calls: {len(callers.returned)} returned, "
        f"{len(callers.unknown)} unknown, {processes.joined()} started together"
    )
