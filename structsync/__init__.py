"""Synchronization for trio, with the checking built in.

Map of the package, from the inside out:

* ``_core``: the pure decisions, without trio: requests, policies, one core per primitive.
* ``_park``, ``_park_together``: the only modules that park tasks; the first alone wakes them.
* ``primitive``, ``semaphore``, ``lock``, ``condition``, ...: the public classes, without decisions.
* ``claims``: several resources in one step.
* ``scope``, ``events``: what ends primitives, and what tells of them.
* ``checking``, ``report``, ``cli``: specification modules, the model checker, its reports.
"""

from ._core.arbiter import Arbiter as Arbiter
from ._core.entry import Invocation as Invocation
from ._core.request import Status as Status
from ._errors import PermitLeakError as PermitLeakError
from ._errors import RequestWithdrawn as RequestWithdrawn
from .barrier import Barrier as Barrier
from .barrier import BarrierStatistics as BarrierStatistics
from .capacity_limiter import CapacityLimiter as CapacityLimiter
from .capacity_limiter import CapacityLimiterStatistics as CapacityLimiterStatistics
from .claims import AllOf as AllOf
from .claims import AnyOf as AnyOf
from .claims import Claim as Claim
from .claims import acquire_all as acquire_all
from .claims import acquire_any as acquire_any
from .condition import Condition as Condition
from .condition import ConditionStatistics as ConditionStatistics
from .entries import Entry as Entry
from .entries import EntryMethod as EntryMethod
from .entries import entry as entry
from .events import Event as Event
from .events import observe as observe
from .latch import Latch as Latch
from .latch import LatchStatistics as LatchStatistics
from .lock import Lock as Lock
from .lock import LockStatistics as LockStatistics
from .monitor import Monitor as Monitor
from .monitor import MonitorStatistics as MonitorStatistics
from .monitor_condition import MonitorCondition as MonitorCondition
from .parker import Parker as Parker
from .parker import ParkerStatistics as ParkerStatistics
from .primitive import Primitive as Primitive
from .primitive import PrimitiveStatistics as PrimitiveStatistics
from .request import Request as Request
from .rwlock import RWLock as RWLock
from .rwlock import RWLockStatistics as RWLockStatistics
from .scope import Scope as Scope
from .scope import open_scope as open_scope
from .semaphore import Semaphore as Semaphore
from .semaphore import SemaphoreStatistics as SemaphoreStatistics
from .synchronizer import Synchronizer as Synchronizer
from .wait_queue import WaitQueue as WaitQueue

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
    "Entry",
    "EntryMethod",
    "Event",
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
    "PrimitiveStatistics",
    "RWLock",
    "RWLockStatistics",
    "Request",
    "RequestWithdrawn",
    "Scope",
    "Semaphore",
    "SemaphoreStatistics",
    "Status",
    "Synchronizer",
    "WaitQueue",
    "acquire_all",
    "acquire_any",
    "entry",
    "observe",
    "open_scope",
]
