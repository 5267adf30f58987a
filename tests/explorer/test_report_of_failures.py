"""A failing schedule told for people: who ran, where it parked, whom it woke, who waits for what."""

from __future__ import annotations

import contextlib
import re
from typing import Any

import pytest
import trio
import trio.testing
from trio.lowlevel import checkpoint

import structsync
from structsync.report import Step
from structsync.testing import ExplorationFailed, ExploredRun, explore
from structsync.testing._execution.addresses import address_of
from structsync.testing._execution.engine import Engine
from structsync.testing._execution.loop_engine import LoopEngine
from structsync.testing._execution.public_engine import PublicEngine
from structsync.testing._execution.schedule import Choice

from .conftest import Program, abba, failure_of


def text_of(program: Program, **settings: Any) -> str:
    with pytest.raises(ExplorationFailed) as caught:
        explore(program, **{"cancels": 0, **settings}).check()
    return str(caught.value)


async def forgets_to_release_when_cancelled() -> None:
    semaphore = trio.Semaphore(1)

    async def worker() -> None:
        await semaphore.acquire()
        await checkpoint()
        semaphore.release()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(worker)
        nursery.start_soon(worker)


def test_the_text_tells_the_whole_story() -> None:
    text = text_of(forgets_to_release_when_cancelled, cancels=1, cancel="tasks")
    lines = [line.rstrip() for line in text.splitlines()]
    assert lines[0] == "DEADLOCK  forgets_to_release_when_cancelled"
    assert lines[1] == "  plain FIFO order, but for 1 step:"
    assert "1 deviation from plain FIFO order in" in text
    assert "replayed in trio.run: same" in " ".join(text.split())
    assert "  main and worker#1 wait forever" in lines
    told, star = [line for line in lines if line.lstrip().startswith("*")]
    assert "worker#0 is cancelled at test_report_of_failures.py:" in told
    assert "CANCEL worker#0" in star
    assert any(line.split()[2:3] == ["exits"] for line in lines)
    blocked = lines[lines.index("blocked forever") + 1 :]
    assert blocked[0] == "  main      waits for the tasks of its nursery: worker#1"
    at = blocked.index("  worker#1  waits for semaphore: 0 free, 1 waiting")
    assert blocked[at + 1].endswith(" in worker: await semaphore.acquire()")
    assert lines[-1].startswith("explore(..., replay='x1a:")


def test_the_token_in_the_text_is_that_of_the_failure() -> None:
    found = explore(abba)
    assert found.failure is not None
    with pytest.raises(ExplorationFailed) as caught:
        found.check()
    assert found.failure.token in str(caught.value)
    assert caught.value.exploration is found
    assert explore(abba, replay=found.failure.token).failure is not None


def test_the_error_of_the_test_is_the_cause_of_the_failure() -> None:
    async def program() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(checkpoint)
            nursery.start_soon(checkpoint)
        raise KeyError("mine")

    with pytest.raises(ExplorationFailed) as caught:
        explore(program).check()
    assert isinstance(caught.value.__cause__, KeyError)


def steps_of(program: Program, **settings: Any) -> tuple[Step, ...]:
    return failure_of(program, **settings).counterexample.steps


def test_a_step_says_where_it_parked_and_whom_it_woke() -> None:
    async def program() -> None:
        event = trio.Event()

        async def waits() -> None:
            await event.wait()
            await trio.sleep_forever()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(waits)
            await trio.testing.wait_all_tasks_blocked()
            event.set()

    steps = steps_of(program)
    assert steps[0].woke == ("waits#0",)
    assert steps[1].parked.endswith("await event.wait()")
    assert steps[1].parked.startswith("waits:")
    assert steps[1].state == {"event": "not set, 1 waiting"}
    woke = [(step.actor, step.woke) for step in steps if step.woke]
    assert woke[-1] == ("main", ("waits#0",))


