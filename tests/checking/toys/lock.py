"""A lock hands itself to the one who waits longest, and forgets no task."""

from structsync.checking import Spec, action, invariant, leads_to, start, step

TASKS = ("p", "q", "r")  # with two, no task is in line to be overtaken


class Core:
    """An owner and a line."""

    def __init__(self) -> None:
        self.owner: str | None = None
        self.queue: tuple[str, ...] = ()

    def snapshot(self) -> tuple[str | None, tuple[str, ...]]:
        return self.owner, self.queue

    def restore(self, snapshot: tuple[str | None, tuple[str, ...]]) -> None:
        self.owner, self.queue = snapshot

    def acquire(self, who: str) -> None:
        self.queue += (who,)
        self.settle()

    def withdraw(self, who: str) -> None:
        self.queue = tuple(one for one in self.queue if one != who)
        self.settle()

    def release(self) -> None:
        self.owner = None
        self.settle()

    def settle(self) -> None:
        if self.owner is None and self.queue:
            self.owner, *rest = self.queue
            self.queue = tuple(rest)


def idle(spec: "LockSpec") -> list[str]:
    return [who for who in TASKS if who != spec.core.owner and who not in spec.core.queue]


def waiting(spec: "LockSpec") -> tuple[str, ...]:
    return spec.core.queue


def owner(spec: "LockSpec") -> tuple[str, ...]:
    return (spec.core.owner,) if spec.core.owner else ()


class LockSpec(Spec):
    """Three tasks and one lock."""

    core: Core = start(Core)

    @action(who=idle)
    def acquire(self, who: str) -> None:
        self.core.acquire(who)

    @action(who=waiting)
    def withdraw(self, who: str) -> None:
        self.core.withdraw(who)

    @action(who=owner, fair=True)
    def release(self, who: str) -> None:
        self.core.release()

    @invariant
    def nothing_grantable_waits(self) -> bool:
        """A lock that no task owns has no task waiting."""
        return self.core.owner is not None or not self.core.queue

    @invariant
    def owner_does_not_wait(self) -> None:
        assert self.core.owner not in self.core.queue, f"{self.core.owner} owns and waits"

    @step
    def only_the_head_is_granted(self, before: "LockSpec") -> bool:
        new = self.core.owner if self.core.owner != before.core.owner else None
        return new not in before.core.queue[1:] or before.core.queue[0] not in self.core.queue

    @leads_to(who=TASKS)
    def every_waiter_is_served(self, who: str) -> tuple[bool, bool]:
        """A task that waits owns the lock eventually, or gives up."""
        return who in self.core.queue, who not in self.core.queue
