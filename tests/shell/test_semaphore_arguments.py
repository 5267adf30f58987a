"""What a semaphore refuses, and in which words: I7, I1, and the arguments of the constructor."""

import math
from collections.abc import Callable
from typing import Any

import pytest
import trio

from structsync import Semaphore

NOT_INTS = [True, False, 1.5, 1.0, math.inf, math.nan, "1", b"1", None, [1]]
TOO_SMALL = [0, -1, -(10**30)]

VERBS: list[Callable[[Semaphore, Any], object]] = [
    Semaphore.acquire,
    Semaphore.acquire_nowait,
    Semaphore.release,
    Semaphore.permits,
    Semaphore.request,
]
each_verb = pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.__name__)


async def call(verb: Callable[[Semaphore, Any], Any], semaphore: Semaphore, n: object) -> None:
    result = verb(semaphore, n)
    if verb is Semaphore.acquire:
        await result
    elif verb is Semaphore.permits:
        async with result:
            pass


@each_verb
@pytest.mark.parametrize("n", NOT_INTS, ids=repr)
async def test_a_weight_that_is_no_int_is_a_type_error(verb: Any, n: object) -> None:
    semaphore = Semaphore(3)
    with pytest.raises(TypeError, match="n must be an int, not "):
        await call(verb, semaphore, n)
    assert semaphore.value == 3


@each_verb
@pytest.mark.parametrize("n", TOO_SMALL)
async def test_a_weight_below_one_is_a_value_error(verb: Any, n: int) -> None:
    semaphore = Semaphore(3)
    with pytest.raises(ValueError, match=f"n must be >= 1, not {n}"):
        await call(verb, semaphore, n)
    assert semaphore.value == 3


@pytest.mark.parametrize(
    "verb", [v for v in VERBS if v is not Semaphore.release], ids=lambda verb: verb.__name__
)
async def test_a_weight_above_the_maximum_is_refused_at_once_and_never_queued(verb: Any) -> None:
    """D8 of the bugs of peers: 5 of a semaphore of 2 killed the whole semaphore."""
    semaphore = Semaphore(2, max_value=2)
    with pytest.raises(
        ValueError, match=r"cannot acquire 5 permits.*never had more than 2.*resize"
    ):
        await call(verb, semaphore, 5)
    assert semaphore.statistics().tasks_waiting == 0


async def test_a_weight_above_the_maximum_is_refused_while_others_wait() -> None:
    semaphore = Semaphore(2, max_value=2)
    semaphore.acquire_nowait(2)
    request = semaphore.request()
    with pytest.raises(ValueError, match="cannot acquire 3 permits"):
        await semaphore.acquire(3)
    assert request.withdraw()


async def test_any_weight_may_wait_for_an_unbounded_semaphore() -> None:
    semaphore = Semaphore(0)
    request = semaphore.request(1000)
    semaphore.release(1000)
    assert request.status == "granted"


def test_releasing_more_than_was_acquired_is_refused_on_a_bounded_semaphore() -> None:
    semaphore = Semaphore(1, max_value=2)
    semaphore.release()
    with pytest.raises(ValueError, match="released too many times"):
        semaphore.release()
    assert semaphore.value == 2


def test_a_release_that_is_too_large_gives_back_nothing() -> None:
    semaphore = Semaphore(0, max_value=2)
    with pytest.raises(ValueError, match="released too many times"):
        semaphore.release(3)
    assert semaphore.value == 0


def test_an_unbounded_semaphore_may_be_released_at_any_time() -> None:
    semaphore = Semaphore(0)
    semaphore.release(7)
    assert semaphore.value == 7


@pytest.mark.parametrize("initial", [True, 1.5, "1", b""], ids=repr)
def test_an_initial_value_that_is_no_int_is_a_type_error(initial: Any) -> None:
    with pytest.raises(TypeError, match="initial_value must be an int"):
        Semaphore(initial)


