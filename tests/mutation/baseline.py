"""What each item of each net takes and which lines it runs, where nothing is changed."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from .hook import install
from .lines import Recorder
from .mutants import Mutant
from .nets import Net
from .project import Project
from .server import Job, Message, Tell, run

Lines = set[tuple[str, int]]
#: No item takes longer where nothing is changed, also on a busy machine.
_LONGEST = 1800.0


@dataclass(slots=True)
class Baseline:
    """By net and item: seconds, and the lines that ran."""

    seconds: dict[str, dict[str, float]] = field(default_factory=dict)
    lines: dict[str, dict[str, Lines]] = field(default_factory=dict)
    red: dict[str, list[str]] = field(default_factory=dict)
    """Items that are red without any change; they can notice nothing and are left out."""

    def who_may_notice(self, mutant: Mutant, net: Net) -> list[str]:
        """Return the items that run a line of the mutant, or look at its head, cheapest first."""
        wanted = {(mutant.file, line) for line in mutant.lines}
        seconds = self.seconds[net.name]
        lines = self.lines[net.name]
        shared = lines.get("", set())
        inspecting = net.inspecting if mutant.is_head else ()
        names = (
            name
            for name in seconds
            if not wanted.isdisjoint(shared)
            or not wanted.isdisjoint(lines[name])
            or name.startswith(inspecting)
        )
        return sorted(names, key=lambda name: seconds[name])

    def save(self, path: Path) -> None:
        """Write everything to a file."""
        lines = {
            net: {name: _by_file(ran) for name, ran in items.items()}
            for net, items in self.lines.items()
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"seconds": self.seconds, "lines": lines, "red": self.red}))

    @classmethod
    def load(cls, path: Path) -> Baseline:
        """Read what :meth:`save` wrote."""
        read = json.loads(path.read_text())
        lines = {
            net: {name: _pairs(ran) for name, ran in items.items()}
            for net, items in read["lines"].items()
        }
        return cls(read["seconds"], lines, read["red"])


def _by_file(ran: Lines) -> dict[str, list[int]]:
    found = defaultdict(list)
    for file, line in sorted(ran):
        found[file].append(line)
    return found


def _pairs(by_file: dict[str, list[int]]) -> Lines:
    return {(file, line) for file, lines in by_file.items() for line in lines}


def measure(project: Project, at_once: int, say: Callable[[str], None], log: str) -> Baseline:
    """Run every item of every net once."""
    found = Baseline()
    # the tests, which come last, take longest
    jobs = (Job(net.name, _work(project, net), _LONGEST) for net in reversed(project.nets))
    for job in run(jobs, at_once, log):
        failed = [one["failed"] for one in job.messages if "failed" in one]
        if job.timed_out or failed or not any("end" in one for one in job.messages):
            raise RuntimeError(f"the net {job.key} did not end: {failed or job.messages[-3:]}")
        _add(found, job.key, job.messages)
        if not any(found.lines[job.key].values()):
            raise RuntimeError(f"{project.package} is not where {job.key} imports it from")
        say(f"{job.key}: {len(found.seconds[job.key])} items in {job.seconds:.0f} s")
    look_again(found, project, at_once, log)
    return found


def look_again(found: Baseline, project: Project, at_once: int, log: str) -> None:
    """Run what was red once more without looking at lines, which some tests cannot bear.

    (Those that interrupt at each instruction, and those that count lines.) What is green then is as good
    as the others: it ran its lines until it failed.
    """
    nets = [net for net in project.nets if found.red.get(net.name)]
    jobs = (Job(net.name, _work(project, net, found.red[net.name]), _LONGEST) for net in nets)
    for job in run(jobs, at_once, log):
        red = {one["red"] for one in job.messages if "red" in one}
        green = {
            one["item"]: one["seconds"]
            for one in job.messages
            if "item" in one and one["item"] not in red
        }
        found.seconds[job.key] |= green
        found.red[job.key] = [one for one in found.red[job.key] if one not in green]


def _add(found: Baseline, net: str, messages: list[Message]) -> None:
    seconds = {one["item"]: one["seconds"] for one in messages if "item" in one}
    lines: dict[str, Lines] = {name: set() for name in ("", *seconds)}
    for one in messages:
        if "item" in one:
            lines[one["item"]] |= _pairs(one["lines"])
        elif "shared" in one:
            for prefix in one["shared"] or [""]:
                whose = [name for name in seconds if name.startswith(f"{prefix}::")]
                for name in whose if prefix else [""]:
                    lines[name] |= _pairs(one["lines"])
    red = {one["red"] for one in messages if "red" in one}
    found.red[net] = sorted(red)
    found.seconds[net] = {name: took for name, took in seconds.items() if name not in red}
    found.lines[net] = lines


def _work(
    project: Project, net: Net, without_lines: list[str] | None = None
) -> Callable[[Tell], None]:
    def work(tell: Tell) -> None:
        recorder = None
        if without_lines is None:
            recorder = Recorder(project.package, project.folders, once=not net.traces)
            install(project.package.name, recorder.watch)
        try:
            net.run(without_lines, _Notes(recorder, tell))
        except BaseException as error:
            tell({"failed": repr(error)})
            raise
        tell({"end": net.name})

    return work


@dataclass(slots=True)
class _Notes:
    """Notes what runs (a :class:`~.nets.Watch`)."""

    recorder: Recorder | None
    tell: Tell

    def take(self) -> dict[str, list[int]]:
        return _by_file(self.recorder.take()) if self.recorder else {}

    @contextmanager
    def item(self, name: str) -> Iterator[None]:
        before = time.perf_counter()
        self.take()
        yield
        took = time.perf_counter() - before
        ran = self.take()
        self.tell({"item": name, "seconds": took, "lines": ran, "limit": _LONGEST})

    @contextmanager
    def shared(self, names: Collection[str] | None = None) -> Iterator[None]:
        self.take()
        yield
        ran = self.take()
        self.tell({"shared": None if names is None else [*names], "lines": ran})

    def red(self, name: str, how: str) -> None:
        self.tell({"red": name, "how": how})
