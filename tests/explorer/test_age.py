"""Which of several like tasks is the oldest, and where that decides something: trio aborts in some order."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import outcome
import pytest
import trio
from trio.lowlevel import Abort, RaiseCancelT, checkpoint, wait_task_rescheduled

import structsync
from structsync._core.queue.request import Request
from structsync.testing import Settings, Verdict, explore
from structsync.testing._execution.aborts import Aborts
from structsync.testing._execution.current import Current, age_decides, note_that_age_decides
from structsync.testing._execution.execution import Ending
from structsync.testing._search import search
from structsync.testing._search.choosers import UNLIMITED, Prefix
from structsync.testing._search.priorities import RandomPriorities, UnseenStates
from structsync.testing._search.runs import Runs
from structsync.testing._search.search import explore_outcomes

from .conftest import workers

Acquire = Callable[[int], Awaitable[None]]


async def _pause() -> None:
    """Let states be told apart at a time when all that is left is who is older."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(checkpoint)
        nursery.start_soon(checkpoint)


async def _in_a_cancelled_scope(client: Callable[[], Awaitable[None]]) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(client)
        nursery.start_soon(client)
        await trio.testing.wait_all_tasks_blocked()
        await _pause()
        nursery.cancel_scope.cancel()


async def aborts_that_are_written_down() -> object:
    needs, aborted = [1, 2], list[int]()

    async def client() -> None:
        await checkpoint()
        need = needs.pop()

        def abort(_: RaiseCancelT) -> Abort:
            aborted.append(need)
            return Abort.SUCCEEDED

        await wait_task_rescheduled(abort)

    await _in_a_cancelled_scope(client)
    return aborted


async def an_abort_that_hands_on() -> object:
    """A semaphore of the user's with one permit that nobody has been given yet."""
    needs, served, queue, free = [1, 2], list[int](), list[tuple[trio.lowlevel.Task, int]](), 0

    def serve() -> None:
        nonlocal free
        while queue and queue[0][1] <= free:
            task, need = queue.pop(0)
            free -= need
            trio.lowlevel.reschedule(task)

    async def client() -> None:
        await checkpoint()
        need = needs.pop()
        mine = trio.lowlevel.current_task(), need
        queue.append(mine)

        def abort(_: RaiseCancelT) -> Abort:
            queue.remove(mine)
            serve()
            return Abort.SUCCEEDED

        await wait_task_rescheduled(abort)
        served.append(need)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(client)
        nursery.start_soon(client)
        await trio.testing.wait_all_tasks_blocked()
        await _pause()
        free = 1
        nursery.cancel_scope.cancel()
    return served, free


async def an_abort_that_wakes_one_who_waits_in_trio() -> object:
    events, woken = [trio.Event(), trio.Event()], list[str]()
    roles = ["waits", "wakes"]

    async def client() -> None:
        await checkpoint()
        role = roles.pop()
        if role == "waits":
            await events[0].wait()
            woken.append(role)
        else:

            def abort(_: RaiseCancelT) -> Abort:
                events[0].set()
                return Abort.SUCCEEDED

            await wait_task_rescheduled(abort)

    await _in_a_cancelled_scope(client)
    return woken


async def deadlines_that_are_equal() -> object:
    needs, expired = [1, 2], list[int]()

    async def client() -> None:
        await checkpoint()
        need = needs.pop()

        def abort(_: RaiseCancelT) -> Abort:
            expired.append(need)
            return Abort.SUCCEEDED

        with trio.move_on_at(5):
            await wait_task_rescheduled(abort)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(client)
        nursery.start_soon(client)
        await trio.testing.wait_all_tasks_blocked()
        await _pause()
    return expired


async def requests_of_ours_of_different_sizes() -> object:
    needs, served = [1, 2], list[int]()
    semaphore = structsync.Semaphore(2, max_value=2)

    async def client() -> None:
        await checkpoint()
        need = needs.pop()
        async with semaphore.permits(need):
            served.append(need)

    async with semaphore.permits(1):
        await _in_a_cancelled_scope(client)
    return served


async def waits_for_a_condition_of_ours() -> object:
    names, resumed = [1, 2], list[int]()
    lock = structsync.Lock()
    condition = structsync.Condition(lock)

    async def client() -> None:
        await checkpoint()
        name = names.pop()
        async with lock:
            try:
                await condition.wait()
            finally:
                resumed.append(name)

    await _in_a_cancelled_scope(client)
    return resumed


async def scopes_that_were_opened_in_any_order() -> object:
    """Who comes first opens the first scope, and the states that follow do not show who that was."""
    aborted = list[str]()

    async def client(name: str) -> None:
        def abort(_: RaiseCancelT) -> Abort:
            aborted.append(name)
            return Abort.SUCCEEDED

        with trio.CancelScope():
            await wait_task_rescheduled(abort)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(client, "a")
        nursery.start_soon(client, "b")
        await trio.testing.wait_all_tasks_blocked()
        await _pause()
        nursery.cancel_scope.cancel()
    return aborted


