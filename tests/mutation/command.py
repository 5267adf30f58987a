"""``tox -e mutation``: change the package in small ways, and see who notices.

    tox -e mutation                        # a random sample, for ten minutes
    tox -e mutation -- --minutes 60
    tox -e mutation -- --all               # every mutant; goes on where it ended
    tox -e mutation -- --survivors         # those of the results so far that no check noticed
    tox -e mutation -- --file _core/queue/arbiter.py
    tox -e mutation -- --id "_core/queue/arbiter.py:122:11:never"

Exit status: 0 if no score is under its target, 1 if one is (a sample: beyond chance), 2 if the list of
equivalent mutants is wrong or an item is red where nothing is changed.
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import math
import os
import platform
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import record
from .baseline import Baseline, measure
from .equivalents import StaleEntry, equivalents
from .mutants import Mutant
from .project import ROOT, Project, Target, structsync
from .results import Store
from .score import Score, score, who_noticed
from .server import Job, run
from .trial import Result, job_of, result_of

Say = Callable[[str], None]


def parser() -> argparse.ArgumentParser:
    """Return the options of the command."""
    made = argparse.ArgumentParser(
        prog="mutation", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = made.add_argument
    add("--minutes", type=float, default=10.0, help="how long a sample may take (default: 10)")
    add("--all", action="store_true", help="every mutant, however long it takes")
    add("--seed", default=datetime.date.today().isoformat(), help="of the sample (default: today)")
    add("--file", action="append", default=[], help="only mutants of this file")
    add("--part", choices=["core", "shell"], help="only mutants of this part")
    add("--id", action="append", default=[], help="only this mutant, also if it has a result")
    add("--list", action="store_true", help="print the mutants and run nothing")
    add("--survivors", action="store_true", help="print the survivors so far and run nothing")
    add("--verdicts-only", action="store_true", help="a different number of states is not noticed")
    add("--schedules", action="store_true", help="ask the explored schedules as well (slow)")
    add(
        "--patience", type=float, default=300.0, help="seconds of a net for a mutant (default: 300)"
    )
    add("--jobs", type=int, default=os.cpu_count() or 1, help="how many at once")
    add("--state", type=Path, default=ROOT / ".mutation", help="the folder of the results")
    add("--log", default=os.devnull, help="a file for what the runs print")
    add("--record", action="store_true", help="write the result for the documentation")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    options = parser().parse_args(arguments)
    project = structsync(counts=not options.verdicts_only, schedules=options.schedules)
    return Session(project, options, lambda text: print(text, flush=True)).run()  # noqa: T201


@dataclass(slots=True)
class Session:
    """One run of the command."""

    project: Project
    options: argparse.Namespace
    say: Say

    def run(self) -> int:
        """Do what the options say; return the exit status."""
        mutants = self.project.mutants()
        try:
            known = equivalents(self.project.equivalents, mutants)
        except StaleEntry as error:
            self.say(f"{self.project.equivalents}: {error}")
            return 2
        chosen = [*self.chosen(mutants)]
        if self.options.list:
            for one in chosen:
                mark = "equivalent: " if one.id in known else ""
                self.say(f"{mark}{one.id}\n    {one.inside}: {one.diff}")
            return 0
        digest = self.project.digest()
        # what was noticed by a count alone may survive without
        kind = "verdicts" if self.options.verdicts_only else "results"
        store = Store(self.options.state / f"{kind}.jsonl", self.project.evidence)
        status = 0
        if not self.options.survivors:
            status = self.try_all([one for one in chosen if one.id not in known], store, digest)
        return self.report(mutants, known, store) or status

    def chosen(self, mutants: Sequence[Mutant]) -> Iterator[Mutant]:
        """Yield the mutants that the options name, in the order of the sample."""
        shuffled = list(mutants)
        random.Random(self.options.seed).shuffle(shuffled)
        for one in shuffled:
            if (
                (not self.options.id or one.id in self.options.id)
                and (not self.options.file or one.file in self.options.file)
                and self.options.part in (None, self.project.part_of(one.file))
            ):
                yield one

    def baseline(self, digest: str) -> Baseline:
        """Return what each item runs where nothing is changed; measured once for these sources."""
        cache = self.options.state / f"baseline-{digest}.json"
        if not cache.exists():
            self.say("no changes yet: what each item of each net takes, and which lines it runs")
            measure(self.project, self.options.jobs, self.say, self.options.log).save(cache)
        return Baseline.load(cache)

    def try_all(self, chosen: Sequence[Mutant], store: Store, digest: str) -> int:
        """Run the mutants that have no result yet, until the time is over."""
        for net in self.project.nets:
            for name in net.needs:
                importlib.import_module(name)
        baseline = self.baseline(digest)
        red = [f"{net}: {name}" for net, names in baseline.red.items() for name in names]
        for each in red:
            self.say(f"left out, because it is red where nothing is changed: {each}")
        waiting = [one for one in chosen if one.id not in store.results or self.options.id]
        self.say(f"seed {self.options.seed}: {len(waiting)} mutants without a result")
        until = math.inf if self.options.all else time.monotonic() + 60 * self.options.minutes
        by_id = {one.id: one for one in waiting}
        # what runs when the time is over has a minute left
        jobs = self.jobs(waiting, baseline, store, until)
        for job in run(jobs, self.options.jobs, self.options.log, until + 60):
            self.keep(result_of(self.project, by_id[job.key], job), store)
        return 2 if red else 0

    def jobs(
        self, waiting: Sequence[Mutant], baseline: Baseline, store: Store, until: float
    ) -> Iterator[Job]:
        """Yield the work for each mutant; those that no item runs get their result at once."""
        for one in waiting:
            if time.monotonic() > until:
                return
            job = job_of(self.project, baseline, one, self.options.patience)
            if job:
                yield job
            else:
                self.keep(result_of(self.project, one, None), store)

    def keep(self, result: Result, store: Store) -> None:
        """Keep a result and print it."""
        store.add(result)
        by = f" by {result.net}: {result.item} ({result.how})" if result.net else ""
        left = f", {result.left} items not run" if result.left else ""
        self.say(f"{result.outcome} in {result.seconds:.1f} s{by}{left}\n    {result.id}")
        if not result.is_noticed:
            self.say(f"    {result.inside}: {result.before}  =>  {result.after}")

    def report(self, mutants: Sequence[Mutant], known: dict[str, str], store: Store) -> int:
        """Print what was found; return the exit status."""
        ids = {one.id for one in mutants}
        results = [one for one in store.results.values() if one.id in ids]
        counted = [one for one in results if one.id not in known]
        if self.options.survivors:
            for one in sorted(counted, key=lambda one: one.id):
                if not one.is_noticed:
                    self.say(
                        f"{one.outcome}: {one.id}\n    {one.inside}: {one.before}  =>  {one.after}"
                    )
        for who, number in sorted(who_noticed(counted).items()):
            self.say(f"{number:6} {who}")
        scores = [self.score(target, mutants, known, results) for target in self.project.targets]
        for each in scores:
            self.say(str(each))
        if self.options.record:
            about = {
                "date": datetime.date.today().isoformat(),
                "python": platform.python_version(),
                "seed": self.options.seed,
            }
            record.write(record.LAST, results, scores, known, about)
        return int(any(each.is_under for each in scores))

    def score(
        self,
        target: Target,
        mutants: Sequence[Mutant],
        known: dict[str, str],
        results: list[Result],
    ) -> Score:
        """Return how far a target is met."""
        total = sum(
            self.project.part_of(one.file) == target.part and one.id not in known for one in mutants
        )
        return score(target, results, total, known)
