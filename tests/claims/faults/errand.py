"""Faults of errands, each for one claim."""

from __future__ import annotations

from structsync._core.primitives.errand import ErrandCore
from structsync.specs import thread_hold_faults

from ._planting import OfASpec, fault

what_was_dropped_is_begun = OfASpec(
    ErrandCore, thread_hold_faults.DroppedAndDone, "errand.it_is_begun_once"
)

a_grant_loses = OfASpec(
    ErrandCore,
    thread_hold_faults.InterruptBeatsGrant,
    "errand.an_interrupt_ends_what_has_not_begun_and_need_not_be_done",
)


@fault(ErrandCore, "end", refuted_by="errand.it_ends_once")
def an_end_is_not_kept(core: ErrandCore) -> bool:
    return core.stage != "ended"
