"""Parties that leave a barrier, and what is run once a round while all are inside."""

import gc
import weakref
from collections.abc import Callable

import pytest
import trio
import trio.lowlevel
import trio.testing

from structsync import Barrier, Semaphore

from .test_barrier import Parties

settle = trio.testing.wait_all_tasks_blocked


async def test_who_leaves_is_not_waited_for(nursery: trio.Nursery) -> None:
    p = Parties(Barrier(3), nursery)
    p.barrier.leave()
    assert p.barrier.parties == p.barrier.statistics().parties == 2
    await p.come("a", "b", "c")
    assert p.ended == {"a": 0, "b": 1}


async def test_the_last_that_was_waited_for_leaves_and_the_round_goes_in(
    nursery: trio.Nursery,
) -> None:
    p = Parties(Barrier(3), nursery)
    await p.come("a", "b")
    p.barrier.leave()
    await settle()
    assert p.ended == {"a": 0, "b": 1}
    await p.come("c")
    assert "c" not in p.ended


async def test_a_round_that_waits_for_others_still_waits(nursery: trio.Nursery) -> None:
    p = Parties(Barrier(4), nursery)
    await p.come("a", "b")
    p.barrier.leave()
    await settle()
    assert p.ended == {}
    p.barrier.leave()
    await settle()
    assert p.ended == {"a": 0, "b": 1}


async def test_workers_of_different_length_all_come_to_their_ends() -> None:
    barrier, steps = Barrier(3), []

    async def worker(rounds: int) -> None:
        try:
            for number in range(rounds):
                await barrier.wait()
                steps.append(number)
        finally:
            barrier.leave()

    async with trio.open_nursery() as nursery:
        for rounds in (1, 2, 4):
            nursery.start_soon(worker, rounds)
    assert steps == [0, 0, 0, 1, 1, 2, 3]
    assert barrier.parties == 0


async def test_when_all_have_left_no_task_waits_forever() -> None:
    barrier = Barrier(1)
    barrier.leave()
    with pytest.raises(RuntimeError, match="have left it; make a new one"):
        await barrier.wait()
    with pytest.raises(RuntimeError, match="have left it already"):
        barrier.leave()
    assert barrier.parties == 0


@pytest.mark.parametrize("end", [Barrier.abort, Barrier.close])
async def test_a_party_leaves_what_is_broken_or_closed(end: Callable[[Barrier], None]) -> None:
    barrier = Barrier(2)
    end(barrier)
    barrier.leave()
    assert barrier.parties == 1


async def test_a_reset_does_not_bring_back_who_has_left() -> None:
    barrier = Barrier(2)
    barrier.leave()
    barrier.reset()
    assert await barrier.wait() == 0


# ==== the action ====


async def test_the_action_runs_once_a_round_while_all_are_inside(nursery: trio.Nursery) -> None:
    seen = []

    def note() -> None:
        seen.append((p.barrier.statistics().tasks_waiting, dict(p.ended)))

    p = Parties(Barrier(2, action=note), nursery)
    await p.come("a")
    assert seen == []
    await p.come("b", "c")
    assert seen == [(2, {})]
    await p.come("d")
    assert seen == [(2, {}), (2, {"a": 0, "b": 1})]


async def test_who_leaves_and_completes_the_round_runs_its_action(nursery: trio.Nursery) -> None:
    runs: list[int] = []
    p = Parties(Barrier(2, action=lambda: runs.append(1)), nursery)
    await p.come("a")
    p.barrier.leave()
    await settle()
    assert (runs, p.ended) == ([1], {"a": 0})


def fail() -> None:
    raise KeyError("what went wrong")


async def test_an_action_that_raises_breaks_the_round_for_the_others(nursery: trio.Nursery) -> None:
    p = Parties(Barrier(2, action=fail), nursery)
    await p.come("a")
    with pytest.raises(KeyError, match="what went wrong"):
        await p.barrier.wait()
    await settle()
    assert "its action raised KeyError" in str(p.ended["a"])
    assert p.barrier.broken
    with pytest.raises(trio.BrokenResourceError):
        await p.barrier.wait()
    p.barrier.reset()
    assert not p.barrier.broken


async def test_who_leaves_gets_the_error_of_the_action_and_has_left(nursery: trio.Nursery) -> None:
    p = Parties(Barrier(2, action=fail), nursery)
    await p.come("a")
    with pytest.raises(KeyError):
        p.barrier.leave()
    await settle()
    assert "BrokenResourceError" in str(p.ended["a"])
    assert p.barrier.parties == 1


async def test_an_action_may_give_back_and_not_acquire(nursery: trio.Nursery) -> None:
    semaphore = Semaphore(0)

    def act() -> None:
        semaphore.release()
        semaphore.acquire_nowait()

    p = Parties(Barrier(2, action=act), nursery)
    await p.come("a")
    with pytest.raises(RuntimeError, match="must not change a structsync primitive"):
        await p.barrier.wait()
    assert semaphore.value == 1


async def test_a_cancelled_party_does_not_run_the_action(nursery: trio.Nursery) -> None:
    runs: list[int] = []
    p = Parties(Barrier(2, action=lambda: runs.append(1)), nursery)
    await p.come("a")
    with trio.CancelScope() as scope:
        scope.cancel()
        await p.barrier.wait()
    assert runs == []


def test_an_action_that_is_async_is_refused() -> None:
    with pytest.raises(TypeError, match="action must be a sync function"):
        Barrier(2, action=trio.sleep_forever)
    with pytest.raises(TypeError, match="action must be callable, not 3"):
        Barrier(2, action=3)  # type: ignore[arg-type]  # what is refused


async def test_an_action_that_returns_a_coroutine_breaks_the_round() -> None:
    barrier = Barrier(1, action=lambda: trio.sleep(0))  # noqa: ASYNC105, ASYNC115 - the mistake
    with pytest.raises(TypeError, match="returned a coroutine"):
        await barrier.wait()
    assert barrier.broken


async def test_nothing_keeps_the_error_of_an_action_alive() -> None:
    class Failure(Exception):
        pass

    def act() -> None:
        raise Failure

    barrier = Barrier(1, action=act)
    reference: list[weakref.ref[Failure]] = []
    try:
        await barrier.wait()
    except Failure as error:
        reference.append(weakref.ref(error))
    gc.collect()
    assert reference[0]() is None