def test_an_initial_value_of_none_is_a_type_error() -> None:
    missing: Any = None
    with pytest.raises(TypeError, match="initial_value must be an int"):
        Semaphore(missing)


@pytest.mark.parametrize("maximum", [True, 1.5, "1"], ids=repr)
def test_a_maximum_that_is_no_int_is_a_type_error(maximum: Any) -> None:
    with pytest.raises(TypeError, match="max_value must be an int"):
        Semaphore(0, max_value=maximum)


def test_a_negative_initial_value_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="initial value must be >= 0"):
        Semaphore(-1)


def test_a_maximum_below_the_initial_value_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="must be >= initial_value"):
        Semaphore(2, max_value=1)


def test_an_unknown_policy_is_refused_with_the_known_ones() -> None:
    unknown: Any = "lifo"
    with pytest.raises(ValueError, match="'fifo', 'eligible' or 'priority', not 'lifo'"):
        Semaphore(1, policy=unknown)


def test_an_unknown_checkpoint_mode_is_refused_with_the_known_ones() -> None:
    unknown: Any = "never"
    with pytest.raises(ValueError, match="'always' or 'budget', not 'never'"):
        Semaphore(1, checkpoint=unknown)


@pytest.mark.parametrize("ageing", [True, 1.5, "1"], ids=repr)
def test_an_ageing_that_is_no_int_is_a_type_error(ageing: Any) -> None:
    with pytest.raises(TypeError, match="ageing must be an int or None"):
        Semaphore(1, policy="priority", ageing=ageing)


def test_a_negative_ageing_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="ageing must be >= 0, not -1"):
        Semaphore(1, policy="priority", ageing=-1)


PRIORITY_VERBS: list[Callable[..., Any]] = [
    Semaphore.acquire,
    Semaphore.permits,
    Semaphore.request,
]


@pytest.mark.parametrize("verb", PRIORITY_VERBS, ids=lambda verb: verb.__name__)
@pytest.mark.parametrize("policy", ["fifo", "eligible"])
async def test_a_priority_without_the_policy_is_a_value_error(verb: Any, policy: Any) -> None:
    semaphore = Semaphore(1, policy=policy)
    with pytest.raises(ValueError, match=f"policy '{policy}', not 3; .*policy='priority'"):
        result = verb(semaphore, priority=3)
        if verb is Semaphore.acquire:
            await result
    assert semaphore.value == 1


@pytest.mark.parametrize("priority", [True, False, 0.0, 1.5, "1", None], ids=repr)
async def test_a_priority_that_is_no_int_is_a_type_error(priority: Any) -> None:
    with pytest.raises(TypeError, match="priority must be an int"):
        await Semaphore(1, policy="priority").acquire(priority=priority)


async def test_a_priority_of_zero_is_allowed_everywhere() -> None:
    await Semaphore(1).acquire(priority=0)


@pytest.mark.parametrize("maximum", [True, 1.5, "1", None], ids=repr)
def test_a_resize_to_what_is_no_int_is_a_type_error(maximum: Any) -> None:
    with pytest.raises(TypeError, match="max_value must be an int"):
        Semaphore(1, max_value=1).resize(maximum)


def test_a_resize_below_zero_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="max_value must be >= 0, not -1"):
        Semaphore(1, max_value=1).resize(-1)


def test_an_unbounded_semaphore_cannot_be_resized() -> None:
    semaphore = Semaphore(1)
    with pytest.raises(ValueError, match="cannot resize an unbounded semaphore"):
        semaphore.resize(2)
    assert (semaphore.value, semaphore.max_value) == (1, None)


async def test_a_refused_acquire_in_a_cancelled_scope_takes_no_place_in_queue() -> None:
    semaphore = Semaphore(1, max_value=1)
    with trio.move_on_after(0):
        with pytest.raises(ValueError, match="cannot acquire 2 permits"):
            await semaphore.acquire(2)
    assert semaphore.statistics().tasks_waiting == 0
