"""Branches of the shell that a program reaches seldom, and never by chance."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from typing import Any

import pytest
import trio

from structsync import Arbiter, Condition, Lock, Primitive, Semaphore, observe
from structsync._core.queue.policy import make_policy
from structsync._runtime import positions
from structsync._runtime.runs import check_run
from structsync._runtime.woken import WOKEN


class Odd(Arbiter[int]):
    """Admits even numbers, and fails for odd ones."""

    def admits(self, claim: int) -> bool:
        if claim % 2:
            raise ZeroDivisionError
        return True

    def admit(self, claim: int) -> None:
        pass

    def discharge(self, claim: int) -> None:
        pass


def test_an_error_of_a_users_core_reaches_who_asks_without_waiting() -> None:
    primitive = Primitive(Odd())
    primitive._acquire_nowait(2)
    with pytest.raises(ZeroDivisionError):
        primitive._acquire_nowait(1)


async def test_a_request_that_is_granted_while_its_owner_begins_to_wait_is_not_slept_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    semaphore = Semaphore(0)
    request = semaphore.request()

    def interrupted(live: Any) -> Any:  # as a finalizer would
        monkeypatch.undo()
        semaphore.release()
        return check_run(live)

    monkeypatch.setattr(positions, "check_run", interrupted)
    with trio.fail_after(60):
        await request.wait()
    assert request.status == "granted"


async def test_a_release_that_fails_after_the_step_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    lock, semaphore = Lock(), Semaphore(1)
    with observe(lambda event: lock.release() if event.primitive is semaphore else None):
        semaphore.acquire_nowait()
    (first, *_) = caplog.records
    assert first.exc_info is not None
    assert "don't own" in str(first.exc_info[1])


def test_who_waits_on_a_condition_holds_nothing_of_it() -> None:
    core = Condition()._core
    assert core.held_by("any task") is None
    assert core.owner_exited("any task", "cause") == []


def test_no_task_passes_a_fifo_queue_and_each_joins_at_its_end() -> None:
    semaphore = Semaphore(0)._core
    first = semaphore.enqueue(1)
    policy = make_policy("fifo", None)
    assert not policy.may_pass(semaphore.queue, 1, 0)
    second = type(first)(1, 1)
    policy.join(semaphore.queue, second, -1)
    assert [*semaphore.queue] == [first, second]


async def test_what_wakes_is_an_outcome_in_every_way() -> None:
    def plain() -> Generator[str, None, None]:
        yield "first"
        yield "second"

    async def asynchronous() -> AsyncGenerator[str, None]:
        yield "first"
        yield "second"

    generator, agenerator = plain(), asynchronous()
    next(generator)
    await agenerator.__anext__()
    assert WOKEN.unwrap() is WOKEN.unwrap() is None
    assert WOKEN.send(generator) == "second"
    assert await WOKEN.asend(agenerator) == "second"
    await agenerator.aclose()
