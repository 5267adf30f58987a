"""``x``: what a test can demand besides what its own assertions say."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import trio
from trio.lowlevel import checkpoint

import structsync
from structsync.testing import ExploredRun, ExploreUsageError, Verdict, explore

from .conftest import failure_of, two_checkpoints


async def two(function: Callable[..., Any], *args: Any) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(function, *args)
        nursery.start_soon(function, *args)


# ==== exclusive ====


def sections(limit: int, tasks: int) -> Callable[[ExploredRun], Any]:
    async def program(x: ExploredRun) -> None:
        async def enters() -> None:
            with x.exclusive("the bridge", limit=limit):
                await checkpoint()

        async with trio.open_nursery() as nursery:
            for _ in range(tasks):
                nursery.start_soon(enters)

    return program


def test_two_tasks_in_an_exclusive_section_are_a_violation() -> None:
    failure = failure_of(sections(1, 2))
    assert failure.kind == "violation"
    assert failure.message == ("enters#0 and enters#1 are in 'the bridge' at once; the limit is 1")


def test_as_many_as_the_limit_says_may_be_inside() -> None:
    assert explore(sections(2, 2), cancels=0).failure is None
    assert failure_of(sections(2, 3)).kind == "violation"


def test_a_section_is_left_by_an_error_too() -> None:
    async def program(x: ExploredRun) -> None:
        for _ in range(2):
            with pytest.raises(KeyError), x.exclusive("inside"):
                raise KeyError
        await two_checkpoints()

    assert explore(program, cancels=0).failure is None


@pytest.mark.unmeasured
def test_in_which_order_sections_were_first_entered_is_no_part_of_a_state() -> None:
    """If it came back with the next task in them, it would be what no state before had shown."""

    async def program(x: ExploredRun) -> None:
        async def twice(name: str) -> None:
            for _ in range(2):
                with x.exclusive(name):
                    await checkpoint()
                await checkpoint()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(twice, "one")
            nursery.start_soon(twice, "two")

    assert explore(program, search="states", cancels=0).verdict is Verdict.CONFIRMED


def test_a_lock_makes_a_section_exclusive() -> None:
    async def program(x: ExploredRun) -> None:
        lock = structsync.Lock()

        async def enters() -> None:
            async with lock:
                with x.exclusive("inside"):
                    await checkpoint()

        await two(enters)

    assert explore(program, cancels=1, cancel="tasks").failure is None


# ==== always, finally_, fail ====


def counts(demand: Callable[[ExploredRun, list[int]], None]) -> Callable[[ExploredRun], Any]:
    """Two tasks that each count up and down again."""

    async def program(x: ExploredRun) -> None:
        count = [0]
        demand(x, count)

        async def works() -> None:
            count[0] += 1
            await checkpoint()
            count[0] -= 1

        await two(works)

    return program


def test_what_must_always_hold_is_looked_at_after_each_step() -> None:
    failure = failure_of(counts(lambda x, count: x.always(lambda: count[0] < 2, "one at a time")))
    assert (failure.kind, failure.message) == ("violation", "not always: one at a time")


def test_what_always_holds_is_no_violation() -> None:
    program = counts(lambda x, count: x.always(lambda: 0 <= count[0] <= 2, "bounded"))
    assert explore(program, cancels=0).failure is None


def test_a_predicate_may_assert_and_its_words_are_kept() -> None:
    def small(count: list[int]) -> bool:
        assert count[0] < 2, f"there are {count[0]}"
        return True

    def demand(x: ExploredRun, count: list[int]) -> None:
        def is_small() -> bool:
            return small(count)

        x.always(is_small)

    assert failure_of(counts(demand)).message.startswith("not always: is_small: there are 2")


def test_a_predicate_that_cannot_be_evaluated_does_not_hold() -> None:
    failure = failure_of(counts(lambda x, count: x.always(lambda: count[1] == 0, "the second")))
    assert failure.message == (
        "not always: the second: it raises IndexError: list index out of range"
    )


def test_what_must_hold_at_the_end_may_be_broken_before() -> None:
    program = counts(lambda x, count: x.finally_(lambda: count[0] == 0, "all are out"))
    assert explore(program, cancels=0).failure is None


def test_what_does_not_hold_at_the_end_is_a_violation() -> None:
    failure = failure_of(counts(lambda x, count: x.finally_(lambda: count[0] == 7, "seven")))
    assert (failure.kind, failure.message) == ("violation", "not so at the end: seven")


def test_a_predicate_without_a_text_is_called_by_its_name() -> None:
    def is_seven() -> bool:
        return False

    failure = failure_of(counts(lambda x, count: x.finally_(is_seven)))
    assert failure.message == "not so at the end: is_seven"


def test_a_test_may_fail_by_itself() -> None:
    async def program(x: ExploredRun) -> None:
        order = list[int]()

        async def arrives(n: int) -> None:
            order.append(n)
            if order == [1]:
                x.fail("1 came first")
                x.fail("of two, the first counts")
            await checkpoint()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(arrives, 0)
            nursery.start_soon(arrives, 1)

    failure = failure_of(program)
    assert (failure.kind, failure.message) == ("violation", "1 came first")
    assert failure.deviations == 1


def test_a_failure_in_the_last_step_counts() -> None:
    async def program(x: ExploredRun) -> None:
        await two_checkpoints()
        x.fail("too late?")

    assert failure_of(program).message == "too late?"


# ==== watch ====


def test_a_watched_primitive_has_a_name_in_the_report() -> None:
    async def program(x: ExploredRun) -> None:
        semaphore = trio.Semaphore(1)
        x.watch(slots=semaphore)
        await two(semaphore.acquire)

    shown = failure_of(program).counterexample
    assert shown.steps[-1].state == {"slots": "0 free, 1 waiting"}
    assert shown.blocked[-1].why.startswith("waits for slots: 0 free")


def test_a_watched_object_without_a_name_is_called_by_its_class() -> None:
    class Gate:
        def __repr__(self) -> str:
            return "<a gate>"

    async def program(x: ExploredRun) -> None:
        x.watch(Gate())
        await two_checkpoints()
        x.fail("now look")
        await checkpoint()

    assert failure_of(program).counterexample.steps[-1].state == {"Gate": "<a gate>"}


class Turnstile:
    """A user's own lock; with a bug, it forgets to open again."""

    def __init__(self, sound: bool) -> None:
        self._sound = sound
        self._free = trio.Event()
        self._free.set()

    async def acquire(self) -> None:
        await self._free.wait()
        self._free = trio.Event()

    def release(self) -> None:
        if self._sound:
            self._free.set()


