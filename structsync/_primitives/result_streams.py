"""Jobs for items that are taken ahead of a loop, and their results: what is behind ``map`` of a pool."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import suppress
from typing import Any

import trio
from trio.lowlevel import (
    Task,
    TrioToken,
    checkpoint,
    current_task,
    current_trio_token,
    disable_ki_protection,
)

from structsync._runtime.causes import error_of
from structsync._runtime.errors import JobCancelled
from structsync._runtime.job import Job, has_ended
from structsync._runtime.job_wait import ResultsWait
from structsync._runtime.runs import transitions_of
from structsync._runtime.watching import inform_of_park, watchers

from .pool_base import Pool, outcome_of

Submit = Callable[[Any], Job[Any]]


def not_an_end(who: str) -> RuntimeError:
    """Return what to raise for a ``StopAsyncIteration``, which would end the loop silently (PEP 479)."""
    return RuntimeError(f"{who} raised StopAsyncIteration")


class Stream(ABC):
    """Jobs whose results are to come; knows nothing of the object that iterates."""

    def __init__(self, pool: Pool, submit: Submit, ordered: bool, ahead: int) -> None:
        self.pool = pool
        self.submit = submit
        self.ahead = ahead
        self.ordered = ordered
        # All that are to come, in the order of the items. Not a dict: see JobQueueCore.held_back.
        self.pending: OrderedDict[Job[Any], None] = OrderedDict()
        self.ready: deque[Job[Any]] = deque()  # if not ordered: those of them that have ended
        self.exhausted = self.pulling = False
        self.waiter: Task | None = None
        self.error: BaseException | None = None  # of the source: raised after the results
        self.news = trio.Event()
        self.token: TrioToken | None = None  # of the run of the loop, once that has begun

    @abstractmethod
    def refill(self) -> None:
        """Take items while there is room for them; what interrupts that is raised at once."""

    def add(self, item: object) -> None:
        job = self.submit(item)
        self.pending[job] = None
        job._loop = self

    def ended(self, job: Job[Any]) -> None:
        """Called in the step in which a job ends."""
        if not self.ordered:
            self.ready.append(job)
        self.news.set()

    def next_ready(self) -> Job[Any] | None:
        """Return the job whose result is next, if it has ended."""
        if self.ordered:
            job = next(iter(self.pending), None)
            return job if job is not None and has_ended(job) else None
        return self.ready[0] if self.ready else None

    async def next(self) -> Any:
        if self.waiter is not None:
            raise trio.BusyResourceError("another task already waits for the next result")
        task = current_task()
        self.pool._refuse_own_job(task, "a loop over map()")
        self.waiter = task
        if self.token is None:
            self.token = current_trio_token()
        try:
            job = await self.wait_for_next()
        finally:
            self.waiter = None
        if not self.ordered:
            self.ready.popleft()
        del self.pending[job]
        try:
            return outcome_of(job)
        except StopAsyncIteration as error:
            self.close()
            raise not_an_end(repr(job)) from error
        except BaseException:
            self.close()
            raise
        finally:
            del job

    async def wait_for_next(self) -> Job[Any]:
        """Return the next job once it has ended; a checkpoint in any case."""
        self.refill()
        if self.next_ready() is not None:
            await checkpoint()
        while (job := self.next_ready()) is None:
            if self.exhausted and not self.pending:
                await checkpoint()
                error, self.error = self.error, None
                if isinstance(error, StopAsyncIteration):
                    raise not_an_end("the items of map()") from error
                raise StopAsyncIteration if error is None else error
            self.news = trio.Event()
            wait = self.about_to_sleep() if watchers and self.pending else None
            try:
                await self.news.wait()
            finally:
                self.news.set()  # a late one sees that no task sleeps here
            if wait is not None and wait.error is not None:  # none of them would ever end
                self.close()
                raise wait.error
            self.refill()
        return job

    def about_to_sleep(self) -> ResultsWait | None:
        """Tell the guard against deadlocks which jobs the loop waits for, if it waits for nothing else."""
        jobs: list[Job[Any]] = [*self.pending]
        if self.ordered:
            jobs = jobs[:1]
        elif self.pulling:
            return None
        wait = ResultsWait(self.pool, jobs, current_task(), self.news)
        with transitions_of(self.pool):
            inform_of_park(wait)
        return wait

    def abandon(self) -> None:
        """Close it in its own run: the object that iterated was collected, perhaps in another thread."""
        if self.token is None:  # it has taken nothing
            return
        try:
            is_here = current_trio_token() is self.token
        except RuntimeError:
            is_here = False
        if is_here:
            self.close()
        else:
            with suppress(trio.RunFinishedError):  # then the jobs have ended
                self.token.run_sync_soon(self.close)

    def close(self) -> None:
        transitions_of(self.pool)  # refuses another run, and another thread
        self.exhausted = True
        pending, self.pending = self.pending, OrderedDict()
        self.ready.clear()
        for job in pending:
            job._loop = None
            if not has_ended(job):
                job.cancel()
        self.news.set()  # another task may wait for the next result


class SyncStream(Stream):
    def __init__(
        self, pool: Pool, submit: Submit, ordered: bool, ahead: int, items: Iterator[Any]
    ) -> None:
        super().__init__(pool, submit, ordered, ahead)
        self.items = items

    def refill(self) -> None:
        while not self.exhausted and len(self.pending) < self.ahead:
            try:
                self.add(self.take())
            except StopIteration:
                self.exhausted = True
            except Exception as error:  # noqa: BLE001 - raised after the results before it
                self.exhausted = True
                self.error = error
            except BaseException:
                self.close()
                raise

    @disable_ki_protection  # the user's own code may be interrupted
    def take(self) -> object:
        return next(self.items)


class AsyncStream(Stream):
    """Items that are waited for in a task of the pool, so that results need not wait for them.

    In one task from the first to the last, and to the end of a generator: what it holds in between, a lock or a
    nursery, is that task's. While there is no room it sleeps. It ends with the loop, and with the pool.
    """

    def __init__(
        self, pool: Pool, submit: Submit, ordered: bool, ahead: int, items: AsyncIterator[Any]
    ) -> None:
        super().__init__(pool, submit, ordered, ahead)
        self.items = items
        self.scope = trio.CancelScope()
        self.begun = False
        self.room = trio.Event()

    def refill(self) -> None:
        if self.pulling or len(self.pending) >= self.ahead or not self.goes_on():
            return
        self.pulling = True
        if self.begun:
            self.room.set()
        else:
            self.begun = True
            self.pool._nursery.start_soon(self.pull, name="the items of map()")

    def goes_on(self) -> bool:
        """Return whether there may be more items; there are none for a pool that is closed."""
        cause = self.pool._core.cause
        if cause is not None and not self.exhausted:
            self.exhausted = True
            self.error = error_of(cause)
        return not self.exhausted

    async def pull(self) -> None:
        """Take items until there are no more, or no job is wanted or accepted any more."""
        self.pool._sources[self.scope] = None
        try:
            with self.scope:
                try:
                    await self.take_items()
                finally:
                    await self.end_items()
            self.goes_on()  # it notes that the pool was closed, if that is why it was interrupted
        except StopAsyncIteration:
            self.exhausted = True
        except Exception as error:  # noqa: BLE001 - raised after the results before it
            self.exhausted = True
            self.error = error
        except BaseException:  # the pool is cancelled, or this cancels it
            self.exhausted = True
            self.error = JobCancelled("the pool was cancelled while map() waited for an item")
            raise
        finally:
            del self.pool._sources[self.scope]
            self.pulling = False
            self.news.set()

    async def take_items(self) -> None:
        """Take items, and not more than there is room for."""
        while self.goes_on():
            if len(self.pending) >= self.ahead:
                await self.wait_for_room()
                continue
            item = await anext(self.items)
            if self.goes_on():
                self.add(item)
            if watchers and len(self.pending) == 1:
                self.news.set()  # the loop waits for this job now, and says so

    async def end_items(self) -> None:
        """Close a generator; any other iterator the program may go on with, as after a loop of its own."""
        if isinstance(self.items, AsyncGenerator):
            try:
                await self.items.aclose()
            except BaseExceptionGroup as group:
                # What closes it, as a nursery inside passes it on: Python knows it alone only.
                _, others = group.split(GeneratorExit)
                if others is not None:
                    raise others from None

    async def wait_for_room(self) -> None:
        self.room = trio.Event()
        self.pulling = False
        self.news.set()  # the loop waits for jobs alone now, and says so
        await self.room.wait()

    def close(self) -> None:
        super().close()
        self.scope.cancel()
