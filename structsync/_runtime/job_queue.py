"""A queue of jobs in a trio program: which tasks park for it, which are woken, and which work.

The skeleton is that of :mod:`.parking`. Three kinds of tasks park for it: those that submit until the job is
accepted, those that wait until it has ended (:mod:`.job_end`), and workers until there is a job
(:mod:`.working`).
"""

from __future__ import annotations

from collections.abc import Awaitable
from contextvars import Context, copy_context
from functools import partial
from inspect import isawaitable
from typing import Any

import trio
from trio.lowlevel import (
    Task,
    cancel_shielded_checkpoint,
    checkpoint_if_cancelled,
    current_task,
    enable_ki_protection,
)

from structsync._core.primitives.job_queue import JobQueueCore
from structsync._core.queue.request import GRANTED, Request

from . import workers
from .arguments import not_async
from .causes import Closed, PoolEnded
from .events import emit, emit_ended
from .job import CANCELLED, DONE, FAILED, Job, JobStatus, begin, has_ended
from .job_end import about_to_sleep, cancel_and_wait, sleep_until_end, stop_waiting, wake_waiters
from .job_wait import JobWait
from .live import Live
from .parking import about_to_park, park
from .reports import listeners, report
from .runs import check_run, errors_of_ended, running_task, transitions_of
from .transitions import Transitions, of_this_thread
from .waking import resume, wake_accepted, wake_task
from .working import work


