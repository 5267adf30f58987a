"""What the methods of a primitive of your own call; see the how-to on own primitives.

A primitive of your own is a core, that is a subclass of :class:`structsync.Arbiter` (or of
:class:`OwnedArbiter`), and a subclass of :class:`structsync.Primitive` (or of :class:`OwnedPrimitive`)
whose methods call these functions with claims that the core understands.
"""

from ._core.queue.owned import OwnedArbiter as OwnedArbiter
from ._naming import name_all_after, name_what_is_loaded
from ._runtime.live import Live as Live
from ._runtime.own import Block as Block
from ._runtime.own import OwnedPrimitive as OwnedPrimitive
from ._runtime.own import OwnerExit as OwnerExit
from ._runtime.own import acquire as acquire
from ._runtime.own import acquire_nowait as acquire_nowait
from ._runtime.own import change as change
from ._runtime.own import claim as claim
from ._runtime.own import held as held
from ._runtime.own import release as release
from ._runtime.own import request as request

__all__ = [
    "Block",
    "Live",
    "OwnedArbiter",
    "OwnedPrimitive",
    "OwnerExit",
    "acquire",
    "acquire_nowait",
    "change",
    "claim",
    "held",
    "release",
    "request",
]


name_what_is_loaded()
name_all_after(__name__)
