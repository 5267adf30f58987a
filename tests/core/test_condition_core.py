"""The transitions of a condition's core: two stages, and a notification that is never lost."""

from __future__ import annotations

from typing import Any, cast

import pytest

from structsync._core.monitors.entry import EntryCore, Guard, Invocation
from structsync._core.monitors.monitor import MonitorCore
from structsync._core.primitives.condition import ConditionCore
from structsync._core.primitives.lock import LockCore
from structsync._core.queue.request import Request


class Room:
    """A lock and a condition on it; tasks are letters."""

    def __init__(self, *waiters: str) -> None:
        self.lock = LockCore()
        self.condition = ConditionCore(self.lock)
        self.waits: dict[str, Request[Any]] = {}
        for who in waiters:
            self.lock.submit(who, waiter=who)
            self.waits[who], _ = self.condition.wait(who, who)

    def owned_by(self, who: str) -> Room:
        self.lock.submit(who, waiter=who)
        assert self.lock.owner == who
        return self

    def in_the_locks_queue(self) -> list[str]:
        return [request.waiter for request in self.lock.waiting()]

    def unnotified(self) -> list[str]:
        return [request.waiter for request in self.condition.waiting()]


def test_waiting_releases_the_lock_in_the_same_step() -> None:
    room = Room().owned_by("a")
    room.lock.submit("b", waiter="b")
    _, ended = room.condition.wait("a", "a")
    assert [request.waiter for request in ended] == ["b"]
    assert room.lock.owner == "b"


def test_a_notification_moves_the_oldest_waiters_behind_those_who_want_the_lock() -> None:
    room = Room("a", "b", "c").owned_by("x")
    room.lock.submit("y", waiter="y")
    room.condition.notify(2)
    assert room.in_the_locks_queue() == ["y", "a", "b"]
    assert room.unnotified() == ["c"]


def test_a_notified_waiter_is_granted_only_when_it_owns_the_lock() -> None:
    room = Room("a").owned_by("x")
    room.condition.notify(1)
    assert room.waits["a"].status == "pending"
    room.lock.release("x")
    assert room.waits["a"].status == "granted"
    assert room.lock.owner == "a"


def test_notifying_no_task_is_not_kept() -> None:
    room = Room().owned_by("a")
    room.condition.notify(1)
    room.condition.wait("a", "a")
    assert room.unnotified() == ["a"]


def test_a_notified_waiter_that_is_cancelled_hands_its_place_to_the_oldest_unnotified_one() -> None:
    room = Room("a", "b", "c").owned_by("x")
    room.condition.notify(1)
    room.lock.submit("y", waiter="y")
    room.condition.cancel(room.waits["a"])
    assert room.in_the_locks_queue() == ["b", "y", "a"]
    assert room.unnotified() == ["c"]


def test_without_an_heir_the_notification_ends_as_if_the_cancelled_one_had_never_waited() -> None:
    room = Room("a").owned_by("x")
    room.condition.notify(1)
    room.condition.cancel(room.waits["a"])
    room.lock.submit("b", waiter="b")
    assert room.in_the_locks_queue() == ["a", "b"]
    assert room.waits["a"].status == "withdrawn"


def test_an_unnotified_waiter_that_is_cancelled_joins_the_locks_queue_at_the_end() -> None:
    room = Room("a", "b").owned_by("x")
    room.lock.submit("y", waiter="y")
    room.condition.cancel(room.waits["a"])
    assert room.in_the_locks_queue() == ["y", "a"]
    assert room.unnotified() == ["b"]


def test_a_waiter_cancelled_while_the_lock_is_free_owns_it_at_once() -> None:
    room = Room("a")
    ended = room.condition.cancel(room.waits["a"])
    assert ended is not None
    assert [(request.waiter, request.status) for request in ended] == [("a", "granted")]
    assert room.lock.owner == "a"


def test_cancelling_a_granted_wait_changes_nothing() -> None:
    room = Room("a").owned_by("x")
    room.condition.notify(1)
    room.lock.release("x")
    before = room.lock.snapshot()
    assert room.condition.cancel(room.waits["a"]) is None
    assert room.lock.snapshot() == before


def test_a_cancelled_waiter_on_its_way_out_cannot_be_cancelled_again() -> None:
    room = Room("a").owned_by("x")
    room.condition.cancel(room.waits["a"])
    assert room.condition.cancel(room.waits["a"]) is None
    assert room.in_the_locks_queue() == ["a"]


def test_the_end_of_the_lock_breaks_the_waiters_of_its_conditions() -> None:
    room = Room("a", "b").owned_by("x")
    room.condition.notify(1)
    room.lock.end("gone")
    assert [(wait.status, wait.cause) for wait in room.waits.values()] == [("broken", "gone")] * 2


def test_the_end_of_a_condition_sends_its_waiters_to_the_lock() -> None:
    room = Room("a", "b", "c").owned_by("x")
    room.condition.notify(1)
    room.condition.end("closed")
    assert room.in_the_locks_queue() == ["a", "b", "c"]
    assert [wait.status for wait in room.waits.values()] == ["pending", "broken", "broken"]


def test_a_lock_with_waiters_on_a_condition_is_not_idle() -> None:
    room = Room("a")
    assert not room.lock.is_idle
    room.condition.cancel(room.waits["a"])
    room.lock.release("a")
    assert room.lock.is_idle


@pytest.mark.parametrize("verb", ["wait", "notify"])
def test_only_the_owner_of_the_lock_may_wait_or_notify(verb: str) -> None:
    with pytest.raises(RuntimeError, match=f"must hold the lock to {verb}"):
        Room().owned_by("x").condition.refuse_unless_owner("a", verb)


def test_a_condition_holds_nothing_that_could_be_given_back() -> None:
    with pytest.raises(NotImplementedError):
        Room().condition.discharge("a")


def test_restoring_a_condition_tells_its_lock_who_waits() -> None:
    room = Room("a")
    queue = room.condition.snapshot()
    lock = LockCore()
    lock.restore(room.lock.snapshot())
    restored = ConditionCore(lock)
    restored.restore(queue)
    assert [request.waiter for request in lock.end("gone")] == ["a"]


def test_restoring_an_empty_condition_tells_its_lock_that_no_task_waits() -> None:
    room = Room("a")
    room.condition.restore(ConditionCore(LockCore()).snapshot())
    assert room.lock.is_idle


def test_a_condition_itself_grants_and_holds_nothing() -> None:
    condition = ConditionCore(LockCore())
    assert not condition.admissible("a")
    for function in (condition.admit, condition.discharge):
        with pytest.raises(NotImplementedError, match="its lock does"):
            function("a")


def test_the_end_of_a_condition_that_no_task_waits_on_lets_no_task_in() -> None:
    """It may be ended in another thread than that of the run that uses the lock."""
    monitor, ready = MonitorCore(), list[int]()
    condition = ConditionCore(cast("LockCore", monitor))
    call, _ = monitor.arrive(Invocation(EntryCore("go", Guard(lambda: ready)), "a"))
    ready.append(1)  # and nothing has said so
    assert condition.end("closed") == []
    assert call.status == "pending"
    assert monitor.settle() == [call]
