"""What a worker process does: import the test, and do one job after the other."""

from __future__ import annotations

import pickle
import queue
import signal
import traceback
import warnings
from dataclasses import dataclass
from typing import IO, Any

from structsync._processes import orders, write
from structsync.testing._execution.current import note_that_age_decides
from structsync.testing._search.runs import Runs
from structsync.testing._search.search import fingerprinter
from structsync.testing._state.across_processes import comparable

from .jobs import Bench, Job
from .processes import RAISED
from .program import Build


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a worker process takes over before it imports the test."""

    filters: list[Any]

    @classmethod
    def here(cls) -> Surroundings:
        """Return those of this process."""
        return cls([*warnings.filters])

    def take_over(self) -> None:
        """Make them those of this process."""
        warnings.filters[:] = self.filters  # type: ignore[index] # typed as a sequence, and a list


def main() -> None:
    """Serve the process that started this one, until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    serve(*orders())


def serve(inbox: queue.SimpleQueue[bytes | None], answers: IO[bytes]) -> None:
    """Make the test, and do jobs until there are no more."""
    try:
        _unpacked(inbox).take_over()
        settings, kind, age_decides = _unpacked(inbox)
        build: Build = _unpacked(inbox)
        runs = Runs(build(), settings, engine=kind)
    except Exception as error:  # noqa: BLE001 - whatever the user's module raises when it is imported
        text = f"a worker process cannot import the test: {type(error).__name__}: {error}"
        write(answers, ("NotPortable", text))
        return
    with runs.open(), comparable():
        if age_decides:
            note_that_age_decides()
        bench = Bench(runs, fingerprinter(settings))
        write(answers, ("result", hash("structsync")))
        while (data := inbox.get()) is not None:
            write(answers, _answer(bench, data))


def _unpacked(inbox: queue.SimpleQueue[bytes | None]) -> Any:
    data = inbox.get()
    if data is None:
        raise EOFError
    return pickle.loads(data)


def _answer(bench: Bench, data: bytes) -> tuple[str, object]:
    try:
        job: Job = pickle.loads(data)
        return "result", job.run(bench)
    except RAISED as error:
        return type(error).__name__, str(error)
    except Exception as error:  # noqa: BLE001 - told to the process that started this one
        return "RuntimeError", "".join(traceback.format_exception(error))
