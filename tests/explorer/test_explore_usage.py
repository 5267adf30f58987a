"""What users get wrong is told at once: the rule, the values, the repair."""

from __future__ import annotations

import functools
import inspect
import io
import threading
import unittest
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
import trio
from trio.lowlevel import checkpoint

from structsync import testing
from structsync.testing import (
    ExplorationFailed,
    ExploredRun,
    ExploreUsageError,
    NotExhaustive,
    NotExhaustiveWarning,
    ReplayError,
    Settings,
    Verdict,
    explore,
    sweep,
)

from .conftest import abba, python, two_checkpoints, workers

# ==== what can be explored ====


@pytest.mark.parametrize(
    "fn",
    [len, 3, lambda: None, functools.partial(len)],
    ids=["a builtin", "a number", "a function", "a partial"],
)
def test_what_is_not_async_is_refused(fn: Any) -> None:
    with pytest.raises(TypeError, match=r"explore\(\) needs an async function, not .*write 'async"):
        explore(fn)
    with pytest.raises(TypeError, match=r"explore\(\) needs an async function"):
        explore()(fn)


async def a_generator() -> AsyncIterator[int]:
    yield 1


def test_an_async_generator_is_refused_as_what_it_is() -> None:
    with pytest.raises(TypeError, match="is an async generator, which nothing would iterate over"):
        explore(a_generator)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="take the 'yield' out"):
        explore()(a_generator)  # type: ignore[arg-type]


class Callee:
    async def __call__(self) -> None:
        await two_checkpoints()

    async def method(self) -> None:
        await two_checkpoints()


@pytest.mark.parametrize(
    "fn",
    [
        two_checkpoints,
        functools.partial(two_checkpoints),
        Callee(),
        Callee().method,
        explore()(two_checkpoints),
    ],
    ids=["a function", "a partial", "an object", "a method", "an explored test"],
)
def test_whatever_is_async_can_be_explored(fn: Any) -> None:
    assert explore(fn).verdict is Verdict.CONFIRMED


def test_a_coroutine_is_not_a_function() -> None:
    coroutine = two_checkpoints()
    with pytest.raises(TypeError, match="needs an async function, not <coroutine"):
        explore(coroutine)  # type: ignore[call-overload]
    coroutine.close()


async def nothing_to_choose() -> None:
    await checkpoint()


async def one_after_the_other() -> None:
    async with trio.open_nursery() as nursery:
        await nursery.start(_starts)


async def _starts(task_status: trio.TaskStatus[None]) -> None:
    task_status.started()


def test_a_test_without_tasks_has_nothing_to_explore() -> None:
    with pytest.raises(ExploreUsageError, match="no task was spawned and nothing can be cancelled"):
        explore(nothing_to_choose)


def test_a_test_without_tasks_that_fails_is_a_failure_all_the_same() -> None:
    async def fails() -> None:
        await checkpoint()
        raise AssertionError("on purpose")

    failure = explore(fails).failure
    assert failure is not None
    assert failure.message == "AssertionError: on purpose"


def test_parameters_that_no_caller_gives_are_named() -> None:
    async def wants(x: ExploredRun, pool: object, *, size: int) -> None: ...

    with pytest.raises(ExploreUsageError, match=r"the parameters \(x, pool, size\).*partial"):
        explore(wants)


def test_a_keyword_is_the_handle_only_if_it_is_called_x() -> None:
    async def wants(*, run: ExploredRun) -> None: ...

    with pytest.raises(ExploreUsageError, match=r"the parameters \(run\)"):
        explore(wants)

    async def program(size: int, x: ExploredRun) -> None:
        assert size == 3
        x.fail("seen")
        await two_checkpoints()

    found = explore(functools.partial(program, size=3)).failure
    assert found is not None
    assert found.message == "seen"


def test_a_parameter_called_x_is_the_handle_also_if_it_has_a_default() -> None:
    async def first(x: ExploredRun | None = None) -> None:
        assert x is not None
        await two_checkpoints()

    async def second(size: int = 2, x: ExploredRun | None = None) -> None:
        await first(x)

    explore(cancels=0)(first)()
    explore(cancels=0)(second)()
    assert explore(second, cancels=0).failure is None


