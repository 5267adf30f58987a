"""One process's part in shared primitives: its lease, what it holds, and what it waits for."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from threading import get_ident
from typing import NoReturn, cast, final

import trio
from trio.lowlevel import Task, checkpoint_if_cancelled, current_task, enable_ki_protection

from structsync._core.shared.history import History
from structsync._core.shared.operations import Outcome, Verb, Want
from structsync._runtime.outcomes import Pending

from . import forks
from .client import BACKOFF, LogClient
from .engine import Engine, Tail
from .errors import (
    HAS_FAILED,
    IS_PARENTS,
    LEASE_ENDED,
    TAKEN_FOR_DEAD,
    WAS_LEFT,
    DeliveryFailed,
    LeaseLost,
    SessionEnded,
)
from .events import SharedEvent, SharedEventKind

#: What part of a lease is left to others: their clocks may run faster by so much.
MARGIN = 0.1

#: So many prefixes of one session hint at names such as order-17, where order/17 was meant.
MANY = 1000
PREFIXES = """\
session %s has used %d prefixes, %r last, and keeps a log for each until it ends; begin names with one prefix that \
they share, for example order/17 instead of order-17, because names of one prefix share a log"""

_log = logging.getLogger("structsync")


@final
class Grant:
    """What a block holds.

    Attributes:
      name: the name of the primitive; of several, all names with " + " between them.
      token: greater than that of every earlier grant under this prefix. Pass it to whatever the block changes,
          which should refuse a token smaller than one it has seen.
    """

    name: str
    token: int

    def __init__(
        self, client: LogClient, number: int, name: str, token: int, deadline: float
    ) -> None:
        self.name = name
        self.token = token
        self._client = client
        self._number = number
        self._task = current_task()
        self._scope = trio.CancelScope(deadline=deadline)

    def __repr__(self) -> str:
        return f"<grant {self.token} of {self.name!r}>"


class Membership:
    """What a session is to the primitives of it."""

    identity: str
    _life: trio.CancelScope
    _nursery: trio.Nursery
    _lost: str  # why it is over; empty while it is not

    def __init__(
        self,
        engine: Engine,
        identity: str,
        ttl: float,
        observer: Callable[[SharedEvent], object] | None,
    ) -> None:
        self.identity = identity
        self._engine = engine
        self._ttl = ttl
        self._observer = observer
        self._clients: dict[str, LogClient] = {}
        self._grants: dict[Grant, None] = {}
        self._owners: dict[tuple[Task, str], Grant] = {}  # of what a task must not ask for twice
        self._deadline = math.inf
        self._received: Callable[[bytes], object] = lambda message: None
        self._lost = ""
        self._closed = False
        self._thread = get_ident()
        self._is_copy = False  # in a forked process
        forks.sessions.add(self)

    def __repr__(self) -> str:
        state = "closed" if self._closed else "lost" if self._lost else "open"
        return f"<structsync.distributed.Session, {self.identity}, {state}>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(
            f"{self!r} cannot be copied or pickled; open another one with open_session()"
        )

    # ==== What primitives do with it ====

    @enable_ki_protection
    def _client(self, name: str) -> LogClient:
        self._check()
        prefix = name.partition("/")[0]
        found = self._clients.get(prefix)
        if found is None:
            if len(self._clients) == MANY:
                _log.warning(PREFIXES, self.identity, MANY, [*self._clients][-1])
            found = self._clients[prefix] = LogClient(self._engine, self.identity, prefix)
            found.lost = self._lost
            self._nursery.start_soon(self._drive, found, name=f"structsync log {prefix!r}")
        return found

    def _check(self) -> None:
        if self._closed:
            raise trio.ClosedResourceError("this session is closed")
        if self._is_copy:
            raise RuntimeError(f"{self!r} cannot be used here: {IS_PARENTS}")
        if get_ident() != self._thread:  # what it wakes are tasks of its run
            raise RuntimeError(
                f"{self!r} belongs to the trio run of another thread: open a session in this run, or go through "
                "trio.from_thread.run()"
            )

    def _queue(self, wants: Sequence[Want]) -> Pending[Outcome]:
        """Take a position in the queues at once, for a task that waits for it later."""
        client, name = self._client(wants[0].name), _name_of(wants)
        return client.begin(name, Verb.ACQUIRE, tuple(wants), withdrawable=True)

    @enable_ki_protection
    async def _acquire(
        self, wants: Sequence[Want], queued: Pending[Outcome] | None = None
    ) -> Grant:
        """Wait until all of this is granted, in the position that was taken before, or a new one.

        Raises:
          LeaseLost: if the session has ended.
        """
        client, name = self._client(wants[0].name), _name_of(wants)
        if queued is None:
            await checkpoint_if_cancelled()
            queued = client.begin(name, Verb.ACQUIRE, tuple(wants), withdrawable=True)
        one = await self._follow(name, queued)
        grant = Grant(client, one.key[1], name, one.token, self._deadline)
        self._grants[grant] = None
        return grant

    @enable_ki_protection
    async def _ask(
        self, client: LogClient, name: str, verb: Verb, *details: object, **undone: bool
    ) -> Outcome:
        """Wait for the outcome of an operation that a task may wait for; see :meth:`LogClient.begin`."""
        await checkpoint_if_cancelled()
        return await self._follow(name, client.begin(name, verb, *details, **undone))

    async def _follow(self, name: str, pending: Pending[Outcome]) -> Outcome:
        """Wait for the outcome of an operation that was sent; a cancellation withdraws it."""
        self._emit("requested", name)
        try:
            one = await pending.wait()
        except LeaseLost:
            self._emit("lost", name)
            raise
        except BaseException:  # cancelled, interrupted or refused
            self._emit("withdrawn", name)
            raise
        if self._lost:  # since it was granted, before this task has run
            self._emit("lost", name)
            raise LeaseLost(name, why=self._lost)
        self._emit("granted", name, one.token)
        return one

    @enable_ki_protection
    async def _release(self, grant: Grant) -> bool:
        """Release, and return whether it was held until now; it is not cancelled."""
        self._grants.pop(grant, None)
        held = not self._lost
        if held:
            try:
                await grant._client.ask(grant.name, Verb.RELEASE, grant._number)
            except (LeaseLost, RuntimeError):
                held = False
        self._emit("released" if held else "lost", grant.name, grant.token)
        return held

    def _emit(self, kind: SharedEventKind, name: str, token: int = 0) -> None:
        if self._observer is None:
            return
        try:
            self._observer(SharedEvent(kind, name, token, current_task(), trio.current_time()))
        except Exception:  # noqa: BLE001 - what looks on must not change what happens
            _log.exception("observer %r failed and was removed", self._observer)
            self._observer = None

    # ==== Its life ====

    @enable_ki_protection
    async def _run(self, begun: trio.Event) -> None:
        """Keep the session alive until it is closed; set the event when others may use it.

        A cancellation from outside does not end it: what is held must still be released.
        """
        with trio.CancelScope(shield=True) as self._life:
            async with trio.open_nursery() as self._nursery:
                try:
                    await self._nursery.start(self._engine.listen, self._hinted, self._take)
                    if self._ttl < math.inf or self._engine.recheck < math.inf:
                        self._nursery.start_soon(self._renew, name="structsync lease")
                    begun.set()
                    await trio.sleep_forever()
                finally:
                    # One of these may have failed, and a shielded task may use the session still. It is refused
                    # before the nursery closes, which would refuse it by an error that says nothing of a session.
                    self._end(HAS_FAILED)

    @enable_ki_protection
    def _hinted(self, prefix: str, news: Tail | None = None) -> bool:
        client = self._clients.get(prefix)
        if client is None:
            return False
        if news is not None:
            return client.told(news)
        client.hinted()
        return False

    def _take(self, message: bytes) -> None:
        self._received(message)

    @enable_ki_protection
    async def _drive(self, client: LogClient) -> None:
        try:
            await client.drive()
            client.lose(client.lost)  # where it was not told so: it is a copy
        except SessionEnded:
            self._lose(self._why_ended())
        except BaseException:
            self._lose(HAS_FAILED)  # at once: what has failed halfway must grant nothing more
            raise

    @enable_ki_protection
    async def _renew(self) -> None:
        interval = min(self._ttl / 3, self._engine.recheck)
        while not self._lost:
            sent, pause = trio.current_time(), BACKOFF
            with trio.move_on_at(self._deadline) as in_time:
                try:
                    renewal = await self._engine.renew(self._read(), self._history_of)
                except DeliveryFailed:
                    pass
                except SessionEnded:
                    break
                else:
                    self._move_deadline(sent)
                    for prefix, end in renewal.ends.items():
                        if self._clients[prefix].replica.position < end:
                            self._hinted(prefix)
                    pause = min(interval, max(renewal.earliest, 0) + BACKOFF)
            if in_time.cancelled_caught:
                break
            await trio.sleep_until(min(trio.current_time() + pause, self._deadline))
        self._lose(self._why_ended())

    def _why_ended(self) -> str:
        return LEASE_ENDED if self._ttl < math.inf else TAKEN_FOR_DEAD

    def _read(self) -> dict[str, int]:
        return {prefix: client.replica.position for prefix, client in self._clients.items()}

    def _history_of(self, prefix: str) -> History | None:
        return self._clients[prefix].replica.history

    def _move_deadline(self, sent: float) -> None:
        self._deadline = sent + self._ttl * (1 - MARGIN)
        for grant in self._grants:
            grant._scope.deadline = self._deadline

    @enable_ki_protection
    def _lose(self, why: str = LEASE_ENDED) -> None:
        """Cancel all blocks and end all waits: what was held is not held any more."""
        if not self._lost:
            self._lost = why
            for grant in self._grants:
                grant._scope.cancel()
            for client in self._clients.values():
                client.lose(why)

    def _end(self, why: str) -> None:
        self._closed = True
        self._lose(why)

    def _leave_to_parent(self) -> None:
        self._is_copy, self._lost = True, IS_PARENTS
        self._engine = cast("Engine", forks.NoEngine())
        for client in self._clients.values():
            client.lost = IS_PARENTS

    async def _close(self) -> None:
        self._end(WAS_LEFT)
        self._life.cancel()
        await self._engine.close()


def _name_of(wants: Sequence[Want]) -> str:
    return " + ".join([want.name for want in wants])
