"""One lock that many processes want: ours on a server and in a file, those of peers, and a script for each operation.

All on the same server. What each contest gives is shown in several rows, from the same run of it.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import click
import trio

from structsync.distributed import open_session

from ._contender_child import LEASE
from ._measure import Case, Effort
from .servers import is_there, url

CHILD = Path(__file__).with_name("_contender_child.py")
OURS, FILE, SCRIPT, FAIR = "structsync", "structsync, sqlite://", "script", "python-redis-lock"
#: And the module in which each is.
PEERS = {"redis-py": "redis", FAIR: "redis_lock", "pottery": "pottery"}
#: In seconds.
HOLD = 0.010


@dataclass(frozen=True)
class Contest:
    """What the contenders have reported.

    Attributes:
      holds: of each contender, from when until when it had the lock, in nanoseconds.
      wait: the median of the medians of how long they waited, in seconds.
      cpu: of a process, in seconds for each hold.
      blocked: the longest step of a trio loop, in seconds.
    """

    holds: list[list[tuple[int, int]]]
    wait: float
    cpu: float
    blocked: float

    @property
    def hand_off(self) -> float:
        """The median time between the end of one's hold and the beginning of another's, in milliseconds."""
        ordered = sorted((*hold, who) for who, its in enumerate(self.holds) for hold in its)
        gaps = [
            later[0] - earlier[1] for earlier, later in pairwise(ordered) if earlier[2] != later[2]
        ]
        return statistics.median(gaps) / 1e6

    @property
    def fairness(self) -> float:
        """Jain's index of how often each had it: 1 if all as often, 1/n if one alone."""
        counts = [len(its) for its in self.holds]
        return sum(counts) ** 2 / len(counts) / sum(count * count for count in counts)


def contend(
    kind: str, processes: int, hold: float, seconds: float, *, watched: bool = False
) -> Contest:
    where = file_url() if kind == FILE else server_url()
    its = OURS if kind == FILE else kind
    command = [sys.executable, str(CHILD), its, where, str(hold), str(seconds)]
    command += ["watched"] * watched  # which takes time of the processes that hand over
    with ExitStack() as stack:
        children = [
            stack.enter_context(
                subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            )
            for _ in range(processes)
        ]
        for child in children:
            stack.callback(child.kill)
        replies = [told(child) for child in children]
        assert replies == ["ready"] * processes, f"{kind} has failed"
        for child in children:
            print(file=child.stdin, flush=True)
        reports = [json.loads(told(child)) for child in children]
    return Contest(
        [report["holds"] for report in reports],
        statistics.median(report["wait"] for report in reports),
        statistics.mean(report["cpu"] for report in reports),
        max(report["blocked"] for report in reports),
    )


def told(child: subprocess.Popen[str]) -> str:
    assert child.stdout is not None
    return child.stdout.readline().strip()


@cache
def file_url() -> str:
    return f"sqlite://{tempfile.mkdtemp(prefix='structsync-')}/contest.db"


@cache
def server_url() -> str:
    """Return where the server is, once it grants something."""

    async def wait() -> None:
        async with open_session(url(), namespace="contest", ttl=LEASE) as session:
            async with session.lock("any"):
                pass

    trio.run(wait)
    return url()


def kinds(*more: str) -> list[str]:
    """Return ours, and which peers are there; the others are named."""
    missing = [peer for peer, module in PEERS.items() if peer in more and not find_spec(module)]
    if missing and is_there():
        names = ", ".join(missing)
        click.echo(f"no figures of {names}: pip install --group bench", err=True)
    on_server = [OURS, *(one for one in more if one not in missing)] if is_there() else []
    return [FILE, *on_server]


Figure: TypeAlias = Callable[[Contest], float]


class Contests:
    """Those of one size. What a row has measured, another one shows in another way, round by round."""

    def __init__(
        self, effort: Effort, processes: int, hold: float, *, watched: bool = False
    ) -> None:
        self.seconds = effort.of(20, 2) / 10
        self.processes = effort.of(processes, min(processes, 2))
        self.hold = hold
        self.watched = watched
        self.past: dict[str, list[Contest]] = {}
        self.shown: dict[tuple[str, Figure], int] = {}

    def begin(self, kind: str, figure: Figure) -> float:
        contest = contend(kind, self.processes, self.hold, self.seconds, watched=self.watched)
        self.past.setdefault(kind, []).append(contest)
        return figure(contest)

    def again(self, kind: str, figure: Figure) -> float:
        number = self.shown[kind, figure] = self.shown.get((kind, figure), -1) + 1
        return figure(self.past[kind][number])

    def ratio(self, kind: str, other: str, figure: Figure) -> float:
        return self.again(kind, figure) / self.again(other, figure)


def hand_off(contest: Contest) -> float:
    return contest.hand_off


def fairness(contest: Contest) -> float:
    return contest.fairness


def cpu(contest: Contest) -> float:
    return contest.cpu * 1e6


def wait(contest: Contest) -> float:
    return contest.wait * 1e6


def blocked(contest: Contest) -> float:
    return contest.blocked * 1e3


@cache
def eight(effort: Effort) -> Contests:
    return Contests(effort, 8, HOLD)


def hand_off_cases(effort: Effort) -> Iterator[Case]:
    """Eight processes, which hold it for 10 ms each: milliseconds from one to the next."""
    contests = eight(effort)
    for kind in kinds(SCRIPT, *PEERS):
        yield Case(kind, partial(contests.begin, kind, hand_off))


def fairness_cases(effort: Effort) -> Iterator[Case]:
    contests = eight(effort)
    for kind in kinds(SCRIPT, *PEERS):
        yield Case(kind, partial(contests.again, kind, fairness), compared=kind in (OURS, FILE))


def peer_cases(effort: Effort) -> Iterator[Case]:
    contests = eight(effort)
    if {OURS, FAIR} <= {*kinds(FAIR)}:
        yield Case(f"{OURS} / {FAIR}", partial(contests.ratio, OURS, FAIR, hand_off))


def acquire_cases(effort: Effort) -> Iterator[Case]:
    """One process: microseconds."""
    contests = Contests(effort, 1, 0)
    for kind in kinds(SCRIPT, *PEERS):
        yield Case(kind, partial(contests.begin, kind, wait), compared=kind == FILE)


def cpu_cases(effort: Effort) -> Iterator[Case]:
    """32 processes that hold nothing: CPU of a process for one acquire and release."""
    contests = Contests(effort, 32, 0)
    for kind in kinds(SCRIPT):
        name = f"{kind}: microseconds"
        yield Case(name, partial(contests.begin, kind, cpu), compared=False)
    if is_there():
        yield Case(f"{OURS} / {SCRIPT}", partial(contests.ratio, OURS, SCRIPT, cpu))


def blocked_cases(effort: Effort) -> Iterator[Case]:
    """32 processes, which hold it for 10 ms each: the longest step of a trio loop, in milliseconds."""
    contests = Contests(effort, 32, HOLD, watched=True)
    for kind in kinds():
        yield Case(kind, partial(contests.begin, kind, blocked))