@pytest.mark.parametrize("sound", [True, False])
def test_what_the_user_has_built_must_be_possible_to_acquire_at_the_end(sound: bool) -> None:
    async def program(x: ExploredRun) -> None:
        turnstile = Turnstile(sound)
        x.watch(entrance=turnstile)
        await turnstile.acquire()
        turnstile.release()
        await two_checkpoints()

    if sound:
        assert explore(program, cancels=0).failure is None
        return
    failure = failure_of(program)
    assert failure.kind == "deadlock"
    assert failure.message == ("entrance cannot be acquired again at the end: main waits forever")


@pytest.mark.parametrize("sound", [True, False])
def test_it_may_also_be_released_by_an_async_method(sound: bool) -> None:
    class Gate(Turnstile):
        async def release(self) -> None:  # type: ignore[override]
            await checkpoint()
            super().release()

    async def program(x: ExploredRun) -> None:
        gate = Gate(sound)
        x.watch(entrance=gate)
        await two_checkpoints()
        await gate.acquire()
        await gate.release()

    failure = explore(program, cancels=0).failure
    assert (failure is None) == sound
    assert failure is None or "entrance cannot be acquired again at the end" in failure.message


def test_what_needs_arguments_is_not_probed() -> None:
    class Pool:
        async def acquire(self, count: int) -> None:
            raise AssertionError("how many?")

        def release(self) -> None:
            raise AssertionError("how many?")

    async def program(x: ExploredRun) -> None:
        x.watch(Pool())
        await two_checkpoints()

    assert explore(program, cancels=0).failure is None


def test_what_can_only_be_acquired_is_not_probed() -> None:
    class Half:
        def acquire(self) -> None:
            raise AssertionError("who would give it back?")

    async def program(x: ExploredRun) -> None:
        x.watch(Half())
        await two_checkpoints()

    assert explore(program, cancels=0).failure is None


def test_watching_twice_gives_it_the_second_name() -> None:
    async def program(x: ExploredRun) -> None:
        event = trio.Event()
        x.watch(event)
        x.watch(go=event)
        await two(event.wait)

    assert failure_of(program).counterexample.steps[-1].state == {"go": "not set, 2 waiting"}


# ==== what cannot fail ====


def answers_with(answer: Callable[[], object]) -> Callable[[ExploredRun], Any]:
    async def program(x: ExploredRun) -> None:
        x.always(answer, "it holds")
        await two_checkpoints()

    return program


