"""One mutant: the nets are asked in turn, until one of them notices something."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from .baseline import Baseline
from .hook import WithChanged, install
from .mutants import Mutant
from .project import Project
from .server import Job, Tell

#: To import the package and to collect the tests of some files.
_TO_LOAD = 120.0


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a mutant."""

    id: str
    part: str
    inside: str
    before: str
    after: str
    outcome: str
    """``noticed``, ``timeout`` (noticed, by its end alone), ``survived`` or ``not run``."""
    net: str
    item: str
    how: str
    seconds: float
    """Of the mutant, with the fork and the imports."""
    left: int = 0
    """How many items were not run, because those before took too long."""

    @property
    def is_noticed(self) -> bool:
        return self.outcome in ("noticed", "timeout")

    def as_json(self) -> dict[str, Any]:
        """Return the fields by name."""
        return asdict(self)


def limit(seconds: float) -> float:
    """Return how long an item may take that takes so long where nothing is changed."""
    return 10.0 + 5 * seconds


def job_of(project: Project, baseline: Baseline, mutant: Mutant, patience: float) -> Job | None:
    """Return the work for a child; None if no item of any net runs the changed line.

    Args:
      patience: the seconds that a net has for a mutant; what is left then is not run.
    """
    part = project.part_of(mutant.file)
    asked = {
        net.name: names
        for net in project.nets
        if part in net.parts and (names := baseline.who_may_notice(mutant, net))
    }
    if not asked:
        return None
    return Job(mutant.id, _work(project, baseline, mutant, asked, patience), _TO_LOAD)


def _work(
    project: Project,
    baseline: Baseline,
    mutant: Mutant,
    asked: Mapping[str, list[str]],
    patience: float,
) -> Callable[[Tell], None]:
    def work(tell: Tell) -> None:
        file = project.package / mutant.file
        changed = WithChanged(file, mutant.apply(file.read_bytes()))
        install(project.package.name, changed)
        for net in project.nets:
            if net.name in asked:
                watch = _Alarm(net.name, baseline.seconds[net.name], patience, tell)
                try:
                    net.run(asked[net.name], watch)
                except _GivenUp:
                    tell({"left": len(asked[net.name]) - watch.begun})
                except BaseException as error:  # noqa: BLE001 - whatever it is, the net is red
                    watch.red(watch.name, f"{type(error).__name__}: {error}"[:200])
        tell({"survived": changed.was_imported})

    return work


class _GivenUp(BaseException):
    """The net has had its time."""


class _Alarm:
    """Ends the process at the first item that is red (a :class:`~.nets.Watch`)."""

    def __init__(self, net: str, seconds: Mapping[str, float], patience: float, tell: Tell) -> None:
        self.net = net
        self.name = ""
        self.begun = 0
        self._seconds = seconds
        self._tell = tell
        self._until = time.monotonic() + patience

    @contextmanager
    def item(self, name: str) -> Iterator[None]:
        if time.monotonic() > self._until:
            raise _GivenUp
        self.name = name
        self.begun += 1
        self._say(limit(self._seconds.get(name, 0.0)))
        yield
        self._say(_TO_LOAD)

    @contextmanager
    def shared(self, names: Collection[str] | None = None) -> Iterator[None]:
        self.name = ", ".join(names or ["import"])
        self._say(_TO_LOAD)
        yield

    def red(self, name: str, how: str) -> None:
        self._tell({"red": name, "net": self.net, "how": how})
        os._exit(0)

    def _say(self, seconds: float) -> None:
        self._tell({"net": self.net, "at": self.name, "limit": seconds})


def result_of(project: Project, mutant: Mutant, job: Job | None) -> Result:
    """Return what became of a mutant by what its child told."""

    def result(outcome: str, net: str = "", item: str = "", how: str = "", left: int = 0) -> Result:
        return Result(
            mutant.id,
            project.part_of(mutant.file),
            mutant.inside,
            mutant.before,
            mutant.after,
            outcome,
            net,
            item,
            how,
            round(job.seconds, 2) if job else 0.0,
            left,
        )

    if job is None:
        return result("not run")
    last = job.messages[-1] if job.messages else {}
    at = next((one for one in reversed(job.messages) if "at" in one), {"net": "", "at": ""})
    if job.timed_out:
        return result("timeout", at["net"], at["at"], "takes too long")
    if "red" in last:
        return result("noticed", last["net"], last["red"], last["how"])
    if last.get("survived") is False:
        raise RuntimeError(f"{project.package} is not where the package is imported from")
    if "survived" in last:
        return result("survived", left=sum(one.get("left", 0) for one in job.messages))
    return result("noticed", at["net"], at["at"], "the process died")