class JobQueue(Live[Job[Any]]):
    """A core, a nursery with workers, and what has become of the jobs."""

    __slots__ = ("_context", "_ended_as", "_idle", "_leaving", "_nursery", "_sources")
    _core: JobQueueCore
    _nursery: trio.Nursery
    _context: Context  # of the task that opened the pool: a worker's outside a job
    _idle: dict[workers.Worker, None]  # the parked ones; the last to come works next
    _leaving: bool  # the block waits for the jobs, and then the workers end
    _ended_as: dict[JobStatus, int]
    _sources: dict[trio.CancelScope, None]  # around what brings items for jobs

    def __init__(self, core: JobQueueCore, nursery: trio.Nursery, name: str | None = None) -> None:
        super().__init__(core, 0, name)
        self._nursery = nursery
        self._context = copy_context()
        self._idle = {}
        self._sources = {}
        self._leaving = False
        self._ended_as = dict.fromkeys((DONE, FAILED, CANCELLED), 0)
        check_run(self)  # from now on this run is the only one that may use it

    def _call(self, job: Job[Any]) -> Awaitable[Any]:
        """Call the function of a job that begins."""
        awaitable: Awaitable[Any] = job._fn(*job._args)
        if not isawaitable(awaitable):
            raise not_async(f"the function of {job!r}", awaitable)
        return awaitable

    # ==== submitting ====

    async def _submit(self, job: Job[Any], priority: int) -> None:
        """Put the job into the queue; return once it is accepted, or runs."""
        await checkpoint_if_cancelled()
        task = current_task()
        transitions = transitions_of(self)
        with transitions, errors_of_ended():
            if not self._fits(job, priority):
                self._core.refuse(job)
                self._refuse_own_job(task, "submit() into the full queue")
            request = self._enter(transitions, job, priority, task)
            if held_back := self._core.is_held_back(request):
                about_to_park(transitions, request)
        if held_back:
            await park(request, self._core.give_up)
        else:
            await cancel_shielded_checkpoint()

    def _submit_nowait(self, job: Job[Any], priority: int) -> None:
        transitions = transitions_of(self)
        with transitions, errors_of_ended():
            if not self._fits(job, priority):
                self._core.refuse(job)
                raise trio.WouldBlock
            self._enter(transitions, job, priority, running_task())

    async def _run(self, job: Job[Any], priority: int) -> None:
        """Submit the job and wait until it has ended, accepted or not; a cancellation cancels it."""
        await checkpoint_if_cancelled()
        task = current_task()
        transitions = transitions_of(self)
        self._refuse_own_job(task, "run()")
        with transitions, errors_of_ended():
            self._enter(transitions, job, priority, task)
            wait = about_to_sleep(transitions, self, job, task, is_caller=True)
        await sleep_until_end(transitions, wait, partial(cancel_and_wait, self, job, task), task)

    @enable_ki_protection
    def _submit_unbounded(self, job: Job[Any], priority: int) -> None:
        """Put the job into the queue, for a caller that bounds by itself how many it has there."""
        transitions = transitions_of(self)
        with transitions, errors_of_ended():
            self._enter(transitions, job, priority, running_task())

    def _fits(self, job: Job[Any], priority: int) -> bool:
        return self._core.admissible(job, priority) or self._core.has_room()

    def _enter(
        self, transitions: Transitions, job: Job[Any], priority: int, task: Task | None
    ) -> Request[Any]:
        request = self._core.submit(job, priority, task)
        request.primitive = self
        job._request = request
        if request.status is GRANTED:
            self._hand_out(transitions, job)
        if self._observers:
            emit("requested", self, job, task, request)
            if request.status is GRANTED:
                emit("granted", self, job, task, request)
        return request

    def _hand_out(self, transitions: Transitions, job: Job[Any]) -> None:
        if self._idle:
            worker, _ = self._idle.popitem()
            begin(job, worker.scope)
            worker.job = job
            worker.task.context = job._context
            wake_task(transitions, worker.task)
        else:
            begin(job, trio.CancelScope())
            name = f"worker of {type(self).__name__}"
            self._context.run(lambda: self._nursery.start_soon(work, self, [job], name=name))

    def _refuse_own_job(self, task: Task, what: str) -> None:
        if workers.works_for(task, self):
            raise RuntimeError(
                f"a job must not wait for its own pool, whose workers may all be busy with jobs that "
                f"wait: {what}; call the function itself, use submit_nowait(), a second pool, or "
                "max_queued=math.inf"
            )

    # ==== waiting and cancelling ====

    async def _wait_for(self, job: Job[Any]) -> None:
        """Sleep until the job has ended."""
        await checkpoint_if_cancelled()
        task, transitions = current_task(), of_this_thread()
        wait: JobWait | None = None
        with transitions:
            if sleeps := not has_ended(job):
                transitions_of(self)  # refuses another run
                self._refuse_own_job(task, "wait()")
                wait = about_to_sleep(transitions, self, job, task, is_caller=False)
        if sleeps:
            await sleep_until_end(transitions, wait, partial(stop_waiting, job, task), task)
        else:
            await cancel_shielded_checkpoint()

    def _cancel(self, job: Job[Any]) -> None:
        transitions = transitions_of(self)
        if transitions.running:
            transitions.later.append(partial(self._cancel, job))
            return
        with transitions:
            scope, request = job._scope, job._request
            if request is not None:
                self._core.withdraw(request)
                wake_accepted(transitions, self._core.take_newly_accepted())
                self._end_job(transitions, job, CANCELLED)
                if self._observers:
                    emit_ended(self, [request])
        if scope is not None:
            scope.cancel()  # not in the transition: it may abort waits of ours

    # ==== ending ====

    def _finish(
        self,
        worker: workers.Worker,
        status: JobStatus,
        value: Any,
        error: BaseException | None,
        *,
        fatal: bool,
    ) -> bool:
        """End the worker's job, and give the worker the next one; return whether to go on.

        Without a next one the worker has decided to park.
        """
        job, core = worker.job, self._core
        assert job is not None
        transitions = transitions_of(self)
        with transitions:
            if fatal:
                by_job = status is FAILED
                self._break(transitions, PoolEnded(type(self).__name__, by_job))
            ended = core.release(job)
            resume(transitions, ended)  # whose job was held back, and begins all the same
            self._end_job(transitions, job, status, value, error)
            wake_accepted(transitions, core.take_newly_accepted())
            worker.job = ended[0].claim if ended else None
            is_last = self._leaving and core.is_drained
            if worker.job is not None:
                begin(worker.job, worker.scope)
            elif is_last:
                self._stop_idle(transitions)
            elif not fatal:
                self._idle[worker] = None
                worker.parks = True
                worker.task.context = worker.own_context
                transitions.parking = worker.task
            if self._observers:
                emit("released", self, job, worker.task)
                emit_ended(self, ended)
        return not (fatal or is_last)

    def _end_job(
        self,
        transitions: Transitions,
        job: Job[Any],
        status: JobStatus,
        value: Any = None,
        error: BaseException | None = None,
    ) -> None:
        job._status, job._value, job._error = status, value, error
        job._request = job._scope = None
        job._args = ()
        self._ended_as[status] += 1
        wake_waiters(transitions, job)
        if job._loop is not None:
            job._loop.ended(job)

    def _details_of(self, claim: Job[Any]) -> dict[str, object]:
        return {"job": claim._name()}

    def _close(self) -> None:
        """Accept no more jobs; those that are accepted run."""
        transitions = transitions_of(self)
        with transitions:
            was_open = self._core.cause is None
            cause = Closed(self._title())
            self._end_unstarted(transitions, self._core.close(cause), cause)
            self._end_sources(transitions)
            if self._observers and was_open:
                emit("closed", self, None, running_task())

    def _cancel_all(self) -> None:
        """End all jobs that wait: no worker will take them."""
        transitions = transitions_of(self)
        with transitions:
            self._break(transitions, PoolEnded(type(self).__name__, by_job=False))

    def _break(self, transitions: Transitions, cause: PoolEnded) -> None:
        ended = self._core.end(cause)
        self._core.take_newly_accepted()
        if listeners and cause.by_job and self._core.cause is cause:
            report("broken", self, str(cause.error()))
        self._end_unstarted(transitions, ended)

    def _end_unstarted(
        self, transitions: Transitions, ended: list[Request[Any]], refusal: Closed | None = None
    ) -> None:
        """End jobs that never ran: cancelled, or refused, because they were not accepted yet."""
        for request in ended:
            if not request.parked:  # else it was never submitted: its submit() raises
                error = None if refusal is None else refusal.error()
                self._end_job(transitions, request.claim, CANCELLED, error=error)
        resume(transitions, ended)
        if self._observers:
            emit_ended(self, ended)

    def _leave(self) -> None:
        """Let the workers end once no job waits and none runs."""
        transitions = transitions_of(self)
        with transitions:
            self._leaving = True
            if self._core.is_drained:
                self._stop_idle(transitions)

    def _stop_idle(self, transitions: Transitions) -> None:
        self._core.close(Closed(self._title()))  # no task is held back
        while self._idle:
            worker, _ = self._idle.popitem()
            wake_task(transitions, worker.task)
        self._end_sources(transitions)

    def _end_sources(self, transitions: Transitions) -> None:
        """Interrupt what brings items: no job is accepted any more."""
        # Not in the transition: it may abort waits of ours.
        transitions.later += [scope.cancel for scope in self._sources]