def test_an_x_that_is_bound_already_is_what_it_is_bound_to() -> None:
    async def program(x: int) -> None:
        assert x == 3
        await two_checkpoints()

    assert explore(functools.partial(program, x=3), cancels=0).failure is None


def test_the_handle_may_have_any_name_and_others_a_default() -> None:
    async def program(run: ExploredRun, size: int = 2, *more: object, **rest: object) -> None:
        assert isinstance(run, ExploredRun)
        assert (size, more, rest) == (2, (), {})
        await two_checkpoints()

    assert explore(program).failure is None


def test_inside_of_a_trio_run_nothing_is_explored() -> None:
    async def main() -> None:
        explore(two_checkpoints)

    with pytest.raises(ExploreUsageError, match=r"cannot be called inside of a trio run"):
        trio.run(main)


def test_inside_of_a_trio_run_nothing_is_explored_the_first_time_either() -> None:
    """Both engines are tried before the first exploration, which would end the run around it."""
    ran = python("""
        import trio
        from structsync.testing import ExploreUsageError, explore

        async def program():
            async with trio.open_nursery() as nursery:
                nursery.start_soon(trio.lowlevel.checkpoint)
                nursery.start_soon(trio.lowlevel.checkpoint)

        async def main():
            try:
                explore(program)
            except ExploreUsageError as error:
                await trio.sleep(0)
                print(error)

        trio.run(main)
    """)
    assert ran.stdout.startswith("explore() cannot be called inside of a trio run"), ran.stderr


def test_inside_of_an_explored_test_nothing_is_explored() -> None:
    async def main() -> None:
        await checkpoint()
        explore(two_checkpoints)

    failure = explore(main).failure
    assert failure is not None
    assert isinstance(failure.error, ExploreUsageError)


def test_two_threads_explore_one_after_the_other() -> None:
    errors = list[BaseException]()

    def in_a_thread() -> None:
        try:
            explore(two_checkpoints)
        except ExploreUsageError as error:
            errors.append(error)

    def while_exploring(progress: object) -> None:
        thread = threading.Thread(target=in_a_thread)
        thread.start()
        thread.join()

    explore(workers(3), cancels=0, search="plain", executions=16, progress=while_exploring)
    explore(workers(3), cancels=0, search="plain", executions=17, progress=while_exploring)
    assert errors
    assert "another thread of this process explores" in str(errors[0])


# ==== what skips itself ====


@pytest.mark.parametrize("kind", [pytest.skip.Exception, pytest.xfail.Exception, unittest.SkipTest])
def test_a_test_that_skips_itself_in_its_first_schedule_is_skipped(
    kind: type[BaseException],
) -> None:
    async def program() -> None:
        async def skips() -> None:
            raise kind("not today")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(skips)
            nursery.start_soon(skips)

    with pytest.raises(kind, match="not today"):
        explore(program)
    with pytest.raises(kind, match="not today"):
        explore(program, replay="x1a::4.0000")


def arrives_in(skipped: list[int], wrong: list[int]) -> Callable[[], Any]:
    async def program() -> None:
        order = list[int]()

        async def arrives(n: int) -> None:
            order.append(n)

        async with trio.open_nursery() as nursery:
            for n in range(3):
                nursery.start_soon(arrives, n)
        if order == skipped:
            pytest.skip("this order tells nothing")
        assert order != wrong

    return program


def test_a_later_schedule_that_skips_the_test_hides_none_that_fails() -> None:
    assert explore(arrives_in([0, 2, 1], []), cancels=0).verdict is Verdict.CONFIRMED
    failure = explore(arrives_in([0, 2, 1], [2, 1, 0]), cancels=0).failure
    assert failure is not None
    assert failure.message.startswith("AssertionError")


def test_a_skip_beside_an_error_is_an_error() -> None:
    async def program() -> None:
        await two_checkpoints()
        raise BaseExceptionGroup("both", [pytest.skip.Exception("not today"), KeyError()])

    failure = explore(program, cancels=0).failure
    assert failure is not None
    assert failure.kind == "error"


# ==== settings ====


