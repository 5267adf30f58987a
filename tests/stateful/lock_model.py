"""What a lock and its conditions should do, restated in lists."""

from __future__ import annotations

from .models import Ended, Entry, QueueModel, Refused


class LockModel(QueueModel):
    """A lock and its conditions; ``waits`` says how each wait on a condition stands."""

    def __init__(
        self, conditions: tuple[str, ...] = (), policy: str = "fifo", ageing: int | None = 100
    ) -> None:
        super().__init__(policy, ageing)
        self.owner: str | None = None
        self.unnotified: dict[str, list[str]] = {condition: [] for condition in conditions}
        self.closed_conditions: set[str] = set()
        self.waits: dict[str, str] = {}
        self.returning: set[str] = set()  # in the lock's queue, to leave a block that it guards

    def fits(self, claim: str) -> bool:
        return self.owner is None

    def take(self, claim: str) -> None:
        self.owner = claim
        if self.waits.get(claim) == "pending":
            self.waits[claim] = "granted"
        self.returning.discard(claim)

    def refuse(self, claim: str) -> None:
        if claim == self.owner or claim in [entry.who for entry in self.entries]:
            raise Refused

    def release(self, who: str) -> Ended:
        if self.owner != who:
            raise Refused
        self.owner = None
        return self.serve()

    def wait(self, who: str, condition: str) -> Ended:
        if self.owner != who or self.closed or condition in self.closed_conditions:
            raise Refused
        self.unnotified[condition].append(who)
        self.waits[who] = "pending"
        return self.release(who)

    def notify(self, who: str, condition: str, count: int | None) -> Ended:
        if self.owner != who:
            raise Refused
        queue = self.unnotified[condition]
        for notified in queue[:count]:
            queue.remove(notified)
            self.join(notified, notified).condition = condition
        return []

    def cancel(self, who: str) -> Ended:
        """Cancel a wait on a condition: pass the notification on, then queue for the lock."""
        if self.waits.get(who) != "pending":
            raise Refused
        for queue in self.unnotified.values():
            if who in queue:
                queue.remove(who)
        for entry in self.entries:
            if entry.who == who:
                self._pass_on(entry)
                break
        self._return(who, "withdrawn")
        return self.serve()

    def _pass_on(self, entry: Entry) -> None:
        assert entry.condition is not None
        heirs = self.unnotified[entry.condition]
        if heirs:
            entry.who = entry.claim = heirs.pop(0)
        else:
            self.entries.remove(entry)

    def _return(self, who: str, outcome: str) -> None:
        self.waits[who] = outcome
        self.returning.add(who)
        self.join(who, who)

    def close_condition(self, condition: str) -> Ended:
        self.closed_conditions.add(condition)
        waiters, self.unnotified[condition] = self.unnotified[condition], []
        for who in waiters:
            self._return(who, "broken")
        return self.serve()

    def close(self) -> Ended:
        broken = super().close()
        self.returning.clear()
        for queue in self.unnotified.values():
            broken += [(who, "broken") for who in queue]
            queue.clear()
        for who, _ in broken:
            if self.waits.get(who) == "pending":
                self.waits[who] = "broken"
        return broken

    def exits(self, who: str) -> Ended:
        """The task ends: what it owns breaks, what it asked for is withdrawn."""
        if self.owner == who:
            return self.close()
        if who in [entry.who for entry in self.entries]:
            return self.withdraw(who)
        return []

    def sleeps(self, who: str) -> bool:
        """Whether the task waits on a condition, or for the lock after such a wait."""
        return self.waits.get(who) == "pending" or who in self.returning
