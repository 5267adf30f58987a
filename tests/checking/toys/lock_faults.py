"""Bugs on purpose for the lock."""

from structsync.checking import fault

from .lock import Core, LockSpec


@fault(LockSpec, "core", refuted_by="nothing_grantable_waits")
class LostWakeupAtRelease(Core):
    """Releasing wakes no task."""

    def release(self) -> None:
        self.owner = None


@fault(LockSpec, "core", refuted_by="every_waiter_is_served")
class NoTaskIsWoken(Core):
    """Releasing wakes no task, seen as a wait without end."""

    def release(self) -> None:
        self.owner = None


@fault(LockSpec, "core", refuted_by="only_the_head_is_granted")
def barging_lock() -> Core:
    """The one who came last goes first."""
    return _Barging()


class _Barging(Core):
    def release(self) -> None:
        *rest, self.owner = self.queue or (None,)
        self.queue = tuple(one for one in rest if one)


@fault(LockSpec, "core", refuted_by="no_action_fails")
class ReleaseFails(Core):
    """Releasing with a line raises."""

    def release(self) -> None:
        if self.queue:
            raise RuntimeError("a task waits")
        super().release()
