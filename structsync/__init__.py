"""Synchronization for trio, with the checking built in.

Map of the package, from the inside out; each folder imports from those above it only:

* ``_core``: the pure decisions, without trio: ``queue`` (requests, policies, the arbiter),
  ``primitives`` (one core each), ``monitors`` (entries, guards, rules), ``shared`` (the cores over a log).
* ``_runtime``: the only code that parks and wakes tasks (``parking``, ``parking_together``, ``items``, ``cancelling``, ``waking``).
* ``_primitives``: the public classes, without decisions.
* ``distributed``: primitives by name that several processes share.
* ``observing``: deadlocks with their cycle, and a view of what is held and waited for.
* ``checking``, ``report``: specification modules, the model checker, its reports.
* ``testing``, ``cli``: the schedule explorer, the pytest plugin, the command.
"""

from typing import TYPE_CHECKING

from ._homes import HOMES
from ._lazy import importing

# the one list of public names: `python -m tests.public_names` writes _homes.py from it
if TYPE_CHECKING:
    __version__: str

    from . import lowlevel as lowlevel
    from ._core.monitors.entry import Invocation as Invocation
    from ._core.primitives.rwlock import Access as Access
    from ._core.primitives.rwlock import RWPolicyName as RWPolicyName
    from ._core.queue.arbiter import Arbiter as Arbiter
    from ._core.queue.policy import PolicyName as PolicyName
    from ._core.queue.request import CoreRequest as CoreRequest
    from ._core.queue.request import Status as Status
    from ._primitives.barrier import Barrier as Barrier
    from ._primitives.barrier import BarrierStatistics as BarrierStatistics
    from ._primitives.barrier import WhenCancelled as WhenCancelled
    from ._primitives.broadcast import Broadcast as Broadcast
    from ._primitives.broadcast import WhenSlow as WhenSlow
    from ._primitives.buffer import Buffer as Buffer
    from ._primitives.buffer import BufferPolicy as BufferPolicy
    from ._primitives.buffer_item import BufferItem as BufferItem
    from ._primitives.buffer_statistics import BroadcastStatistics as BroadcastStatistics
    from ._primitives.buffer_statistics import BufferStatistics as BufferStatistics
    from ._primitives.capacity_limiter import CapacityLimiter as CapacityLimiter
    from ._primitives.capacity_limiter import CapacityLimiterStatistics as CapacityLimiterStatistics
    from ._primitives.channel import ReceivingEnd as ReceivingEnd
    from ._primitives.channel import SendingEnd as SendingEnd
    from ._primitives.channel import open_channel as open_channel
    from ._primitives.condition import Condition as Condition
    from ._primitives.condition import ConditionStatistics as ConditionStatistics
    from ._primitives.entries import Entry as Entry
    from ._primitives.entry_methods import EntryDecorator as EntryDecorator
    from ._primitives.entry_methods import EntryMethod as EntryMethod
    from ._primitives.entry_methods import entry as entry
    from ._primitives.first import First as First
    from ._primitives.first import first_of as first_of
    from ._primitives.groups import AllOf as AllOf
    from ._primitives.groups import AnyOf as AnyOf
    from ._primitives.groups import acquire_all as acquire_all
    from ._primitives.groups import acquire_any as acquire_any
    from ._primitives.guards import GuardFunction as GuardFunction
    from ._primitives.guards import WithoutArguments as WithoutArguments
    from ._primitives.holding import GroupRequest as GroupRequest
    from ._primitives.holding import Holding as Holding
    from ._primitives.latch import Latch as Latch
    from ._primitives.latch import LatchStatistics as LatchStatistics
    from ._primitives.lock import Lock as Lock
    from ._primitives.lock import LockStatistics as LockStatistics
    from ._primitives.lock_map import LockMap as LockMap
    from ._primitives.lock_map import LockMapStatistics as LockMapStatistics
    from ._primitives.monitor import Discipline as Discipline
    from ._primitives.monitor import Monitor as Monitor
    from ._primitives.monitor import MonitorStatistics as MonitorStatistics
    from ._primitives.monitor_condition import MonitorCondition as MonitorCondition
    from ._primitives.monitor_condition import (
        MonitorConditionStatistics as MonitorConditionStatistics,
    )
    from ._primitives.parker import Parker as Parker
    from ._primitives.parker import ParkerStatistics as ParkerStatistics
    from ._primitives.pool import TaskPool as TaskPool
    from ._primitives.pool import open_pool as open_pool
    from ._primitives.pool_item import PoolItem as PoolItem
    from ._primitives.pool_results import Results as Results
    from ._primitives.pool_statistics import PoolStatistics as PoolStatistics
    from ._primitives.rate_limiter import RateLimiter as RateLimiter
    from ._primitives.rate_limiter import RateLimiterStatistics as RateLimiterStatistics
    from ._primitives.resource_pool import ResourcePool as ResourcePool
    from ._primitives.resource_pool import ResourcePoolStatistics as ResourcePoolStatistics
    from ._primitives.rwlock import Locked as Locked
    from ._primitives.rwlock import RWLock as RWLock
    from ._primitives.rwlock import RWLockStatistics as RWLockStatistics
    from ._primitives.scope import Scope as Scope
    from ._primitives.scope import open_scope as open_scope
    from ._primitives.semaphore import Semaphore as Semaphore
    from ._primitives.semaphore import SemaphoreStatistics as SemaphoreStatistics
    from ._primitives.subscription import Subscription as Subscription
    from ._primitives.sync_pool import SyncPool as SyncPool
    from ._primitives.sync_pool import open_process_pool as open_process_pool
    from ._primitives.sync_pool import open_thread_pool as open_thread_pool
    from ._primitives.synchronizer import Synchronizer as Synchronizer
    from ._primitives.value import Changes as Changes
    from ._primitives.value import Value as Value
    from ._primitives.value import ValueStatistics as ValueStatistics
    from ._primitives.wait_queue import WaitQueue as WaitQueue
    from ._primitives.wait_queue import WaitQueueStatistics as WaitQueueStatistics
    from ._runtime.claim import Claim as Claim
    from ._runtime.errors import JobCancelled as JobCancelled
    from ._runtime.errors import JobFailed as JobFailed
    from ._runtime.errors import PermitLeakError as PermitLeakError
    from ._runtime.errors import RequestWithdrawn as RequestWithdrawn
    from ._runtime.events import EventKind as EventKind
    from ._runtime.events import Observer as Observer
    from ._runtime.events import PrimitiveEvent as PrimitiveEvent
    from ._runtime.job import Job as Job
    from ._runtime.job import JobStatus as JobStatus
    from ._runtime.live import PrimitiveStatistics as PrimitiveStatistics
    from ._runtime.primitive import CheckpointMode as CheckpointMode
    from ._runtime.primitive import Held as Held
    from ._runtime.primitive import Primitive as Primitive
    from ._runtime.request import Request as Request
    from .observing.deadlock import OnDeadlock as OnDeadlock
    from .observing.deadlock import deadlock_guard as deadlock_guard
    from .observing.deadlock_error import DeadlockError as DeadlockError
    from .observing.deadlock_error import DeadlockWarning as DeadlockWarning
    from .observing.histogram import Histogram as Histogram
    from .observing.inspector import Inspector as Inspector
    from .observing.inspector import serve_inspector as serve_inspector
    from .observing.logs import log_events as log_events
    from .observing.metrics import Metrics as Metrics
    from .observing.observe import observe as observe
    from .observing.primitive_metrics import PrimitiveMetrics as PrimitiveMetrics
    from .observing.recording import Recording as Recording
    from .observing.recording import recording as recording
    from .observing.show import show as show
    from .observing.snapshot import Holder as Holder
    from .observing.snapshot import PrimitiveSnapshot as PrimitiveSnapshot
    from .observing.snapshot import Snapshot as Snapshot
    from .observing.snapshot import Waiter as Waiter
    from .observing.snapshot import snapshot as snapshot
    from .observing.trace import trace_waits as trace_waits
    from .observing.wait_graph import WaitEdge as WaitEdge
    from .observing.wait_graph import WaitGraph as WaitGraph


# A name is imported when it is first wanted, so that a program waits for what it uses, and only for that.
if not TYPE_CHECKING:  # a type checker that saw this would take any name for one that exists
    __all__ = [name for name, home in HOMES.items() if home != f"structsync.{name}"]

    _find = importing(__name__, HOMES)

    def __getattr__(name: str) -> object:
        """Import a public name; read the version from the installed package, which takes a while."""
        if name == "__version__":
            from importlib.metadata import version

            return version("structsync")
        return _find(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *HOMES} - {"HOMES", "TYPE_CHECKING", "importing"})
