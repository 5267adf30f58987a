"""A fork for each piece of work, and a hard end for what does not end.

The parent has everything imported but the package. A child is a process group of its own, which is killed
when an item takes longer than its limit: a transition that spins may swallow every exception, so nothing
gentler is certain. What the child writes is one JSON object per line.
"""

from __future__ import annotations

import gc
import json
import math
import os
import resource
import selectors
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

#: A mutant that only collects garbage must not take the machine along. (z3 maps much that it never uses.)
_MEMORY = 6 << 30

Message = dict[str, Any]
Tell = Callable[[Message], None]


@dataclass(slots=True)
class Job:
    """Work for a child: ``work`` runs there, and what it tells comes back in ``messages``."""

    key: str
    work: Callable[[Tell], None]
    patience: float
    """Seconds until the child says how long it may take; it does so by a message with a ``limit``."""
    messages: list[Message] = field(default_factory=list)
    seconds: float = 0.0
    timed_out: bool = False


@dataclass(slots=True)
class _Child:
    pid: int
    pipe: int
    job: Job
    folder: str
    started: float
    deadline: float
    rest: bytes = b""


def run(
    jobs: Iterator[Job], at_once: int = 1, log: str = os.devnull, until: float = math.inf
) -> Iterator[Job]:
    """Run the jobs, some at once; yield each when it has ended, and no more after ``until``."""
    gc.freeze()
    children: dict[int, _Child] = {}
    selector = selectors.DefaultSelector()
    try:
        while True:
            while len(children) < at_once and (job := next(jobs, None)) is not None:
                child = _fork(job, log)
                children[child.pipe] = child
                selector.register(child.pipe, selectors.EVENT_READ)
            if not children or time.monotonic() >= until:
                return
            soonest = min(until, *(child.deadline for child in children.values()))
            ready = selector.select(max(0.0, soonest - time.monotonic()))
            ended = [key.fd for key, _ in ready if not _read(children[key.fd])]
            for pipe, child in children.items():
                if pipe not in ended and child.deadline <= time.monotonic():
                    child.job.timed_out = True
                    ended.append(pipe)
            for pipe in ended:
                selector.unregister(pipe)
                child = children.pop(pipe)
                _bury(child)
                yield child.job
    finally:
        for child in children.values():
            _bury(child)
        selector.close()


def _fork(job: Job, log: str) -> _Child:
    sys.stdout.flush()
    folder = tempfile.mkdtemp(prefix="mutation-")
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        # of threads that the child would miss; nothing here waits for one
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        os.close(reading)
        _in_the_child(job, writing, folder, log)
    os.close(writing)
    os.set_blocking(reading, False)
    now = time.monotonic()
    return _Child(pid, reading, job, folder, now, now + job.patience)


def _in_the_child(job: Job, writing: int, folder: str, log: str) -> None:
    try:
        os.setsid()
        output = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        for one in (1, 2):
            os.dup2(output, one)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.chdir(folder)
        tempfile.tempdir = folder
        os.environ["TMPDIR"] = folder

        def tell(message: Message) -> None:
            os.write(writing, json.dumps(message).encode() + b"\n")

        job.work(tell)
    except BaseException:  # noqa: BLE001 - nothing may return into the parent's frames
        traceback.print_exc()
    finally:
        os._exit(0)


def _read(child: _Child) -> bool:
    """Take what the child wrote; False if it has ended."""
    try:
        written = os.read(child.pipe, 1 << 20)
    except BlockingIOError:  # pragma: no cover - a spurious wakeup
        return True
    *lines, child.rest = (child.rest + written).split(b"\n")
    for line in lines:
        message = json.loads(line)
        child.job.messages.append(message)
        if "limit" in message:
            child.deadline = time.monotonic() + message["limit"]
    return bool(written)


def _bury(child: _Child) -> None:
    child.job.seconds = time.monotonic() - child.started
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:  # before its setsid, or gone with its group
        os.kill(child.pid, signal.SIGKILL)
    os.waitpid(child.pid, 0)
    os.close(child.pipe)
    shutil.rmtree(child.folder, ignore_errors=True)
