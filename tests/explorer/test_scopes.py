"""What can be cancelled: the scopes that the program itself opened, while they are open.

A cancellation that the program cannot receive would be a false alarm, so the scopes inside of
trio's own functions are not offered.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
import trio
import trio.testing

import structsync
from structsync.testing import ExploredRun, Verdict, explore
from structsync.testing._execution import names
from structsync.testing._execution.engine import Engine
from structsync.testing._execution.schedule import Choice
from structsync.testing._search.choosers import Prefix, Trace

from .conftest import Program, check_the_engines_agree, run_once


def offered(program: Program, kind: type[Engine]) -> list[str]:
    """The scopes that one undisturbed execution offers to cancel, in the order of their names."""
    trace = Trace()
    engine = run_once(program, trace, kind=kind)
    assert engine.ending is not None
    assert not engine.ending.failed, engine.ending
    return sorted({one.name for step in trace.offered for one in step if one.kind == "scope"})


async def a_scope() -> None:
    with trio.CancelScope():
        await trio.lowlevel.checkpoint()


async def a_scope_made_before() -> None:
    scope = trio.CancelScope()
    await trio.lowlevel.checkpoint()
    with scope:
        await trio.lowlevel.checkpoint()


async def a_deadline() -> None:
    with trio.move_on_after(5):
        await trio.lowlevel.checkpoint()


async def a_point_in_time() -> None:
    with trio.move_on_at(5):
        await trio.lowlevel.checkpoint()


async def a_deadline_that_raises() -> None:
    with trio.fail_after(5):
        await trio.lowlevel.checkpoint()


async def a_point_in_time_that_raises() -> None:
    with trio.fail_at(5):
        await trio.lowlevel.checkpoint()


async def a_nursery() -> None:
    async with trio.open_nursery():
        await trio.lowlevel.checkpoint()


async def a_nursery_through_an_exit_stack() -> None:
    async with contextlib.AsyncExitStack() as stack:
        await stack.enter_async_context(trio.open_nursery())
        await trio.lowlevel.checkpoint()


async def a_scope_through_an_exit_stack() -> None:
    with contextlib.ExitStack() as stack:
        stack.enter_context(trio.CancelScope())
        await trio.lowlevel.checkpoint()


async def a_shield_that_the_program_has_a_name_for() -> None:
    with trio.CancelScope(shield=True) as scope:
        await trio.lowlevel.checkpoint()
    del scope


async def a_shield_made_before() -> None:
    scope = trio.CancelScope(shield=True)
    with scope:
        await trio.lowlevel.checkpoint()


async def a_shield_that_an_object_has() -> None:
    kept = [trio.CancelScope(shield=True)]
    with kept[0]:
        await trio.lowlevel.checkpoint()


async def a_shield_with_a_deadline() -> None:
    with trio.CancelScope(shield=True, deadline=trio.current_time() + 9):
        await trio.lowlevel.checkpoint()


async def a_nursery_that_shields() -> None:
    """An error of a child cancels it."""
    async with trio.open_nursery() as nursery:
        nursery.cancel_scope.shield = True
        await trio.lowlevel.checkpoint()


async def a_scope_of_structsync() -> None:
    async with structsync.open_scope():
        await trio.lowlevel.checkpoint()


@contextlib.asynccontextmanager
async def _service() -> AsyncIterator[trio.Nursery]:
    async with trio.open_nursery() as nursery:
        yield nursery


async def a_nursery_of_a_context_manager() -> None:
    async with _service():
        await trio.lowlevel.checkpoint()


ONE_SCOPE: tuple[Program, ...] = (
    a_scope,
    a_scope_made_before,
    a_deadline,
    a_point_in_time,
    a_deadline_that_raises,
    a_point_in_time_that_raises,
    a_nursery,
    a_nursery_through_an_exit_stack,
    a_scope_through_an_exit_stack,
    a_shield_that_the_program_has_a_name_for,
    a_shield_made_before,
    a_shield_that_an_object_has,
    a_shield_with_a_deadline,
    a_nursery_that_shields,
    a_scope_of_structsync,
    a_nursery_of_a_context_manager,
)


def in_a_task(program: Program) -> Program:
    """A task in the test calls it, and might cancel it."""

    async def test() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(program)

    return test


@pytest.mark.parametrize("program", ONE_SCOPE)
def test_a_scope_of_the_program_can_be_cancelled(program: Program, kind: type[Engine]) -> None:
    assert offered(in_a_task(program), kind) == [f"{program.__name__}#0~0", "main"]


#: What keeps its scope, or a shield that the cancellation of the whole test does not reach.
BY_ITSELF: tuple[Program, ...] = (
    a_scope_made_before,
    a_shield_that_the_program_has_a_name_for,
    a_shield_made_before,
    a_shield_that_an_object_has,
    a_shield_with_a_deadline,
)


@pytest.mark.parametrize("program", ONE_SCOPE)
def test_only_the_caller_of_the_test_could_cancel_its_outermost_nursery_or_a_guard(
    program: Program, kind: type[Engine]
) -> None:
    assert offered(program, kind) == ["main~0" if program in BY_ITSELF else "main"]


async def guards_round_a_nursery() -> None:
    with trio.fail_after(9) as scope, trio.move_on_after(8):
        async with trio.open_nursery():
            await trio.lowlevel.checkpoint()
    del scope


def test_a_nursery_is_the_outermost_one_inside_of_guards(kind: type[Engine]) -> None:
    assert offered(guards_round_a_nursery, kind) == ["main"]


def test_a_deadline_that_is_asked_whether_it_has_struck_is_no_guard(kind: type[Engine]) -> None:
    async def program() -> None:
        with trio.move_on_after(9) as scope:
            async with trio.open_nursery():
                await trio.lowlevel.checkpoint()
        assert not scope.cancelled_caught

    assert offered(program, kind) == ["main", "main~0"]


def test_what_is_opened_inside_of_the_outermost_nursery_is_offered(kind: type[Engine]) -> None:
    async def program() -> None:
        async with trio.open_nursery():
            with trio.move_on_after(9):
                await trio.lowlevel.checkpoint()
            async with trio.open_nursery():
                await trio.lowlevel.checkpoint()

    assert offered(program, kind) == ["main", "main~1", "main~2"]


def test_a_nursery_that_the_program_has_cancelled_stands_for_nothing(kind: type[Engine]) -> None:
    async def program() -> None:
        async with trio.open_nursery() as nursery:
            nursery.cancel_scope.cancel()
            with trio.CancelScope(shield=True):
                await trio.lowlevel.checkpoint()

    assert offered(program, kind) == []


def all_done(count: int, log: list[str] | None = None) -> Program:
    """Each worker does its part, which is asked where only its end can lead to."""

    async def program(x: ExploredRun) -> None:
        done: list[int] = []

        async def worker() -> None:
            await trio.lowlevel.checkpoint()
            done.append(1)

        try:
            async with trio.open_nursery() as nursery:
                for _ in range(count):
                    nursery.start_soon(worker)
            assert len(done) == count
        finally:
            if log is not None:
                log.append("all" if len(done) == count else "not all")

    return program


@pytest.mark.unmeasured
@pytest.mark.parametrize("search", ["plain", "states", "sweep"])
def test_what_only_its_end_leads_to_is_not_asked_of_a_test_that_was_cancelled(search: Any) -> None:
    log: list[str] = []
    assert explore(all_done(2, log), search=search).failure is None
    assert set(log) == {"all", "not all"}  # it has been cancelled in earnest


def test_the_whole_test_is_cancelled_once() -> None:
    trace = Trace()
    whole = Choice("scope", "main")
    engine = run_once(guards_round_a_nursery, trace, cancels=2)
    assert engine.whole.cancel_called is False
    step = next(number for number, options in enumerate(trace.offered) if whole in options)
    cancelled = OneOf([options[0] for options in trace.offered[:step]] + [whole])
    engine = run_once(guards_round_a_nursery, cancelled, cancels=2)
    assert engine.whole.cancelled_caught
    assert all(whole not in options for options in cancelled.offered[step + 1 :])
    assert engine.ending is not None
    assert engine.ending.kind == "passed"


class OneOf(Trace):
    """Makes given choices first, and keeps what was on offer."""

    def __init__(self, choices: list[Choice]) -> None:
        super().__init__()
        self._prefix = Prefix(choices, go_on=True)

    def choose(self, execution: Any, options: tuple[Choice, ...]) -> Choice | None:
        super().choose(execution, options)
        return self._prefix.choose(execution, options)


def never_given_back(x: ExploredRun, how: str) -> Program:
    """A permit is lost where the whole test is cancelled."""

    async def program() -> None:
        lock, out = trio.Lock(), list[int]()
        if how == "violation":
            x.finally_(lambda: not out, "everything is back")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.lowlevel.checkpoint)
            out.append(1)
            if how == "leak":
                await lock.acquire()
            await trio.lowlevel.checkpoint()
            if how == "leak":
                lock.release()
            out.clear()

    return program


@pytest.mark.unmeasured
@pytest.mark.parametrize("how", ["leak", "violation"])
def test_the_checks_of_the_end_are_made_of_a_test_that_was_cancelled(how: str) -> None:
    async def test(x: ExploredRun) -> None:
        await never_given_back(x, how)()

    failure = explore(test).failure
    assert failure is not None
    assert (failure.kind, failure.deviations, failure.replayed) == (how, 1, "same")
    injected = [one for one in failure.counterexample.steps if one.injected]
    assert [(one.action, one.arguments) for one in injected] == [
        ("cancel", (("", "the whole test"),))
    ]
    assert explore(test, replay=failure.token).failure is not None
    assert explore(test, cancels=0).failure is None


def test_a_search_that_cancelled_the_outermost_nursery_would_cry_wolf(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(names, "_stands_for_the_test", lambda one: False)
    assert explore(all_done(2)).failure is not None


async def a_sleep() -> None:
    await trio.sleep(1)


async def a_sleep_until() -> None:
    await trio.sleep_until(1)


async def a_checkpoint() -> None:
    await trio.lowlevel.checkpoint_if_cancelled()
    await trio.lowlevel.cancel_shielded_checkpoint()


async def two_ends_of_a_stream() -> None:
    left, right = trio.testing.memory_stream_pair()
    await left.send_all(b"x")
    await right.receive_some()


NO_SCOPE: tuple[Program, ...] = (a_sleep, a_sleep_until, a_checkpoint, two_ends_of_a_stream)


async def a_shield() -> None:
    with trio.CancelScope(shield=True):
        await trio.lowlevel.checkpoint()


async def a_shield_of_an_exit_stack() -> None:
    with contextlib.ExitStack() as stack:
        stack.enter_context(trio.CancelScope(shield=True))
        await trio.lowlevel.checkpoint()


async def a_shield_in_a_shield() -> None:
    with trio.CancelScope(shield=True), trio.CancelScope(shield=True):
        await trio.lowlevel.checkpoint()


@pytest.mark.parametrize("program", [a_shield, a_shield_of_an_exit_stack, a_shield_in_a_shield])
def test_a_shield_that_nothing_could_cancel_is_not_offered(
    program: Program, kind: type[Engine]
) -> None:
    assert offered(program, kind) == []


@pytest.mark.parametrize("program", NO_SCOPE)
def test_a_scope_inside_of_trio_is_not_offered(program: Program, kind: type[Engine]) -> None:
    assert offered(program, kind) == []


def test_the_scope_inside_of_nursery_start_is_not_offered(kind: type[Engine]) -> None:
    async def service(task_status: trio.TaskStatus[None]) -> None:
        await trio.lowlevel.checkpoint()
        task_status.started()

    async def program() -> None:
        async with trio.open_nursery() as nursery:
            await nursery.start(service)

    assert offered(program, kind) == ["main"]


def test_nested_scopes_are_numbered_by_the_task_that_opened_them(kind: type[Engine]) -> None:
    async def worker() -> None:
        with trio.CancelScope():
            await trio.lowlevel.checkpoint()

    async def program() -> None:
        async with trio.open_nursery() as outermost:
            with trio.move_on_after(9):
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(worker)
                    outermost.start_soon(worker)

    assert offered(program, kind) == ["main", "main~1", "main~2", "worker#0~0", "worker#1~0"]


def test_a_scope_that_was_left_is_not_offered(kind: type[Engine]) -> None:
    async def program() -> None:
        scope = trio.CancelScope()
        with scope:
            await trio.lowlevel.checkpoint()
        async with trio.open_nursery():
            await trio.lowlevel.checkpoint()
        await trio.lowlevel.checkpoint()
        await trio.lowlevel.checkpoint()

    trace = Trace()
    run_once(program, trace, kind=kind)
    scopes = [[one.name for one in step if one.kind == "scope"] for step in trace.offered]
    assert ["main~0"] in scopes
    assert ["main"] in scopes
    assert all(len(one) < 2 for one in scopes)
    assert scopes[-1] == []


def test_a_scope_that_an_error_has_left_is_not_offered(kind: type[Engine]) -> None:
    async def program() -> None:
        with contextlib.suppress(KeyError), trio.CancelScope():  # noqa: ASYNC100 - left at once
            raise KeyError
        await trio.lowlevel.checkpoint()

    assert offered(program, kind) == []


def test_a_scope_that_the_program_has_cancelled_is_not_offered(kind: type[Engine]) -> None:
    async def program() -> None:
        with trio.CancelScope() as scope:
            scope.cancel()
            with trio.CancelScope(shield=True) as another:
                await trio.lowlevel.checkpoint()
            del another

    assert offered(program, kind) == ["main~1"]


def test_a_scope_that_is_used_twice_is_refused_by_trio_as_ever(kind: type[Engine]) -> None:
    async def program() -> None:
        scope = trio.CancelScope()
        with scope:
            await trio.lowlevel.checkpoint()
        with pytest.raises(RuntimeError, match="may only be used for a single"):
            scope.__enter__()

    assert offered(program, kind) == ["main~0"]


@pytest.mark.unmeasured
@pytest.mark.parametrize("program", ONE_SCOPE)
def test_a_cancellation_arrives_at_the_scope(program: Program, kind: type[Engine]) -> None:
    trace = Trace()
    run_once(in_a_task(program), trace, kind=kind)
    target = Choice("scope", f"{program.__name__}#0~0")
    step = next(number for number, options in enumerate(trace.offered) if target in options)
    before = [options[0] for options in trace.offered[:step]]
    engine = run_once(in_a_task(program), Prefix([*before, target], go_on=True), kind=kind)
    assert engine.ending is not None
    assert engine.cancels_left == 0
    # fail_after() does not ask who cancelled its scope; the others end as if nothing had been.
    raises = program in (a_deadline_that_raises, a_point_in_time_that_raises)
    assert engine.ending.kind == ("error" if raises else "passed")


def test_no_more_is_injected_than_was_asked_for(kind: type[Engine]) -> None:
    async def program() -> None:
        with trio.CancelScope():
            with trio.CancelScope():
                await trio.lowlevel.checkpoint()

    for cancels in (0, 1, 2):
        found = explore(program, cancels=cancels, search="plain") if cancels else None
        trace = Trace()
        run_once(program, trace, kind=kind, cancels=cancels)
        kinds = {one.kind for step in trace.offered for one in step}
        assert kinds == ({"run", "scope"} if cancels else {"run"})
        assert found is None or found.failure is None


def test_what_a_shield_protects_is_not_reported_as_lost() -> None:
    async def program() -> None:
        saved = []
        async with trio.open_nursery():
            with trio.CancelScope(shield=True):
                await trio.lowlevel.checkpoint()
                saved.append("all")
            assert saved == ["all"]

    assert explore(program).verdict is Verdict.CONFIRMED


def test_no_task_is_cancelled_who_has_no_scope_round_it() -> None:
    """The promise of ``cancel="scopes"``: no false alarm about what cannot happen."""

    async def program() -> None:
        lock = trio.Lock()

        async def worker() -> None:
            await lock.acquire()
            try:
                await trio.lowlevel.checkpoint()
            except trio.Cancelled:
                raise AssertionError("this task cannot be cancelled alone") from None
            lock.release()

        # Not a nursery: that would be a scope of the program, in which all can be cancelled.
        for _ in range(2):
            trio.lowlevel.spawn_system_task(worker)
        await trio.testing.wait_all_tasks_blocked()

    async def in_a_nursery() -> None:
        async def worker() -> None:
            try:
                await trio.lowlevel.checkpoint()
            except trio.Cancelled:
                raise AssertionError("this task can") from None

        async with trio.open_nursery() as nursery:
            nursery.start_soon(worker)
            nursery.start_soon(worker)

    assert explore(program, cancels=1, cancel="scopes").failure is None
    assert explore(program, cancels=1, cancel="tasks").failure is None
    assert explore(in_a_nursery, cancels=1, cancel="tasks").failure is not None


def test_a_scope_that_a_call_from_outside_opens_is_not_offered(kind: type[Engine]) -> None:
    async def program() -> None:
        event = trio.Event()

        def call() -> None:
            with trio.CancelScope():  # noqa: ASYNC100 - no task can wait in it
                event.set()

        trio.lowlevel.current_trio_token().run_sync_soon(call)
        await event.wait()

    assert offered(program, kind) == []


async def two_wait_and_one_for_them() -> None:
    """As trio's own documentation tells to test it."""
    event = trio.Event()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(event.wait)
        nursery.start_soon(event.wait)
        await trio.testing.wait_all_tasks_blocked()
        assert event.statistics().tasks_waiting == 2
        event.set()


@pytest.mark.parametrize("settings", [{}, {"order": "trio"}, {"clock": "explore"}, {"cancels": 2}])
def test_nothing_comes_between_the_end_of_a_wait_for_quiet_and_the_next_step(
    settings: dict[str, Any],
) -> None:
    """trio wakes who waits for that when nothing else can run, and runs it at once."""
    found = explore(two_wait_and_one_for_them, **settings)
    assert found.verdict is Verdict.CONFIRMED


@pytest.mark.parametrize("settings", [{"cancels": 1}, {"cancels": 1, "order": "trio"}])
def test_the_engines_agree_what_can_be_cancelled_after_a_wait_for_quiet(
    settings: dict[str, Any],
) -> None:
    check_the_engines_agree(two_wait_and_one_for_them, settings)


def test_no_deadline_comes_between_the_end_of_a_wait_for_quiet_and_the_next_step() -> None:
    async def program() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.lowlevel.checkpoint)
            with trio.move_on_after(1) as scope:
                await trio.testing.wait_all_tasks_blocked()
                assert not scope.cancel_called

    assert explore(program, clock="explore", cancels=0).verdict is Verdict.CONFIRMED
