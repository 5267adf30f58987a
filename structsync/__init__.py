"""Synchronization for trio, with the checking built in.

Map of the package, from the inside out; each folder imports from those above it only:

* ``_core``: the pure decisions, without trio: ``queue`` (requests, policies, the arbiter),
  ``primitives`` (one core each), ``monitors`` (entries, guards, rules).
* ``_runtime``: the only code that parks and wakes tasks (``parking``, ``parking_together``, ``cancelling``, ``waking``).
* ``_primitives``: the public classes, without decisions.
* ``observing``: deadlocks with their cycle, and a view of what is held and waited for.
* ``checking``, ``report``: specification modules, the model checker, its reports.
* ``testing``, ``cli``: the schedule explorer, the pytest plugin, the command.
"""

from ._core.monitors.entry import Invocation as Invocation
from ._core.queue.arbiter import Arbiter as Arbiter
from ._core.queue.request import Status as Status
from ._primitives.barrier import Barrier as Barrier
from ._primitives.barrier import BarrierStatistics as BarrierStatistics
from ._primitives.capacity_limiter import CapacityLimiter as CapacityLimiter
from ._primitives.capacity_limiter import CapacityLimiterStatistics as CapacityLimiterStatistics
from ._primitives.condition import Condition as Condition
from ._primitives.condition import ConditionStatistics as ConditionStatistics
from ._primitives.entries import Entry as Entry
from ._primitives.entries import EntryMethod as EntryMethod
from ._primitives.entries import entry as entry
from ._primitives.groups import AllOf as AllOf
from ._primitives.groups import AnyOf as AnyOf
from ._primitives.groups import acquire_all as acquire_all
from ._primitives.groups import acquire_any as acquire_any
from ._primitives.latch import Latch as Latch
from ._primitives.latch import LatchStatistics as LatchStatistics
from ._primitives.lock import Lock as Lock
from ._primitives.lock import LockStatistics as LockStatistics
from ._primitives.monitor import Monitor as Monitor
from ._primitives.monitor import MonitorStatistics as MonitorStatistics
from ._primitives.monitor_condition import MonitorCondition as MonitorCondition
from ._primitives.parker import Parker as Parker
from ._primitives.parker import ParkerStatistics as ParkerStatistics
from ._primitives.rwlock import RWLock as RWLock
from ._primitives.rwlock import RWLockStatistics as RWLockStatistics
from ._primitives.scope import Scope as Scope
from ._primitives.scope import open_scope as open_scope
from ._primitives.semaphore import Semaphore as Semaphore
from ._primitives.semaphore import SemaphoreStatistics as SemaphoreStatistics
from ._primitives.synchronizer import Synchronizer as Synchronizer
from ._primitives.wait_queue import WaitQueue as WaitQueue
from ._runtime.claim import Claim as Claim
from ._runtime.errors import PermitLeakError as PermitLeakError
from ._runtime.errors import RequestWithdrawn as RequestWithdrawn
from ._runtime.events import Event as Event
from ._runtime.events import observe as observe
from ._runtime.live import PrimitiveStatistics as PrimitiveStatistics
from ._runtime.primitive import Primitive as Primitive
from ._runtime.request import Request as Request
from .observing.deadlock import DeadlockError as DeadlockError
from .observing.deadlock import DeadlockWarning as DeadlockWarning
from .observing.deadlock import deadlock_guard as deadlock_guard
from .observing.show import show as show
from .observing.snapshot import Holder as Holder
from .observing.snapshot import PrimitiveSnapshot as PrimitiveSnapshot
from .observing.snapshot import Snapshot as Snapshot
from .observing.snapshot import Waiter as Waiter
from .observing.snapshot import snapshot as snapshot
from .observing.trace import trace_waits as trace_waits
from .observing.wait_graph import WaitEdge as WaitEdge
from .observing.wait_graph import WaitGraph as WaitGraph

__all__ = [
    "AllOf",
    "AnyOf",
    "Arbiter",
    "Barrier",
    "BarrierStatistics",
    "CapacityLimiter",
    "CapacityLimiterStatistics",
    "Claim",
    "Condition",
    "ConditionStatistics",
    "DeadlockError",
    "DeadlockWarning",
    "Entry",
    "EntryMethod",
    "Event",
    "Holder",
    "Invocation",
    "Latch",
    "LatchStatistics",
    "Lock",
    "LockStatistics",
    "Monitor",
    "MonitorCondition",
    "MonitorStatistics",
    "Parker",
    "ParkerStatistics",
    "PermitLeakError",
    "Primitive",
    "PrimitiveSnapshot",
    "PrimitiveStatistics",
    "RWLock",
    "RWLockStatistics",
    "Request",
    "RequestWithdrawn",
    "Scope",
    "Semaphore",
    "SemaphoreStatistics",
    "Snapshot",
    "Status",
    "Synchronizer",
    "WaitEdge",
    "WaitGraph",
    "WaitQueue",
    "Waiter",
    "acquire_all",
    "acquire_any",
    "deadlock_guard",
    "entry",
    "observe",
    "open_scope",
    "show",
    "snapshot",
    "trace_waits",
]
