"""Read-write locks, held against their specifications."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from structsync import RWLock
from structsync.checking import action, start
from structsync.specs.rwlock import READERS, RWLockSpec, RWSpec, inside
from structsync.specs.rwlock_policies import PhaseSpec, ReadersFirstSpec, WritersFirstSpec

from .holders import OfLock
from .users import BY_REQUEST, Seen


class SeenRW(Seen, RWSpec):
    """As of a lock."""

    abstract = True
    vanished: tuple[str, ...] = start(tuple)

    def there(self) -> list[str]:
        return sorted(who for who in inside(self) if who not in self.vanished)

    @action(who=lambda spec: spec.there() if spec.why is None else ())
    def holder_disappears(self, who: str) -> None:
        self.vanished = (who,)
        super().holder_disappears(who)

    @action(who=lambda spec: [who for who in spec.in_queue() if who in BY_REQUEST])
    def waiter_disappears(self, who: str) -> None:
        super().waiter_disappears(who)

    @action(who=lambda spec: spec.there())
    def release(self, who: str) -> None:
        super().release(who)

    @action(who=lambda spec: [w for w in spec.writing if w in spec.there() and w not in BY_REQUEST])
    def downgrade(self, who: str) -> None:
        super().downgrade(who)

    def told(self) -> Mapping[str, object]:
        return {"holding": tuple(self.there())}


class SeenRWLock(SeenRW, RWLockSpec):
    pass


class SeenPhase(SeenRW, PhaseSpec):
    pass


class SeenReadersFirst(SeenRW, ReadersFirstSpec):
    pass


class SeenWritersFirst(SeenRW, WritersFirstSpec):
    pass


class OfRWLock(OfLock):
    primitive: RWLock

    def __init__(self, policy: Any) -> None:
        super().__init__(lambda: RWLock(policy=policy), {})

    async def request(self, who: str) -> None:
        lock, reads = self.primitive, who in READERS
        if who in BY_REQUEST:
            return await self.asks(who, lock.read_request if reads else lock.write_request)
        if not await self.passes(who, lock.acquire_read() if reads else lock.acquire_write()):
            return None
        while (how := await self.holds(who)) == "downgrade":
            lock.downgrade()
        if how == "release":
            lock.release()
        return None

    def downgrade(self, who: str) -> None:
        self.tell(who, "downgrade")

    def holder_disappears(self, who: str) -> None:
        self.tell(who, "disappear")
