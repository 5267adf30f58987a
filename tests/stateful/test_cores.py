"""Each pure core does what its naive model does, whatever is asked of it and in whatever order."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from .buffer_machine import BufferMachine
from .core_machines import LimiterMachine, ParkerMachine, SemaphoreMachine, WaitQueueMachine
from .examples import EXAMPLES
from .group_machine import GroupMachine
from .lock_machine import LockMachine
from .lock_map_machine import LockMapMachine
from .meeting_machines import BarrierMachine, LatchMachine
from .monitor_condition_machine import HoareMachine, MesaMachine
from .monitor_machine import MonitorMachine
from .rate_limiter_machines import RateLimiterMachine
from .resource_pool_machines import ResourcePoolMachine
from .rwlock_machine import RWLockMachine
from .synchronizer_machine import SynchronizerMachine
from .value_machines import ValueMachine

MACHINES = [
    SemaphoreMachine,
    LockMachine,
    LockMapMachine,
    LimiterMachine,
    WaitQueueMachine,
    ParkerMachine,
    RWLockMachine,
    BarrierMachine,
    LatchMachine,
    BufferMachine,
    RateLimiterMachine,
    ResourcePoolMachine,
    GroupMachine,
    MonitorMachine,
    MesaMachine,
    HoareMachine,
    SynchronizerMachine,
    ValueMachine,
]


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.__name__)
@pytest.mark.parametrize("examples", EXAMPLES)
def test_the_core_does_what_its_model_does(
    machine: type[RuleBasedStateMachine], examples: int
) -> None:
    asked = settings(max_examples=examples, stateful_step_count=60)
    run_state_machine_as_test(machine, settings=asked)
