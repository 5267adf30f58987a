"""A task that holds for a thread: it does in the run what the thread asks for, one thing at a time.

What it acquires is owned by this task, so by no other thread and by no task of the program. It lives as
long as the outermost block that the thread is in, or for one call outside any block.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from typing import Any

import outcome
import trio
from trio.lowlevel import (
    Abort,
    RunVar,
    Task,
    TrioToken,
    cancel_shielded_checkpoint,
    current_task,
    current_trio_token,
    spawn_system_task,
    wait_task_rescheduled,
)

from . import ownership, workers
from .errand import Errand
from .errors import PermitLeakError
from .transitions import of_this_thread
from .waking import wake_task
from .working import has_cancelled


class ForDeputy(Errand):
    """An errand for the thread's deputy in the run, which starts with the first one."""

    __slots__ = ()

    @abstractmethod
    async def do(self, deputy: Deputy) -> None:
        """Do it, as the deputy's task; it is answered then. Does not raise."""

    def accept(self) -> None:
        token = current_trio_token()
        deputy: Deputy | None = self.deputies.get(token)
        # A deputy that has no task drops what it was started for.
        if deputy is not None and deputy.task is not None:
            deputy.give(self)
            return
        deputies = _deputies_of_run(token)
        if deputies is None:
            self.answer(outcome.Error(run_finished()))
        else:
            self.deputies[token] = deputies.start(self)


class Deputy:
    """The task of one thread in one run.

    Attributes:
      blocks: those that the thread is in, the innermost last; their errands know what they are.
      run_ends: whether the run is about to end, and wants its threads out of everything.
    """

    __slots__ = (
        "_errands",
        "_idle",
        "_mine",
        "_of_thread",
        "_scopes",
        "blocks",
        "run_ends",
        "task",
    )

    blocks: list[object]
    run_ends: bool
    task: Task | None
    _mine: Deputies
    _of_thread: dict[TrioToken, Any]
    _errands: deque[ForDeputy]
    _idle: bool
    _scopes: list[trio.CancelScope]

    def __init__(self, mine: Deputies, errand: ForDeputy) -> None:
        self.blocks = []
        self.run_ends = False
        self.task = None
        self._mine = mine
        self._of_thread = errand.deputies
        self._errands = deque([errand])
        self._idle = False
        self._scopes = []

    def give(self, errand: ForDeputy) -> None:
        """Do this next; it comes from the thread, or from the finalizer of a block of its."""
        self._errands.append(errand)
        self._wake()

    def end_with_run(self) -> None:
        """Interrupt whatever is done now, and leave all blocks."""
        self.run_ends = True
        for scope in self._scopes:
            scope.cancel()
        self._wake()

    def _wake(self) -> None:
        if self._idle:
            self._idle = False
            assert self.task is not None
            if self._errands:
                self.task.context = self._errands[0].context  # when it runs next
            wake_task(of_this_thread(), self.task)

    async def work(self) -> None:
        """Do the first errand, and all that are asked for until that is over."""
        self.task = current_task()
        # Shielded, because trio interrupts a wait once only: one that goes on after a scope that the
        # thread has opened was cancelled would not be told of the end of the run.
        with Scope(self) as scope:
            scope.shield = True
            errand = self._errands.popleft()
            try:
                if self._begins(errand):
                    await errand.do(self)
                else:
                    self._forget()
            finally:
                workers.acts_for(self.task, None)
        del self._mine.running[self]
        for errand in self._errands:  # which came while the run ended
            errand.answer(outcome.Error(run_finished()))

    async def next_errand(self) -> ForDeputy:
        """Return what the thread asks for next.

        Raises:
          trio.RunFinishedError: if the run ends first.
        """
        while not self.run_ends:
            while self._errands:
                errand = self._errands.popleft()
                if self._begins(errand):
                    await self._take_context_of(errand)
                    return errand
            self._idle = True
            await wait_task_rescheduled(_go_on)
        raise run_finished()

    def _begins(self, errand: ForDeputy) -> bool:
        assert self.task is not None
        workers.acts_for(self.task, errand.host)
        return errand.core.begin()

    async def _take_context_of(self, errand: ForDeputy) -> None:
        assert self.task is not None
        if self.task.context is not errand.context:  # it came before this could sleep
            self.task.context = errand.context
            await cancel_shielded_checkpoint()  # it is the context from the next step on

    def finish(self, errand: Errand, answer: outcome.Outcome[Any] | None) -> None:
        """Answer an errand, with None if it was stopped; the deputy is done with if it holds no block then."""
        if answer is None:
            answer = outcome.Error(errand.why_stopped())
        elif self.run_ends and isinstance(answer, outcome.Error) and has_cancelled(answer.error):
            answer = outcome.Error(run_finished())
        if not self.blocks:
            self._forget()
            if isinstance(answer, outcome.Value):
                answer = _without_leaks(answer)
        errand.answer(answer)

    def _forget(self) -> None:
        if self._of_thread.get(self._mine.token) is self:
            del self._of_thread[self._mine.token]