def test_an_error_that_a_wait_ends_with_stands_in_the_step_that_raises_it() -> None:
    async def program(x: ExploredRun) -> None:
        lock = structsync.Lock()
        lock.acquire_nowait()

        async def waits() -> None:
            with contextlib.suppress(trio.ClosedResourceError):
                await lock.acquire()
            x.fail("it was closed")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(waits)
            await trio.testing.wait_all_tasks_blocked()
            lock.close()

    notes = [step.note for step in steps_of(program)]
    assert "ClosedResourceError is raised in it" in notes


def test_a_cancellation_says_what_it_met() -> None:
    async def program(x: ExploredRun) -> None:
        parked = trio.Event()

        async def waits() -> None:
            try:
                await parked.wait()
            except trio.Cancelled:
                x.fail("it was cancelled")
                with trio.CancelScope(shield=True):
                    await checkpoint()
                raise

        async with trio.open_nursery() as nursery:
            nursery.start_soon(waits)
            await trio.testing.wait_all_tasks_blocked()
            await checkpoint()  # nothing comes between the wait for quiet and the next step
            parked.set()

    steps = steps_of(program, cancels=1, cancel="tasks")
    [met] = [step for step in steps if step.injected]
    assert met.action == "cancel"
    assert met.deviation
    assert met.note.startswith("parked at waits:")


def test_a_cancellation_of_a_task_that_can_run_says_so() -> None:
    notes = [step.note for step in steps_of(forgets_to_release_when_cancelled, **TASKS)]
    assert "runnable: it gets Cancelled at its next checkpoint" in notes


TASKS = {"cancels": 1, "cancel": "tasks"}


def test_a_scope_and_the_clock_are_named_as_what_they_are() -> None:
    async def program(x: ExploredRun) -> None:
        with trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(trio.sleep, 1)
                nursery.start_soon(trio.sleep, 2)
        if scope.cancelled_caught and trio.current_time() == 1:
            x.fail("between the two")
        await checkpoint()

    steps = steps_of(program, cancels=1)
    injected = [(step.action, step.arguments) for step in steps if step.injected]
    assert injected[0] == ("advance", (("clock", "to the next deadline"),))
    assert injected[1][0] == "cancel"
    assert injected[1][1][0][0] == "scope"
    assert injected[1][1][0][1].startswith("main~")


def test_an_error_that_is_raised_in_a_task_is_noted() -> None:
    async def program() -> None:
        async def waits() -> None:
            with trio.move_on_after(1):
                await trio.sleep_forever()
            await trio.sleep_forever()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(waits)
            nursery.start_soon(checkpoint)

    [note] = [step.note for step in steps_of(program) if step.note]
    where = r"test_report_of_failures\.py:\d+ in waits"
    assert re.fullmatch(f"Cancelled is raised in it: the scope waits#0~0, {where}, timed out", note)


# ==== the replay in trio ====


def test_each_failure_is_replayed_in_the_real_trio() -> None:
    replayed = list[Any]()
    run = PublicEngine.run

    def noted(engine: PublicEngine, test: Any) -> Any:
        ending = run(engine, test)
        replayed.append(ending.kind)
        return ending

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PublicEngine, "run", noted)
        assert failure_of(abba).replayed == "same"
    assert replayed == ["deadlock"]


def test_a_failure_that_trio_does_not_show_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fault: the fast engine never fires a deadline."""

    async def program() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.sleep, 1)
            nursery.start_soon(checkpoint)

    explore(program, cancels=0)  # the engines are compared before the fault is planted
    monkeypatch.setattr(LoopEngine, "_next_deadline", lambda engine: float("inf"))
    failure = failure_of(program)
    assert failure.kind == "deadlock"
    assert failure.replayed.startswith("differs: ")
    assert "replayed in trio.run: differs: " in failure.counterexample.summary


def test_a_schedule_that_trio_does_not_offer_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fault: the reference calls its tasks by other names."""

    def renamed(engine: PublicEngine, task: Any) -> None:
        Engine.task_spawned(engine, task)
        name = engine.names.of.get(task)
        if name == "worker#1":
            engine._runs[address_of(task)] = Choice("run", "a borrower")

    monkeypatch.setattr(PublicEngine, "task_spawned", renamed, raising=False)
    failure = failure_of(abba)
    assert failure.replayed.startswith("differs: at step ")
    assert "the test does not do what it did before" in failure.replayed


