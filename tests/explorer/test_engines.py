"""The two engines give the same traces; and where the fast one is broken, the other one is used.

The reference runs inside the real ``trio.run``. So what holds of it holds of trio, and what is
tested here is that nothing is lost where trio's own loop was left out.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from math import inf
from typing import Any

import pytest
import trio
import trio.testing
from trio.lowlevel import checkpoint

from structsync.testing._execution.engine import Engine
from structsync.testing._execution.execution import Ending
from structsync.testing._execution.loop_engine import LoopEngine

from .conftest import Program, check_the_engines_agree, label, outcomes, run_once

# ==== programs of all kinds, each of which returns what it saw ====


async def three_at_an_event() -> list[int]:
    event, log = trio.Event(), list[int]()

    async def waits(n: int) -> None:
        await event.wait()
        log.append(n)

    async with trio.open_nursery() as nursery:
        for n in range(3):
            nursery.start_soon(waits, n)
        event.set()
    return log


async def sleepers() -> list[object]:
    log: list[object] = []

    async def sleeps(seconds: float) -> None:
        await trio.sleep(seconds)
        log.append((seconds, trio.current_time()))

    async with trio.open_nursery() as nursery:
        for seconds in (2, 1, 2):
            nursery.start_soon(sleeps, seconds)
    return log


async def equal_deadlines() -> list[object]:
    log: list[object] = []

    async def waits(n: int) -> None:
        with trio.move_on_after(1):
            try:
                await trio.sleep_forever()
            except trio.Cancelled:
                log.append((n, trio.current_time()))
                raise

    async with trio.open_nursery() as nursery:
        for n in range(3):
            nursery.start_soon(waits, n)
    return log


async def idle_waiters() -> list[str]:
    log = list[str]()

    async def waits(name: str, cushion: float) -> None:
        await trio.testing.wait_all_tasks_blocked(cushion)
        log.append(name)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(waits, "patient", 0.01)
        nursery.start_soon(waits, "hasty", 0)
        nursery.start_soon(waits, "hasty too", 0)
        await checkpoint()
        log.append("main")
    return log


async def idle_before_time_passes() -> list[object]:
    log: list[object] = []
    async with trio.open_nursery() as nursery:

        async def sleeps() -> None:
            await trio.sleep(1)
            log.append("woke")

        nursery.start_soon(sleeps)
        await trio.testing.wait_all_tasks_blocked()
        log.append(trio.current_time())
    return log


async def shields() -> list[str]:
    log = list[str]()

    async def shielded() -> None:
        with trio.CancelScope(shield=True):
            await checkpoint()
            log.append("shielded")
        try:
            await checkpoint()
        finally:
            log.append("after")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(shielded)
        await checkpoint()
        nursery.cancel_scope.cancel()
    return log


async def a_wait_that_cannot_be_aborted() -> list[str]:
    log = list[str]()
    parked = list[trio.lowlevel.Task]()

    async def waits() -> None:
        parked.append(trio.lowlevel.current_task())
        await trio.lowlevel.wait_task_rescheduled(lambda _: trio.lowlevel.Abort.FAILED)
        log.append("woken, not cancelled")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(waits)
        nursery.start_soon(checkpoint)
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
        trio.lowlevel.reschedule(parked[0])
    return log


async def a_lock() -> list[str]:
    lock, log = trio.Lock(), list[str]()

    async def works(name: str) -> None:
        async with lock:
            await checkpoint()
            log.append(name)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(works, "a")
        nursery.start_soon(works, "b")
    return log


async def a_channel() -> list[int]:
    log = list[int]()
    send, receive = trio.open_memory_channel[int](0)

    async def produces(n: int) -> None:
        async with send.clone() as mine:
            await mine.send(n)

    async with trio.open_nursery() as nursery, receive:
        nursery.start_soon(produces, 1)
        nursery.start_soon(produces, 2)
        log.append(await receive.receive())
        log.append(await receive.receive())
    return log


async def a_timeout_that_raises() -> list[str]:
    log = list[str]()

    async def works() -> None:
        with contextlib.suppress(trio.TooSlowError), trio.fail_after(1):
            await trio.sleep(2)
        log.append(f"{trio.current_time()}")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(works)
        nursery.start_soon(trio.sleep, 1)
    return log


class _Witness(trio.abc.Instrument):
    """Notes which tasks are spawned while it is there, and who becomes runnable."""

    def __init__(self) -> None:
        self.seen = list[str]()

    def task_spawned(self, task: trio.lowlevel.Task) -> None:
        self.seen.append(f"spawned {task.name.rpartition('.')[2]}")

    def task_exited(self, task: trio.lowlevel.Task) -> None:
        self.seen.append(f"exited {task.name.rpartition('.')[2]}")


async def an_instrument_of_the_program() -> list[str]:
    witness = _Witness()

    async def works() -> None:
        await checkpoint()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(works)
        trio.lowlevel.add_instrument(witness)
        nursery.start_soon(works)
        await checkpoint()
        trio.lowlevel.remove_instrument(witness)
        nursery.start_soon(works)
    return witness.seen


async def an_instrument_that_was_not_added() -> str:
    try:
        trio.lowlevel.remove_instrument(_Witness())
    except KeyError:
        return "refused"
    return "taken out"


PROGRAMS: tuple[tuple[Program, dict[str, Any]], ...] = (
    (three_at_an_event, {}),
    (three_at_an_event, {"order": "trio"}),
    (sleepers, {}),
    (sleepers, {"order": "trio", "clock": "explore"}),
    (equal_deadlines, {}),
    (idle_waiters, {}),
    (idle_before_time_passes, {}),
    (shields, {}),
    (a_wait_that_cannot_be_aborted, {}),
    (a_lock, {"cancels": 1, "cancel": "tasks"}),
    (a_lock, {"cancels": 1}),
    (a_channel, {}),
    (a_channel, {"cancels": 1, "cancel": "tasks", "order": "trio"}),
    (a_timeout_that_raises, {"clock": "explore"}),
    (an_instrument_of_the_program, {}),
    (an_instrument_that_was_not_added, {}),
)
LONG = (sleepers, a_channel)


def test_an_instrument_hears_of_a_task_that_goes_on_after_a_checkpoint() -> None:
    class Listener(trio.abc.Instrument):
        def __init__(self) -> None:
            self.scheduled: list[str] = []

        def task_scheduled(self, task: trio.lowlevel.Task) -> None:
            self.scheduled.append(task.name.rpartition(".")[2])

    listener = Listener()

    async def works() -> None:
        await checkpoint()
        trio.lowlevel.add_instrument(listener)
        await checkpoint()
        trio.lowlevel.remove_instrument(listener)
        await checkpoint()

    assert run_once(works, kind=LoopEngine).ending == Ending("passed")
    assert listener.scheduled == ["main"]


def test_a_checkpoint_leaves_nothing_of_the_wait_before(kind: type[Engine]) -> None:
    async def leaves_a_mark() -> object:
        task = trio.lowlevel.current_task()
        task.custom_sleep_data = "a mark"
        await trio.lowlevel.cancel_shielded_checkpoint()
        return task.custom_sleep_data

    assert run_once(leaves_a_mark, kind=kind).ending == Ending("passed", value=None)


@pytest.mark.parametrize(
    ("program", "settings"),
    [
        pytest.param(*one, marks=[pytest.mark.unmeasured] if one[0] in LONG else [])
        for one in PROGRAMS
    ],
    ids=label,
)
def test_both_engines_give_the_same_traces(program: Program, settings: dict[str, Any]) -> None:
    check_the_engines_agree(program, settings)


def _wake_all_idle(engine: LoopEngine) -> None:
    waiting = engine._runner.waiting_for_idle
    while waiting:
        engine._runner.reschedule(waiting.popitem()[1])


FAULTS: tuple[tuple[str, Callable[..., object], Program], ...] = (
    ("_wake_idle", _wake_all_idle, idle_waiters),
    ("decide", Engine.decide, idle_before_time_passes),
    ("_next_deadline", lambda engine: inf, sleepers),
    ("_expire", lambda engine: engine._runner.deadlines.expire(inf), sleepers),
)


@pytest.mark.parametrize(("name", "fault", "program"), FAULTS, ids=label)
def test_a_fault_in_the_fast_engine_shows_in_the_traces(
    name: str, fault: Callable[..., object], program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    public = outcomes(program, "public", cancels=0)
    monkeypatch.setattr(LoopEngine, name, fault)
    assert outcomes(program, "loop", cancels=0).traces != public.traces