async def is_so() -> bool:
    return False


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        (lambda: trio.Event().is_set, "<bound method Event.is_set"),
        (lambda: (False, "with a text"), r"\(False, 'with a text'\)"),
        (lambda: (one < 0 for one in [1]), "<generator object"),
        (lambda: is_so(), "<coroutine object is_so"),
    ],
    ids=["a method", "a tuple", "a generator", "a coroutine"],
)
def test_a_predicate_whose_answer_is_always_true_is_refused(
    answer: Callable[[], object], shown: str
) -> None:
    with pytest.raises(ExploreUsageError, match=f"the predicate 'it holds' returned {shown}"):
        explore(answers_with(answer), cancels=0)

    async def at_the_end(x: ExploredRun) -> None:
        x.finally_(answer)
        x.finally_(answer, "once is enough")
        await two_checkpoints()

    with pytest.raises(
        ExploreUsageError, match=r"returned .*, which always counts as true, so that"
    ):
        explore(at_the_end, cancels=0)


def test_of_two_mistakes_the_first_is_told() -> None:
    async def program(x: ExploredRun) -> None:
        x.always(lambda: (False, "a tuple"), "one")
        x.always(lambda: (False, "a tuple"), "other")
        await two_checkpoints()

    with pytest.raises(ExploreUsageError, match="the predicate 'one'"):
        explore(program, cancels=0)

    async def with_an_unused_block(x: ExploredRun) -> None:
        x.finally_(lambda: (False, "a tuple"), "last")
        x.exclusive("a")
        await two_checkpoints()

    with pytest.raises(ExploreUsageError):
        explore(with_an_unused_block, cancels=0)


def test_an_answer_may_be_anything_else_that_is_true_or_false() -> None:
    holds: list[object] = [1, "yes", [0]]
    for held in holds:
        assert explore(answers_with(partial(lambda one: one, held)), cancels=0).failure is None
    fails: list[object] = [0, "", (), None]
    for failed in fails:
        assert failure_of(answers_with(partial(lambda one: one, failed))).kind == "violation"


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda x: x.exclusive("a"),
            r"x\.exclusive\('a'\) was made and never entered.*write 'with x",
        ),
        (lambda x: x.not_cancelled(), r"x\.not_cancelled\(\) was made and never entered"),
    ],
    ids=["exclusive", "not cancelled"],
)
def test_a_block_that_no_task_enters_is_refused(
    make: Callable[[ExploredRun], object], text: str
) -> None:
    async def program(x: ExploredRun) -> None:
        make(x)
        await two_checkpoints()

    with pytest.raises(ExploreUsageError, match=text):
        explore(program)


def test_a_block_may_be_made_before_it_is_entered_and_more_than_once() -> None:
    async def program(x: ExploredRun) -> None:
        bridge = x.exclusive("the bridge")
        with trio.CancelScope():
            await checkpoint()  # a cancellation here leaves it unused
            with bridge:
                await checkpoint()
            with bridge:
                await checkpoint()
        await two_checkpoints()

    assert explore(program).failure is None


# ==== bad arguments ====


@pytest.mark.parametrize(
    ("use", "error", "text"),
    [
        (lambda x: x.exclusive("a", limit=0), ValueError, "limit must be .*1, not 0"),
        (lambda x: x.exclusive("a", limit=True), TypeError, "limit must be an int, not True"),
        (lambda x: x.exclusive("a", limit=1.5), TypeError, "limit must be an int"),
        (
            lambda x: (x.exclusive("a", limit=1), x.exclusive("a", limit=2)),
            ValueError,
            "the section 'a' has the limit 1, not 2; give two sections two names",
        ),
        (lambda x: x.always(True), TypeError, "predicate"),
        (lambda x: x.always(two_checkpoints), TypeError, "predicate"),
        (lambda x: x.finally_(two_checkpoints), TypeError, "predicate"),
    ],
    ids=["zero", "a bool", "a float", "another limit", "no function", "async", "async at the end"],
)
def test_a_wrong_use_is_told_at_once(
    use: Callable[[ExploredRun], object], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        use(ExploredRun())


def test_a_wrong_use_inside_of_a_test_is_its_error() -> None:
    async def program(x: ExploredRun) -> None:
        await two_checkpoints()
        x.exclusive("a", limit=0)

    failure = failure_of(program)
    assert (failure.kind, type(failure.error)) == ("error", ValueError)


def test_a_task_of_another_task_is_named_as_trio_names_it() -> None:
    x = ExploredRun()
    assert x._name_of("a borrower") == "a borrower"


def test_each_execution_has_a_handle_of_its_own() -> None:
    async def program(x: ExploredRun) -> None:
        assert x._always == []
        x.always(lambda: True)
        await two_checkpoints()

    assert explore(program, cancels=0).failure is None


def test_in_a_plain_run_the_handle_is_there_and_checks_nothing() -> None:
    """So a test function can be called by hand, to look at it with a debugger."""

    async def program(x: ExploredRun) -> None:
        x.request()
        x.watch(x.ghost(structsync.Lock()))
        x.always(lambda: False)
        with x.exclusive("a"), x.exclusive("a"):
            await checkpoint()
        x.progress()
        assert x._wanting() == set()

    trio.run(program, ExploredRun())
