"""Faults of a read-write lock, each for one claim."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NoReturn

from structsync._core.primitives import rwlock as rwlock_core
from structsync._core.primitives.rwlock import READ, Access, Mode, PhaseFairCore, RWLockCore
from structsync.specs import rwlock_faults

from ...plants import queue, rwlock  # noqa: TID252 - the one home of the faults
from ._planting import Ended, Fault, OfASpec, Shared, fault, grant_unnoted

a_grant_is_not_noted = Fault(
    RWLockCore,
    "grant",
    grant_unnoted,
    "rwlock.a_writer_that_leaves_lets_in_the_next_writer_or_readers_in_a_row",
)


a_writer_enters_beside_one_reader = Shared(
    rwlock.one_reader_that_leaves_lets_a_writer_in,
    "rwlock.a_reader_that_leaves_lets_a_writer_in_only_as_the_last",
)


a_withdrawal_lets_no_task_in = Shared(
    queue.a_withdrawal_lets_no_task_in,
    "rwlock.a_writer_that_withdraws_lets_in_the_readers_behind_it",
)


@fault(
    RWLockCore, "downgrade", refuted_by="rwlock.a_writer_that_becomes_a_reader_lets_no_writer_in"
)
def a_downgrade_lets_go(core: RWLockCore, claimant: Hashable) -> Ended:
    core.writer = None
    ended = core.settle()
    core.readers[claimant] = None
    return ended


@fault(RWLockCore, "refuse_impossible", refuted_by="rwlock.a_task_inside_is_refused")
def readers_may_upgrade(core: RWLockCore, claim: Access) -> None:
    if core.writer == claim.claimant:
        raise RuntimeError


@fault(RWLockCore, "discharge", refuted_by="rwlock.only_what_is_held_is_released")
def any_task_ends_the_writing(core: RWLockCore, claim: Access) -> None:
    core.writer = None


@fault(
    RWLockCore,
    "owner_exited",
    refuted_by="rwlock.a_holder_that_exits_breaks_the_lock_and_all_waiters",
)
def readers_may_exit(core: RWLockCore, claimant: Hashable, cause: Hashable) -> Ended:
    if core.writer == claimant:
        return core.end(cause)
    return core.release(Access(READ, claimant))


any_exit_breaks_the_lock = OfASpec(
    RWLockCore,
    rwlock_faults.AnyExitBreaksIt,
    "rwlock.another_that_exits_only_leaves_the_queue",
)


@fault(
    PhaseFairCore, "writing_ended", refuted_by="rwlock.a_phase_of_readers_is_all_that_wait_to_read"
)
def a_writer_follows_a_writer(core: PhaseFairCore) -> Ended:
    return core.settle()


@fault(rwlock_core, "_refuse_second", refuted_by="rwlock.a_holder_is_told_what_to_do_instead")
def no_task_is_told_of_a_downgrade(held: Mode, wanted: Mode) -> NoReturn:
    raise RuntimeError("this task already holds it; release() first")


@fault(RWLockCore, "admissible", refuted_by="rwlock.a_task_with_a_request_makes_no_second_one")
def a_task_with_a_request_passes_itself(core: RWLockCore, claim: Access, priority: int = 0) -> bool:
    return claim.mode is READ and core.writer is None