@pytest.mark.unmeasured
@pytest.mark.parametrize("symmetry", [True, False])
@pytest.mark.parametrize(
    "program",
    [
        aborts_that_are_written_down,
        an_abort_that_hands_on,
        an_abort_that_wakes_one_who_waits_in_trio,
        deadlines_that_are_equal,
        requests_of_ours_of_different_sizes,
        waits_for_a_condition_of_ours,
        scopes_that_were_opened_in_any_order,
    ],
)
def test_a_search_by_states_ends_as_all_schedules_do_where_the_order_of_aborts_decides(
    program: Callable[[], Awaitable[object]], symmetry: bool
) -> None:
    async def test(_: object) -> object:
        return await program()

    schedules = explore_outcomes(test, Settings(cancels=0, search="plain", executions=None))
    states = explore_outcomes(test, Settings(cancels=0, search="states", symmetry=symmetry))
    assert schedules.complete
    assert states.outcomes == schedules.outcomes


@pytest.mark.parametrize("before", range(8))
def test_tasks_are_aborted_in_the_order_of_their_spawns_however_many_were_before(
    before: int,
) -> None:
    async def test(_: object) -> list[int]:
        aborted = list[int]()

        async def client(number: int) -> None:
            def abort(_: RaiseCancelT) -> Abort:
                aborted.append(number)
                return Abort.SUCCEEDED

            await wait_task_rescheduled(abort)

        async with trio.open_nursery() as nursery:
            for _ in range(before):
                nursery.start_soon(checkpoint)
        async with trio.open_nursery() as nursery:
            for number in range(3):
                nursery.start_soon(client, number)
            await trio.testing.wait_all_tasks_blocked()
            nursery.cancel_scope.cancel()
        return aborted

    found = explore_outcomes(test, Settings(cancels=0, search="random", executions=1))
    assert found.outcomes == {"passed: [0, 1, 2]"}


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    "lock",
    [trio.Lock, trio.Semaphore, structsync.Lock, structsync.Semaphore, structsync.RWLock],
    ids=lambda kind: f"{kind.__module__.partition('.')[0]}.{kind.__name__}",
)
def test_like_tasks_stay_alike_where_an_abort_of_one_does_nothing_to_the_others(
    lock: Any,
) -> None:
    """All of them are cancelled at once at any moment, and none of the states tells their ages."""

    async def program() -> None:
        one = lock(1) if lock.__name__ == "Semaphore" else lock()

        async def worker() -> None:
            async with one.writing() if lock is structsync.RWLock else one:
                await checkpoint()

        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(worker)

    found = explore(program, search="states")
    apart = explore(program, search="states", symmetry=False)
    assert found.verdict is apart.verdict is Verdict.CONFIRMED
    assert 3 * found.states < apart.states


def test_ages_alone_are_told_where_they_decide_and_not_names() -> None:
    found = explore(_as_test(aborts_that_are_written_down), search="states", cancels=0)
    apart = explore(
        _as_test(aborts_that_are_written_down), search="states", cancels=0, symmetry=False
    )
    assert found.states <= apart.states
    assert explore(workers(3), search="states", cancels=0).states == 10


def _as_test(program: Callable[[], Awaitable[object]]) -> Callable[[], Awaitable[object]]:
    async def test() -> object:
        return await program()

    return test


def test_what_is_looked_for_by_states_is_looked_for_again_with_their_ages() -> None:
    """Such as a failure with fewer deviations: here one that there is not."""

    async def test(_: object) -> object:
        return await aborts_that_are_written_down()

    runs = Runs(test, Settings(cancels=0))
    with runs.open():
        failed = runs.execute(Prefix((), go_on=True))
        failed.ending = Ending("error", culprit="another one")
        Current.age_decides = False  # as where nothing has been aborted on the way to it
        assert search._alike(runs, failed, limit=10_000, max_deviations=UNLIMITED) == (None, True)
        assert age_decides()


def test_a_walk_at_random_that_finds_that_ages_decide_counts_no_states() -> None:
    runs = Runs(lambda _: aborts_that_are_written_down(), Settings(cancels=0))
    with runs.open():
        look = search.fingerprinter(runs.settings)
        note_that_age_decides()
        chooser = RandomPriorities(0, 2)
        counter = UnseenStates(chooser, {}, look)
        chooser.begin()
        runs.execute(counter)
    assert counter.summary() == ""


@pytest.mark.parametrize(
    ("claims", "matters"),
    [
        ((1, 1), False),
        ((1, 2), True),
        ((("read", "me"), ("read", "me")), False),
        ((["a"], ["a"]), True),
    ],
)
def test_two_requests_of_a_queue_are_alike_if_they_want_the_same(
    claims: Sequence[object], matters: bool
) -> None:
    semaphore, aborts = structsync.Semaphore(1), Aborts()
    for claim in claims:
        request = Request(claim, 0)
        request.primitive = semaphore
        aborts.made.append(request)
    assert aborts.order_matters([]) is matters


def test_what_an_abort_lets_in_although_it_is_cancelled_would_have_been_aborted() -> None:
    request, aborts = Request(1, 0), Aborts()
    request.primitive = structsync.Semaphore(1)
    aborts.made.append(request)
    assert aborts.order_matters([outcome.Value(None)])
