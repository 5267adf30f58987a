"""What makes no sense is refused, each for its own reason, and nothing is changed by it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from structsync import Arbiter
from structsync._core.primitives import rwlock
from structsync._core.primitives.barrier import BarrierCore
from structsync._core.primitives.condition import ConditionCore
from structsync._core.primitives.items import make_items
from structsync._core.primitives.lock import LockCore
from structsync._core.primitives.lock_map import LockMapCore
from structsync._core.primitives.rate_limiter import RateLimiterCore
from structsync._core.primitives.rwlock import READ, WRITE, Access, RWLockCore
from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.primitives.wait_queue import WaitQueueCore
from structsync._core.queue.arbiter import EndedForGood
from structsync._core.queue.policy import make_policy
from structsync._core.shared.kinds import KINDS
from structsync._core.shared.operations import Want
from structsync._core.shared.state import VERSION, SharedState

Refused = Callable[[Any], object]


def condition() -> ConditionCore:
    """Return a condition whose lock is broken."""
    core = ConditionCore(LockCore())
    core.lock.admit("owner")
    core.lock.cause = "its owner has exited"
    return core


def inside(*accesses: Access) -> RWLockCore:
    core = RWLockCore()
    for one in accesses:
        core.admit(one)
    return core


#: How each core is made, what makes no sense there, and a part of the sentence that says so.
ON_CORES: list[tuple[Callable[[], Arbiter[Any]], Refused, type[Exception], str]] = [
    (lambda: BarrierCore(2), lambda core: core.discharge(None), NotImplementedError, "released"),
    (lambda: BarrierCore(0), lambda core: core.remove_party(), RuntimeError, "have left it"),
    (lambda: BarrierCore(0), lambda core: core.enqueue(None), RuntimeError, "make a new one"),
    (condition, lambda core: core.admit("one"), NotImplementedError, "its lock does"),
    (condition, lambda core: core.discharge("one"), NotImplementedError, "its lock does"),
    (condition, lambda core: core.wait("owner", "one"), EndedForGood, "its owner has exited"),
    (WaitQueueCore, lambda core: core.discharge(None), NotImplementedError, "released"),
    (lambda: RateLimiterCore(1, 1, 1), lambda core: core.discharge(1), NotImplementedError, "time"),
    (lambda: LockMapCore({}), lambda core: core.enqueue("key"), NotImplementedError, "acquired by"),
    (lambda: LockMapCore({}), lambda core: core.submit("key"), NotImplementedError, "acquired by"),
    (lambda: LockMapCore({}), lambda core: core.admit("key"), NotImplementedError, "acquired by"),
    (lambda: LockMapCore({}), lambda core: core.release("key"), NotImplementedError, "released by"),
    (LockCore, lambda core: core.sum_of(["one", "one"]), RuntimeError, "have no sum"),
    (lambda: SemaphoreCore(1), lambda core: core.resize(2), ValueError, "unbounded"),
    (
        lambda: inside(Access(READ, 1)),
        lambda core: core.downgrade(1),
        RuntimeError,
        "can't downgrade",
    ),
]

SNAPSHOT = SharedState().snapshot()

#: What is asked for, and a part of the sentence that refuses it.
ELSEWHERE: list[tuple[Callable[[], object], type[Exception], str]] = [
    (lambda: make_items("random"), ValueError, "policy must be 'fifo', 'lifo' or"),
    (lambda: rwlock.make_core("random"), ValueError, "policy must be 'fifo', 'phase',"),
    (lambda: make_policy("random", 1), ValueError, "policy must be 'fifo', 'eligible' or"),
    (lambda: make_policy("priority", -1), ValueError, "ageing must be >= 0"),
    (lambda: make_policy("priority", True), TypeError, "ageing must be an int or None"),
    (lambda: make_policy("fifo", "1"), TypeError, "ageing must be an int or None"),  # type: ignore[arg-type]
    (lambda: KINDS["latch"].make(0), ValueError, "the number of counts must be an int >= 1"),
    (lambda: KINDS["semaphore"].make(True), ValueError, "the number of permits must be an int"),
    (lambda: SharedState().core_of(Want("it", "gate")), ValueError, "no shared primitive of"),
    (lambda: SharedState().restore((VERSION + 1, *SNAPSHOT[1:])), ValueError, "one version in all"),
]


def what_no_core_of_its_kind_does_is_refused(which: int) -> None:
    assert 0 <= which < 15
    make, refused, kind, words = ON_CORES[which]
    core, twin = make(), make()
    try:
        refused(core)
    except (RuntimeError, ValueError, EndedForGood) as error:
        raised: Exception = error
    else:
        raise AssertionError("done")
    assert type(raised) is kind
    assert words in str(raised)
    assert core.snapshot() == twin.snapshot()


def what_does_not_exist_is_not_made(which: int) -> None:
    assert 0 <= which < 10
    asked, kind, words = ELSEWHERE[which]
    try:
        asked()
    except (TypeError, ValueError) as error:
        raised: Exception = error
    else:
        raise AssertionError("made")
    assert type(raised) is kind
    assert words in str(raised)


def what_exists_is_made(which: int, ageing: int) -> None:
    assert 0 <= which < 4
    assert 0 <= ageing <= 1
    name = ("fifo", "phase", "readers", "writers")[which]
    core = rwlock.make_core(name)
    assert core.policy.name == name
    assert core.is_idle
    assert type(core) is (rwlock.PhaseFairCore if name == "phase" else RWLockCore)
    assert core.later is (None, READ, WRITE, READ)[which]
    assert make_policy("priority", ageing).name == "priority"
    assert make_policy("priority", None).name == "priority"
    assert KINDS["latch"].make(ageing + 1).snapshot() != KINDS["latch"].make(ageing + 2).snapshot()
