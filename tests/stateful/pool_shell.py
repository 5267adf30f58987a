"""The machine of a pool in a trio run: each job that was accepted runs once, in its turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import trio
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import structsync

from .stepper import Actor, Stepper


class PoolModel:
    """Who is in line, in the order of arrival, and who runs. The first in line are in the queue."""

    def __init__(self, workers: int, max_queued: int) -> None:
        self.workers, self.max_queued = workers, max_queued
        self.line: list[str] = []
        self.status: dict[str, str] = {}
        self.closed = False

    def running(self) -> list[str]:
        return [who for who, status in self.status.items() if status == "running"]

    def arrive(self, who: str) -> None:
        self.line.append(who)
        self.status[who] = "queued"
        self.settle()

    def end(self, who: str, status: str) -> None:
        """The job ends, wherever it is."""
        if who in self.line:
            self.line.remove(who)
        self.status[who] = status
        self.settle()

    def settle(self) -> None:
        while self.line and len(self.running()) < self.workers:
            self.status[self.line.pop(0)] = "running"

    def would_be_held_back(self) -> bool:
        return len(self.running()) == self.workers and len(self.line) >= self.max_queued

    def held_back(self) -> list[str]:
        return self.line[self.max_queued :]


class PoolShellMachine(RuleBasedStateMachine):
    pool: structsync.TaskPool
    model: PoolModel

    def __init__(self) -> None:
        super().__init__()
        self.stepper = Stepper()
        self.actors: dict[str, Actor] = {}  # of those that wait until their jobs are accepted
        self.expected: dict[str, str] = {}
        self.jobs: dict[str, structsync.Job[str]] = {}
        self.gates: dict[str, trio.Event] = {}
        self.begun, self.returned = Counter[str](), Counter[str]()

    def teardown(self) -> None:
        self.stepper.end()

    @initialize(workers=st.integers(1, 3), max_queued=st.integers(0, 3))
    def create(self, workers: int, max_queued: int) -> None:
        self.model = PoolModel(workers, max_queued)

        async def keep() -> None:
            async with structsync.open_pool(workers, max_queued=max_queued) as self.pool:
                await trio.sleep_forever()

        self.stepper.step(lambda: Actor(self.stepper, "pool").call(keep))

    async def work(self, who: str) -> str:
        self.begun[who] += 1
        await self.gates[who].wait()
        self.returned[who] += 1
        return who

    def newcomer(self) -> str:
        who = f"j{len(self.gates)}"
        self.gates[who] = trio.Event()
        return who

    # ==== arriving ====

    @precondition(lambda self: len(self.model.line) < 6)
    @rule(cancelled=st.booleans())
    def submit(self, cancelled: bool) -> None:
        who = self.newcomer()

        async def call() -> None:
            self.jobs[who] = await self.pool.submit(self.work, who)

        def start() -> None:
            actor = self.actors[who] = Actor(self.stepper, who)
            actor.call(call)
            if cancelled:
                actor.scope.cancel()

        self.stepper.step(start)
        if cancelled:
            self.expected[who] = "cancelled"  # it has not even arrived
        elif self.model.closed:
            self.expected[who] = "ClosedResourceError"
        else:
            self.expected[who] = "blocked"
            self.model.arrive(who)
        self.accept()

    def accept(self) -> None:
        """Those that are not held back any more have submitted."""
        for who, expected in self.expected.items():
            if expected == "blocked" and who not in self.model.held_back():
                self.expected[who] = "returned"

    @rule()
    def submit_nowait(self) -> None:
        who = self.newcomer()

        def call() -> None:
            self.jobs[who] = self.pool.submit_nowait(self.work, who)

        if self.model.closed or self.model.would_be_held_back():
            error = trio.ClosedResourceError if self.model.closed else trio.WouldBlock
            try:
                self.stepper.step(call)
            except error:
                return
            raise AssertionError("accepted, although the model refuses it")
        self.stepper.step(call)
        self.model.arrive(who)

    # ==== ends ====

    def end(self, who: str, status: str, cause: Callable[[], object]) -> None:
        self.stepper.step(cause)
        self.model.end(who, status)
        self.accept()

    @precondition(lambda self: self.model.running())
    @rule(number=st.integers(0, 9))
    def finish(self, number: int) -> None:
        running = self.model.running()
        who = running[number % len(running)]
        self.end(who, "done", self.gates[who].set)

    @precondition(lambda self: self.unfinished())
    @rule(number=st.integers(0, 9))
    def cancel_job(self, number: int) -> None:
        unfinished = self.unfinished()
        who = unfinished[number % len(unfinished)]
        self.end(who, "cancelled", self.jobs[who].cancel)

    def unfinished(self) -> list[str]:
        return [who for who in self.jobs if self.model.status[who] in ("queued", "running")]

    @precondition(lambda self: self.model.held_back())
    @rule(number=st.integers(0, 9))
    def cancel_submit(self, number: int) -> None:
        held_back = self.model.held_back()
        who = held_back[number % len(held_back)]
        self.expected[who] = "cancelled"
        self.end(who, "never submitted", self.actors[who].scope.cancel)

    @precondition(lambda self: self.model.held_back())
    @rule(number=st.integers(0, 9), frees=st.booleans())
    def cancel_submit_in_the_step_that_accepts_it(self, number: int, frees: bool) -> None:
        """The grant wins if it comes first."""
        first = self.model.held_back()[0]
        ends = [one for one in self.unfinished() if self.model.status[one] == "queued"]
        if not ends:
            return
        who = ends[number % len(ends)]

        def both() -> None:
            changes = [self.jobs[who].cancel, self.actors[first].scope.cancel]
            for change in changes if frees else changes[::-1]:
                change()

        self.stepper.step(both)
        self.model.end(who, "cancelled")
        if frees:
            self.accept()
        else:
            self.expected[first] = "cancelled"
            self.model.end(first, "never submitted")
            self.accept()

    @precondition(lambda self: len(self.gates) > 15)  # later, or most runs end at once
    @rule()
    def close(self) -> None:
        if self.model.closed:
            return
        self.stepper.step(self.pool.close)
        self.model.closed = True
        for who in self.model.held_back():
            self.expected[who] = "ClosedResourceError"
            self.model.line.remove(who)
            self.model.status[who] = "never submitted"

    # ==== what holds when all tasks are parked ====

    @invariant()
    def every_submit_ended_as_the_model_says(self) -> None:
        for who, expected in self.expected.items():
            assert self.actors[who].outcome == expected, who

    @invariant()
    def every_job_is_where_the_model_says(self) -> None:
        for who, job in self.jobs.items():
            assert job.status == self.model.status[who], who

    @invariant()
    def jobs_begin_in_their_turn_and_once(self) -> None:
        for who in self.gates:
            status = self.model.status.get(who, "never submitted")
            begun = self.begun[who]
            assert begun == 1 if status in ("running", "done") else begun <= 1, who
            assert begun == 0 or status not in ("queued", "never submitted"), who
            assert self.returned[who] == (status == "done"), who

    @invariant()
    def the_pool_counts_as_the_model_does(self) -> None:
        if hasattr(self, "pool"):
            counts = self.pool.statistics()
            assert counts.running == len(self.model.running())
            assert counts.done == list(self.model.status.values()).count("done")
            assert counts.tasks_waiting == len(self.model.line)
