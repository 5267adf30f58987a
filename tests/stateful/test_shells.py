"""Each primitive, in a trio run with cancellations and timeouts, does what its naive model does."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from .buffer_shell import BufferShellMachine
from .examples import EXAMPLES
from .group_shell import GroupShellMachine
from .lock_map_shell import LockMapShellMachine
from .lock_shell import LockShellMachine
from .meeting_shells import BarrierShellMachine, LatchShellMachine
from .monitor_shell import MonitorShellMachine
from .pool_shell import PoolShellMachine
from .rate_limiter_machines import RateLimiterShellMachine
from .resource_pool_machines import ResourcePoolShellMachine
from .rwlock_shell import RWLockShellMachine
from .semaphore_shell import SemaphoreShellMachine
from .small_shells import LimiterShellMachine, ParkerShellMachine, WaitQueueShellMachine
from .thread_hold_shell import ThreadHoldShellMachine
from .value_machines import ValueShellMachine

MACHINES = [
    SemaphoreShellMachine,
    LockShellMachine,
    LockMapShellMachine,
    LimiterShellMachine,
    WaitQueueShellMachine,
    ParkerShellMachine,
    RWLockShellMachine,
    BarrierShellMachine,
    LatchShellMachine,
    RateLimiterShellMachine,
    ResourcePoolShellMachine,
    BufferShellMachine,
    PoolShellMachine,
    GroupShellMachine,
    MonitorShellMachine,
    ValueShellMachine,
    ThreadHoldShellMachine,
]


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.__name__)
@pytest.mark.parametrize("examples", EXAMPLES)
def test_the_primitive_does_what_its_model_does(
    machine: type[RuleBasedStateMachine], examples: int
) -> None:
    asked = settings(max_examples=examples, stateful_step_count=40)
    run_state_machine_as_test(machine, settings=asked)
