"""A semaphore's numbers: permits are conserved, and what is refused changes nothing."""

from __future__ import annotations

from structsync._core.primitives.semaphore import SemaphoreCore

# The error spells its numbers out, and no solver follows the digits of just any number.
SPELLED = 4


def a_claim_is_granted_from_what_is_there(value: int, n: int) -> None:
    assert n >= 1
    core = SemaphoreCore(value)
    if core.admits(n):
        core.admit(n)
        assert core.value == value - n >= 0
    else:
        assert core.value == value < n


def a_release_adds_what_it_releases(value: int, n: int) -> None:
    assert n >= 1
    core = SemaphoreCore(value)
    core.discharge(n)
    assert core.value == value + n


def a_release_above_the_maximum_is_refused_and_changes_nothing(
    value: int, max_value: int, n: int
) -> None:
    assert value <= max_value
    assert n >= 1
    core = SemaphoreCore(value, max_value=max_value)
    try:
        core.discharge(n)
    except ValueError:
        assert core.value == value > max_value - n
    else:
        assert core.value == value + n <= max_value
    assert core.max_value == core.largest == max_value


def a_resize_leaves_the_permits_that_are_out_alone(
    value: int, max_value: int, largest: int, new: int
) -> None:
    assert value <= max_value <= largest  # a value below 0: shrunk below what is out
    assert max_value >= 0
    assert new >= 0
    core = SemaphoreCore(value, max_value=max_value)
    core.largest = largest
    assert core.resize(new) == []
    assert core.max_value == new
    assert new - core.value == max_value - value


def a_resize_never_forgets_the_largest_maximum(max_value: int, largest: int, new: int) -> None:
    assert 0 <= max_value <= largest
    assert new >= 0
    core = SemaphoreCore(max_value, max_value=max_value)
    core.largest = largest
    core.resize(new)
    assert core.largest >= largest
    assert core.largest >= new
    assert core.largest in (largest, new)


def a_claim_that_once_fitted_is_queued(value: int, max_value: int, largest: int, n: int) -> None:
    assert value <= max_value <= largest
    assert value < n <= largest
    core = SemaphoreCore(value, max_value=max_value)
    core.largest = largest
    request = core.enqueue(n)
    assert core.waiting() == [request]
    assert core.value == value


def a_claim_that_never_fitted_is_refused_and_not_queued(largest: int, n: int) -> None:
    assert 0 <= largest < n <= SPELLED
    core = SemaphoreCore(0, max_value=0)
    core.largest = largest
    try:
        core.enqueue(n)
    except ValueError:
        assert not core.queue
        assert core.next_ticket == core.value == 0
    else:
        raise AssertionError("queued")


def an_unbounded_semaphore_cannot_be_resized(value: int, new: int) -> None:
    assert new >= 0
    core = SemaphoreCore(value)
    try:
        core.resize(new)
    except ValueError:
        assert core.value == value
        assert core.max_value is None
    else:
        raise AssertionError("resized")
