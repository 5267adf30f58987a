"""Primitives that several processes share: the engine orders, the cores that ship decide.

An engine keeps one ordered log of operations for each prefix of names; each process that waits or holds
replays it (:mod:`structsync._core.shared`), and so comes to the same decisions as all others.
"""

from structsync._core.shared.operations import Want as SharedClaim
from structsync._naming import name_all_after, name_what_is_loaded

from .blocks import Block as SharedBlock
from .condition import SharedCondition as SharedCondition
from .errors import CallOutcomeUnknown as CallOutcomeUnknown
from .errors import LeaseLost as LeaseLost
from .errors import RemoteError as RemoteError
from .errors import ReplicasDiffer as ReplicasDiffer
from .events import SharedEvent as SharedEvent
from .membership import Grant as Grant
from .memory import Deliveries as Deliveries
from .monitor import SharedEntry as SharedEntry
from .monitor import SharedMonitor as SharedMonitor
from .primitives import SharedBarrier as SharedBarrier
from .primitives import SharedLatch as SharedLatch
from .primitives import SharedLock as SharedLock
from .primitives import SharedPrimitive as SharedPrimitive
from .primitives import SharedRWLock as SharedRWLock
from .primitives import SharedSemaphore as SharedSemaphore
from .primitives import SharedStatistics as SharedStatistics
from .remote_call import RemoteCall as RemoteCall
from .session import Session as Session
from .session import open_session as open_session
from .synchronizer import SharedSynchronizer as SharedSynchronizer

__all__ = [
    "CallOutcomeUnknown",
    "Deliveries",
    "Grant",
    "LeaseLost",
    "RemoteCall",
    "RemoteError",
    "ReplicasDiffer",
    "Session",
    "SharedBarrier",
    "SharedBlock",
    "SharedClaim",
    "SharedCondition",
    "SharedEntry",
    "SharedEvent",
    "SharedLatch",
    "SharedLock",
    "SharedMonitor",
    "SharedPrimitive",
    "SharedRWLock",
    "SharedSemaphore",
    "SharedStatistics",
    "SharedSynchronizer",
    "open_session",
]


name_what_is_loaded()
name_all_after(__name__)
