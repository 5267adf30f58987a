"""What trio keeps for a task is state: locks, lines, scopes, deadlines, context variables.

Each side of a difference stands at the same place of the same code; what differs is what a task
could still look at, and so must the fingerprints. How the two sides are told apart is no part of
the state: see ``other`` in conftest.py.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

import outcome
import pytest
import trio
import trio.testing
from trio.lowlevel import checkpoint

import structsync
from structsync._runtime import parking

from .conftest import Differences, Side, check_it_differs, check_it_repeats, other

difference = Differences()


VARIABLE: ContextVar[int] = ContextVar("VARIABLE")


@difference
async def a_context_variable() -> None:
    VARIABLE.set(1 if other() else 2)
    await checkpoint()


@difference
async def an_exception_that_is_held() -> None:
    error: Exception = ValueError(1 if other() else 2)
    await checkpoint()
    del error


@difference
async def the_cause_of_an_exception() -> None:
    error = ValueError()
    error.__cause__ = KeyError(1 if other() else 2)
    await checkpoint()
    del error


@difference
async def a_lock_of_trio() -> None:
    lock = trio.Lock()
    if other():
        lock.acquire_nowait()
    await checkpoint()
    if other():
        lock.release()


@difference
async def a_lock_of_structsync() -> None:
    lock = structsync.Lock()
    if other():
        lock.acquire_nowait()
    await checkpoint()
    if other():
        lock.release()


@difference
async def the_value_of_a_semaphore() -> None:
    semaphore = structsync.Semaphore(3)
    semaphore.acquire_nowait(1 if other() else 2)
    await checkpoint()


@difference
async def an_event() -> None:
    event = trio.Event()
    if other():
        event.set()
    await checkpoint()


@difference
async def what_a_channel_holds() -> None:
    send, receive = trio.open_memory_channel[int](2)
    send.send_nowait(1 if other() else 2)
    await checkpoint()
    receive.close()
    send.close()


@difference
async def the_order_of_a_line() -> None:
    semaphore = structsync.Semaphore(0)

    async def takes(count: int) -> None:
        await semaphore.acquire(count)

    async with trio.open_nursery() as nursery:
        for count in (1, 2) if other() else (2, 1):
            nursery.start_soon(takes, count)
        del count
        await trio.testing.wait_all_tasks_blocked()
        await checkpoint()
        semaphore.release(3)


@difference
async def a_scope_that_is_cancelled() -> None:
    with trio.CancelScope() as scope, trio.CancelScope(shield=True):
        if other():
            scope.cancel()
        await checkpoint()


@difference
async def a_scope_whose_block_has_ended() -> None:
    with trio.CancelScope() as scope:
        await checkpoint()
        if other():
            scope.cancel()
    await checkpoint()
    del scope


@difference
async def a_nursery_whose_block_has_ended() -> None:
    async with trio.open_nursery() as nursery:
        if other():
            nursery.cancel_scope.cancel()
    await checkpoint()
    del nursery


@difference
async def a_scope_that_was_closed_before_the_one_inside_of_it() -> None:
    outer, inner = trio.CancelScope(), trio.CancelScope()
    outer.__enter__()
    inner.__enter__()
    if other():
        outer.cancel()
    with pytest.raises(RuntimeError, match="Cancel scope stack corrupted"):
        outer.__exit__(None, None, None)
    del outer
    await checkpoint()
    inner.__exit__(None, None, None)


@difference
async def a_note_on_a_member_of_an_enumeration() -> None:
    member: Any = trio.lowlevel.Abort.FAILED
    member.note = 1 if other() else 2
    await checkpoint()
    del member.note


@difference
async def with_which_default_one_code_is_called() -> None:
    enter = parking.enter if other() else parking.enter_as_task
    await checkpoint()
    del enter


@difference
async def a_deadline() -> None:
    with trio.CancelScope(deadline=5 if other() else 6):
        await checkpoint()


@difference
async def a_shield() -> None:
    with trio.CancelScope(shield=other()):
        await checkpoint()


@difference
async def the_time() -> None:
    await trio.sleep(1 if other() else 2)
    await checkpoint()


@difference
async def what_a_task_is_woken_with() -> None:
    parked = list[trio.lowlevel.Task]()

    async def waits() -> None:
        parked.append(trio.lowlevel.current_task())
        await trio.lowlevel.wait_task_rescheduled(lambda _: trio.lowlevel.Abort.FAILED)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(waits)
        await trio.testing.wait_all_tasks_blocked()
        task = parked.pop()
        trio.lowlevel.reschedule(task, outcome.Value(1 if other() else 2))
        await checkpoint()


@difference
async def which_task_a_text_names() -> None:
    async def one() -> None:
        await checkpoint()

    async def another() -> None:
        await checkpoint()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(one)
        nursery.start_soon(another)
        first, second = sorted(nursery.child_tasks, key=lambda task: task.name)
        text = f"by {first if other() else second}, and no other task"
        del first, second
        await checkpoint()
        del text


@difference
async def whether_two_texts_name_one_object() -> None:
    first, second = object(), object()
    names = [str(first), str(first if other() else second)]
    await checkpoint()
    del names


@pytest.mark.unmeasured
@pytest.mark.parametrize("side", difference.sides)
@pytest.mark.parametrize("symmetry", [True, False], ids=["symmetry", "names"])
def test_a_difference_makes_a_difference(side: Side, symmetry: bool) -> None:
    check_it_differs(side, symmetry)


@pytest.mark.parametrize("side", difference.sides)
@pytest.mark.parametrize("which", [False, True])
def test_each_execution_has_the_same_states(side: Side, which: bool) -> None:
    check_it_repeats(side, which)