def test_an_unknown_setting_is_refused_with_all_that_there_are() -> None:
    with pytest.raises(TypeError, match=r"no setting 'cancel_s'; there are .*cancel, cancels, "):
        explore(two_checkpoints, cancel_s=1)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("order", "random", "order must be one of 'any', 'trio', not 'random'"),
        ("cancel", "all", "cancel must be one of 'scopes', 'tasks', 'own', not 'all'"),
        ("clock", "real", "clock must be one of 'autojump', 'explore', not 'real'"),
        ("search", "bfs", "search must be one of .*, not 'bfs'"),
        ("hashing", 64, "hashing must be one of '128', 'exact', not 64"),
        ("cancels", -1, "cancels must be an int >= 0, not -1"),
        ("cancels", True, "cancels must be an int >= 0, not True"),
        ("cancels", None, "cancels must be an int >= 0, not None"),
        ("executions", 0, "executions must be an int >= 1, not 0"),
        ("states", 1.5, "states must be an int >= 1, not 1.5"),
        ("max_steps", 0, "max_steps must be an int >= 1, not 0"),
        ("seconds", 0, "seconds must be > 0 or None for no bound, not 0"),
    ],
)
def test_a_setting_that_cannot_be_is_refused(name: str, value: object, text: str) -> None:
    with pytest.raises((ValueError, TypeError), match=text):
        explore(two_checkpoints, **{name: value})  # type: ignore[call-overload]
    with pytest.raises((ValueError, TypeError), match=text):
        explore(**{name: value})  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"liveness": True, "search": "plain"}, "liveness needs search='states', not 'plain'"),
        ({"search": "random", "executions": None}, "a random search never ends by itself"),
        ({"search": "sweep", "cancels": 2}, "a sweep makes one cancellation at a time, not"),
    ],
    ids=["liveness", "random", "sweep"],
)
def test_settings_that_do_not_go_together_are_refused(settings: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        Settings(**settings)


def test_what_is_covered_is_told_in_one_line() -> None:
    assert explore(two_checkpoints).covered.startswith("exhaustive: ")
    covered = explore(
        two_checkpoints, cancels=1, cancel="tasks", order="trio", clock="explore"
    ).covered
    assert covered.endswith("order=trio, cancels<=1 (tasks), clock=explore")
    assert explore(two_checkpoints, cancels=0).covered.endswith("order=any, cancels<=0")


# ==== the decorator ====


def test_a_decorated_test_explores_and_raises() -> None:
    explore(cancels=0)(two_checkpoints)()
    with pytest.raises(ExplorationFailed, match="DEADLOCK"):
        explore(cancels=0)(abba)()


def test_an_instance_that_is_finalized_is_refused() -> None:
    """Each execution would finalize its copy, as of a unittest.IsolatedAsyncioTestCase."""

    class Case(unittest.IsolatedAsyncioTestCase):
        @explore()
        async def test_method(self) -> None:
            await two_checkpoints()

    result = unittest.TestResult()
    Case("test_method")(result)
    [(_, text)] = result.errors
    assert "ExploreUsageError: each execution has a copy of the instance of Case" in text
    assert "in a class without __del__" in text


def test_the_states_of_a_test_of_unittest_are_compared() -> None:
    """Its instance knows who runs it, which no state of the program is to contain."""

    class Case(unittest.TestCase):
        def setUp(self) -> None:
            self.tasks = 3

        @explore(cancels=0, search="states", exhaustive=True, executions=10)
        async def test_method(self) -> None:
            await workers(self.tasks)()

    result: Any = unittest.TestResult()
    result.written = io.TextIOWrapper(io.BytesIO())
    Case("test_method")(result)
    [(_, text)] = result.failures
    assert "stopped after executions=10: 10 states" in text


def test_a_decorated_test_is_a_plain_function_with_its_other_parameters() -> None:
    @explore()
    async def test_something(x: ExploredRun, size: int, *, name: str = "a") -> None:
        """Say what it is."""
        assert (size, name) == (3, "a")
        await two_checkpoints()

    assert not inspect.iscoroutinefunction(test_something)
    assert list(inspect.signature(test_something).parameters) == ["size", "name"]
    assert test_something.__name__ == "test_something"
    assert test_something.__doc__ == "Say what it is."
    test_something(3)
    test_something(size=3)


def test_settings_of_a_call_win_over_those_of_the_decorator() -> None:
    decorated = explore(cancels=0, search="plain")(workers(2))
    again: Any = decorated  # what is explored is the async function behind it
    assert explore(again).executions == 6
    assert explore(again, order="trio").executions == 2


@pytest.mark.parametrize("name", ["replay", "progress"])
def test_what_belongs_to_one_run_is_no_setting_of_the_decorator(name: str) -> None:
    with pytest.raises(TypeError, match=r"belong to explore\(fn, \.\.\.\), not to the decorator"):
        explore(**{name: "x1a::1.0000"})  # type: ignore[call-overload]


def test_an_unfinished_search_warns_at_the_line_of_the_test() -> None:
    decorated = explore(executions=2, cancels=0, symmetry=False)(workers(3))
    with pytest.warns(NotExhaustiveWarning, match="raise the budget, or make the test smaller"):
        decorated()


def test_an_unfinished_search_fails_where_that_is_asked_for() -> None:
    decorated = explore(executions=2, cancels=0, symmetry=False, exhaustive=True)(workers(3))
    with pytest.raises(NotExhaustive):
        decorated()


# ==== replay ====


def token_of(program: Callable[..., Any], **settings: Any) -> str:
    failure = explore(program, **settings).failure
    assert failure is not None
    return failure.token


def makes(count: int, name: str = "worker", steps: int = 1) -> Callable[[], Any]:
    """A test that fails if the last task comes first; and it can be changed."""

    async def program() -> None:
        order = list[int]()

        async def arrives(n: int) -> None:
            for _ in range(steps):
                await checkpoint()
            order.append(n)

        async with trio.open_nursery() as nursery:
            for n in range(count):
                nursery.start_soon(arrives, n, name=name)
        assert order[0] != count - 1

    return program


def test_a_token_replays_the_failure_alone() -> None:
    found = explore(makes(3), cancels=0, replay=token_of(makes(3), cancels=0))
    assert found.verdict is Verdict.REFUTED
    assert found.failure is not None
    assert found.failure.kind == "error"
    assert found.unfinished == "one schedule was replayed"


def test_a_token_brings_its_order_with_it() -> None:
    token = token_of(makes(3), cancels=0, order="trio")
    assert token.startswith("x1t:")
    assert explore(makes(3), cancels=0, replay=token).failure is not None


def test_a_test_that_was_repaired_passes_the_replay() -> None:
    async def repaired() -> None:
        async def arrives(n: int) -> None:
            await checkpoint()

        async with trio.open_nursery() as nursery:
            for n in range(3):
                nursery.start_soon(arrives, n, name="worker")

    found = explore(repaired, cancels=0, replay=token_of(makes(3), cancels=0))
    assert found.failure is None
    assert found.verdict is Verdict.UNFINISHED


@pytest.mark.parametrize("changed", [makes(3, "renamed"), makes(2)], ids=["renamed", "fewer"])
def test_a_test_that_has_changed_is_told_at_which_step(changed: Callable[[], Any]) -> None:
    token = token_of(makes(3), cancels=0)
    with pytest.raises(
        ReplayError, match=r"no longer applies: the test changed at step \d+, where"
    ):
        explore(changed, cancels=0, replay=token)


def test_a_token_of_other_settings_names_those_that_it_may_need() -> None:
    async def program() -> None:
        with trio.CancelScope() as scope:
            await two_checkpoints()
        assert not scope.cancelled_caught

    token = token_of(program, cancels=1)
    with pytest.raises(
        ReplayError, match=r"other settings than cancels=0, cancel='scopes' and clock='autojump'"
    ):
        explore(program, cancels=0, replay=token)


def test_a_test_whose_other_steps_have_changed_is_noticed_too() -> None:
    token = token_of(makes(3), cancels=0)
    with pytest.raises(ReplayError, match="no longer applies"):
        explore(makes(4), cancels=0, replay=token)


def test_what_is_no_token_is_refused() -> None:
    with pytest.raises(ReplayError, match="is no schedule token"):
        explore(two_checkpoints, replay="latest")


def test_sweep_takes_no_other_search() -> None:
    assert sweep(two_checkpoints).settings.search == "sweep"


def test_the_package_lists_what_it_has() -> None:
    assert {"explore", "sweep", "ExploredRun", "Exploration", "Settings"} <= set(dir(testing))