class Scope:
    """A cancel scope that the end of the run cancels.

    It is shielded where one further out was cancelled too late, when its wait had ended with a grant:
    what comes after that is not cancelled.
    """

    __slots__ = ("_scope", "_scopes")
    _scope: trio.CancelScope
    _scopes: list[trio.CancelScope]

    def __init__(self, deputy: Deputy) -> None:
        self._scopes = deputy._scopes
        self._scope = trio.CancelScope()
        self._scope.shield = any(scope.cancel_called for scope in self._scopes)

    def __enter__(self) -> trio.CancelScope:
        self._scopes.append(self._scope)
        return self._scope.__enter__()

    def __exit__(self, *exc_info: Any) -> bool | None:
        self._scopes.pop()
        return self._scope.__exit__(*exc_info)


class Deputies:
    """The deputies in one run, and whether it takes more."""

    __slots__ = ("ended", "running", "token")
    ended: bool
    running: dict[Deputy, None]  # the first to begin comes first, in every run alike
    token: TrioToken

    def __init__(self, token: TrioToken) -> None:
        self.token = token
        self.running = {}
        self.ended = False

    def start(self, errand: ForDeputy) -> Deputy:
        deputy = Deputy(self, errand)
        self.running[deputy] = None
        spawn_system_task(deputy.work, name=f"thread {errand.thread_name}", context=errand.context)
        return deputy

    async def end_with_run(self) -> None:
        try:
            await trio.sleep_forever()
        finally:
            self.ended = True
            for deputy in self.running:
                deputy.end_with_run()


_of_run: RunVar[Deputies] = RunVar("structsync.threads")


def _deputies_of_run(token: TrioToken) -> Deputies | None:
    """Return the deputies of this run; None if it is about to end."""
    try:
        deputies = _of_run.get()
    except LookupError:
        deputies = Deputies(token)
        try:
            spawn_system_task(deputies.end_with_run)
        except RuntimeError:  # the nursery of these tasks is closed
            deputies.ended = True
        _of_run.set(deputies)
    return None if deputies.ended else deputies


def run_finished() -> trio.RunFinishedError:
    """Return the error of a thread whose run has ended."""
    return trio.RunFinishedError(
        "the trio run has ended; what this thread held there was released then"
    )


def _go_on(_: object) -> Abort:
    return Abort.FAILED


def _without_leaks(answer: outcome.Outcome[Any]) -> outcome.Outcome[Any]:
    left = ownership.release_all_of(current_task())
    if not left:
        return answer
    names = ", ".join(live._title() for live in left)
    return outcome.Error(
        PermitLeakError(
            f"a thread would keep holding what no block releases, so it was released now: {names}; "
            "hold it by `with structsync.threads.hold(...)`"
        )
    )
