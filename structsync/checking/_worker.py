"""What a worker process of a run does: load the specs by their paths, and search what it is told to."""

from __future__ import annotations

import _thread
import contextlib
import io
import pickle
import queue
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from structsync._processes import orders, write

from ._ahead import Helpers
from ._budget import Progress
from ._errors import ANY_ERROR, SpecError
from ._jobs import Bounds, Job, do
from ._load import Loaded, load, shipped_specs

#: An order that is heard at once, in the middle of a search: end it as Ctrl-C would.
INTERRUPT = b"interrupt"

#: An order that is heard at once: so many processes may help with the search, as the rest says.
HELP = b"help "

#: Seconds between two messages about how far a search has come.
NEWS = 0.1


class _Allowed:
    """How many processes may help with a search now."""

    def __init__(self) -> None:
        self.number = 0

    def __call__(self) -> int:
        return self.number


helping = _Allowed()


def main() -> None:
    """Serve the process that started this one, until the pipe is closed."""
    # Ctrl-C between two searches: the process that started this one ends it
    with contextlib.suppress(KeyboardInterrupt):
        serve(*orders(interrupts))


def interrupts(data: bytes) -> bool:
    """Carry out an order to interrupt the search or to be helped, if it is one."""
    if data == INTERRUPT:
        _thread.interrupt_main()
    elif data.startswith(HELP):
        helping.number = int(data.removeprefix(HELP))
    else:
        return False
    return True


def serve(inbox: queue.SimpleQueue[bytes | None], answers: IO[bytes]) -> None:
    """Load the specs, and search until there is nothing more to do."""
    paths: Sequence[Path] = pickle.loads(inbox.get() or pickle.dumps(()))
    try:
        # What it prints has been printed where they were loaded first.
        with contextlib.redirect_stdout(io.StringIO()):
            loaded = load_all(paths)
    except ANY_ERROR as error:  # it was possible elsewhere
        write(answers, ("elsewhere", str(error)))
        return
    write(answers, ("ready", names_of(loaded)))
    while (data := inbox.get()) is not None:
        job, bounds = pickle.loads(data)
        helpers = Helpers(helping, (paths, names_of(loaded), job, bounds))
        write(answers, _answer(job, loaded, bounds, answers, helpers))


def names_of(loaded: Sequence[Loaded]) -> list[list[str]]:
    """Return what was found at each path."""
    return [[*one.specs, *one.faults] for one in loaded]


def load_all(paths: Sequence[Path]) -> list[Loaded]:
    """Load what was named, or what structsync comes with."""
    return [load(path) for path in paths] or [shipped_specs()]


def _answer(
    job: Job, loaded: Sequence[Loaded], bounds: Bounds, answers: IO[bytes], helpers: Helpers
) -> tuple[Any, ...]:
    last = time.perf_counter()

    def tell(progress: Progress) -> None:
        nonlocal last
        if time.perf_counter() > last + NEWS:
            last = time.perf_counter()
            write(answers, ("progressed", progress))

    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            return ("result", do(job, loaded, bounds, tell, helpers), said.getvalue())
        except SpecError as error:
            return ("error", str(error), said.getvalue())