@pytest.mark.unmeasured
def test_whether_todays_trio_can_do_it_is_said() -> None:
    async def needs_three_steps_in_a_row() -> None:
        order = list[str]()

        async def worker(name: str) -> None:
            for _ in range(3):
                order.append(name)
                await checkpoint()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(worker, "a")
            nursery.start_soon(worker, "b")
        assert order[:3] != ["b", "b", "b"]

    summary = failure_of(needs_three_steps_in_a_row).counterexample.summary
    assert summary.endswith("possible in trio's own order: no")
    assert failure_of(abba).counterexample.summary.endswith("possible in trio's own order: yes")
    assert "trio's own order" not in failure_of(abba, order="trio").counterexample.summary


# ==== errors ====


def test_an_error_in_a_group_is_told_by_its_members() -> None:
    async def program() -> None:
        async def fails(text: str) -> None:
            await checkpoint()
            raise ValueError(text)

        async with trio.open_nursery() as outer, trio.open_nursery() as nursery:
            outer.start_soon(checkpoint)
            nursery.start_soon(fails, "mine")

    failure = failure_of(program)
    assert failure.kind == "error"
    assert failure.message == "ValueError: mine"
    assert isinstance(failure.error, ExceptionGroup)


def test_an_error_without_words_is_told_by_its_class() -> None:
    async def program() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(checkpoint)
            nursery.start_soon(checkpoint)
        raise KeyError

    assert failure_of(program).message == "KeyError"


# ==== words for people ====


async def sleeps_and_then_waits_forever() -> None:
    condition = structsync.Condition()

    async def waits() -> None:
        await trio.sleep(1)
        async with condition:
            await condition.wait()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(waits)
        nursery.start_soon(waits)


def test_no_address_is_in_a_report() -> None:
    shown = failure_of(sleeps_and_then_waits_forever).counterexample
    assert " at 0x" not in repr(shown)
    assert "locked by waits#0" in repr(shown)


def test_a_sleep_that_ends_is_not_called_a_cancellation() -> None:
    shown = failure_of(sleeps_and_then_waits_forever).counterexample
    notes = [step.note for step in shown.steps]
    assert notes.count("its sleep is over") == 2
    assert not [note for note in notes if "Cancelled" in note]


def test_a_sleep_that_ends_in_a_cancelled_scope_is() -> None:
    async def keeps_its_permit() -> None:
        permits = trio.Semaphore(1, max_value=1)

        async def visit() -> None:
            await permits.acquire()
            await trio.sleep(1)
            permits.release()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(visit)

    shown = failure_of(keeps_its_permit, cancels=1).counterexample
    notes = [step.note for step in shown.steps]
    assert "Cancelled is raised in it: the whole test is cancelled" in notes
    assert "its sleep is over" not in notes


def test_a_sleep_that_is_cancelled_is() -> None:
    async def cancelled_and_then_wrong() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.sleep, 5)
            nursery.start_soon(trio.sleep, 5)
            await checkpoint()
            await checkpoint()
            nursery.cancel_scope.cancel()
        raise ValueError("wrong")

    shown = failure_of(cancelled_and_then_wrong).counterexample
    notes = [
        step.note for step in shown.steps if step.note.startswith("Cancelled is raised in it: ")
    ]
    assert len(notes) == 2
    assert all("in cancelled_and_then_wrong, is cancelled" in note for note in notes)


def test_an_error_names_a_task_as_the_schedule_does() -> None:
    async def program() -> None:
        async def worker() -> None:
            await checkpoint()
            raise ValueError(f"{trio.lowlevel.current_task()!r} and {checkpoint!r} are wrong")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(worker)
            nursery.start_soon(checkpoint)

    message = failure_of(program).message
    assert message == "ValueError: worker#0 and <function checkpoint> are wrong"
