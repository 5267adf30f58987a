"""On random programs the guard is silent where they can finish, and speaks where a cycle keeps them from it.

The explorer decides which is which. Each program is explored twice. Under a guard that only notes:
where an execution finishes, nothing may have been noted. Under a guard that raises, in tasks that end
by that: no execution may end in a deadlock, if every owner in the program is known. So a wrong alarm is
a program that finishes, and a missing one is a deadlock that is left.

The number of programs of the long test is DEADLOCK_PROGRAMS, and DEADLOCK_SEED makes them others; see
the environment "deadlocks" in tox.ini.
"""

from __future__ import annotations

import os
import random
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import pytest
import trio

from structsync._core.primitives.resource_pool import ResourcePoolCore
from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.queue import waits_for
from structsync.observing import deadlock, needs
from structsync.testing import Settings
from structsync.testing._search.search import explore_outcomes

from .random_programs import Op, Program, Shared, draw, under_guard

SEED = os.environ.get("DEADLOCK_SEED", "1")
PROGRAMS = int(os.environ.get("DEADLOCK_PROGRAMS", "1000"))
CHUNK = 100

FINISHED = "passed: 'finished'"


@dataclass
class Tally:
    """What was seen, so that nothing is green by emptiness."""

    programs: int = 0
    complete: int = 0
    deadlocked: int = 0
    spoke: int = 0
    executions: int = 0
    wrong: list[str] = field(default_factory=list)


def check(program: Program, most: int, tally: Tally) -> None:
    """Explore a program under both guards; note what is wrong."""
    settings = Settings(cancels=0, search="plain", executions=most, outside="ignore")
    noted = explore_outcomes(under_guard(program, raises=False), settings)
    raised = explore_outcomes(under_guard(program, raises=True), settings)
    deadlocks = {one for one in noted.outcomes if one.startswith("deadlock")}
    if alarms := noted.outcomes - deadlocks - {FINISHED}:
        tally.wrong.append(f"false alarm: {program} {sorted(alarms)}")
    left = {one for one in raised.outcomes if not one.startswith("passed")}
    if left and program.owners_are_known:
        tally.wrong.append(f"no alarm: {program} {sorted(left)}")
    tally.programs += 1
    tally.complete += noted.complete
    tally.deadlocked += bool(deadlocks)
    tally.spoke += any("spoke" in one for one in raised.outcomes)
    tally.executions += noted.executions + raised.executions


def check_many(seed: str, programs: int, most: int, kind: str | None = None) -> Tally:
    """Check so many programs, those that have blocks of a kind, or until one is wrong."""
    tally = Tally()
    for number in range(programs):
        program = draw(random.Random(f"{seed}:{number}"))
        if kind is None or kind in program.kinds:
            check(program, most, tally)
        if tally.wrong:
            break
    return tally


def test_the_guard_is_right_on_a_hundred_random_programs() -> None:
    tally = check_many("gate", 100, 20)
    assert not tally.wrong, tally.wrong[0]
    assert tally.complete > 40, tally
    assert tally.spoke > 15, tally
    assert tally.spoke < tally.deadlocked, "no deadlock in it is of another kind than a cycle"


@pytest.mark.nightly
@pytest.mark.parametrize("chunk", range(max(1, PROGRAMS // CHUNK)))
def test_the_guard_is_right_on_many_random_programs(chunk: int) -> None:
    tally = check_many(f"{SEED}:{chunk}", min(CHUNK, PROGRAMS), 400)
    assert not tally.wrong, tally.wrong[0]
    assert tally.spoke > 0.1 * tally.programs, tally


# Two that were found: a call that starts alone, before the rule of the other task, leaves its partner behind.
TOGETHER = Op("together", (0, 1))
LATE = Op("together", (1, 0), (Op("rule", (1, 0)),))
RULE = Op("rule", (0, 1), (TOGETHER,))
TWO_RULES = Op("rule", (0, 1), (Op("rule", (1, 0), (TOGETHER,)),))
WITH_PERMIT = Op("rule", (0, 1), (Op("together", (0, 1), (Op("permit", (1, 0)),)),))
FOUND = [
    Program(((TWO_RULES,), (LATE,))),
    Program(((WITH_PERMIT,), (LATE,), (RULE,))),
]


async def calls_one_partner_once(shared: Any, number: int, body: Any) -> None:
    shared.partners.start_soon(shared.meetings[1 - number], trio.lowlevel.checkpoint)
    await shared.meetings[number](body)


@pytest.mark.parametrize("planted", [None, calls_one_partner_once])
def test_no_program_has_a_caller_whose_partner_no_task_calls(
    planted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No task owes the call of a partner, so that of such a deadlock the guard could know nothing."""
    if planted is not None:
        monkeypatch.setattr(Shared, "together", planted)
    for program in FOUND:
        tally = Tally()
        check(program, 20, tally)
        assert bool(tally.wrong) == (planted is not None)


# ==== planted faults ====


def any_cycle(waits: Any) -> set[Any]:
    return {who for who in waits if waits_for.cycle_through(waits, who, set(waits))}


def never(waits: Any) -> set[Any]:
    return set()


def without_deadlines(task: Any) -> float:
    return float("inf")


def every_task_known(core: Any, request: Any, ahead: Any, view: Any) -> Any:
    found = dict(view.permits(request.primitive))
    return [
        waits_for.Need(
            tuple(found.items()) or ((request.waiter, 1),),
            max(1, request.claim - core.value),
            needs.Reason(request.primitive),
        )
    ]


def only_itself(core: Any, request: Any, ahead: Any, view: Any) -> Any:
    return needs._semaphore(core, request, (), view)


def no_task_ahead(core: Any, request: Any, view: Any) -> Collection[Any]:
    return ()


def jobs_wait_for_no_task(pool: Any, job: Any) -> Any:
    return None


def any_worker_is_enough(pool: Any, job: Any) -> Any:
    return needs._any_worker(pool, needs.Reason(pool))


def every_lent_item_is_needed(core: Any, request: Any, ahead: Any, view: Any) -> Any:
    (need,) = needs._lent(core, request, ahead, view) or (None,)
    return need and [waits_for.Need(need.holders, len(need.holders), need.why)]


def partners_are_alone(request: Any, rules: Any) -> Any:
    return []


def every_task_ends_rules(task: Any, other: Any) -> bool:
    return False


FAULTS: list[tuple[Any, Any, Any, str]] = [
    (deadlock, "stuck", any_cycle, "any"),
    (deadlock, "stuck", never, "permits"),
    (deadlock, "deadline_of", without_deadlines, "within"),
    (needs._RULES, SemaphoreCore, every_task_known, "all"),
    (needs._RULES, SemaphoreCore, only_itself, "permits"),
    (needs, "_ahead", no_task_ahead, "permits"),
    (needs, "_of_job", jobs_wait_for_no_task, "submit"),
    (needs, "_of_job", any_worker_is_enough, "submit"),
    (needs._RULES, ResourcePoolCore, every_lent_item_is_needed, "item"),
    (needs, "_of_partners", partners_are_alone, "together"),
    (needs, "outlives", every_task_ends_rules, "together"),
]


@pytest.mark.parametrize("fault", FAULTS, ids=[planted.__name__ for _, _, planted, _ in FAULTS])
def test_a_planted_fault_is_found(fault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    where, name, planted, kind = fault
    if isinstance(where, dict):
        monkeypatch.setitem(where, name, planted)
    else:
        monkeypatch.setattr(where, name, planted)
    assert check_many("gate", 600, 20, kind).wrong
