"""The decisions of shared primitives: a log, replayed through the cores that ship.

Every process that holds or waits has a replica, and applies the same entries in the same order; so all of
them come to the same decisions, and nothing but the cores makes any. What is here beside them: which session asked
for what, entries that come twice, and sessions that die.

An engine writes ``join`` before the first operation of a session and ``end`` after its last one, in the
same step in which it looks whether the session is alive. An operation of a session that has not joined
comes too late, and changes nothing.

How a dead session is buried: it leaves all its queues, releases all it holds, and *then* each queue is
settled once. Withdrawing its requests one by one would settle too early, and grant to the dead session
what would never be released.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from structsync._core.primitives.condition import ConditionCore
from structsync._core.queue.arbiter import Arbiter
from structsync._core.queue.group import Claims, settle_transitively
from structsync._core.queue.request import GRANTED, WITHDRAWN, Request

from .kinds import CONDITION, KINDS
from .operations import Key, Operation, Outcome, Result, Verb, Want
from .state import Place, SharedState

Ended = list[Request[Any]]

# A session that waits carries out what all others do meanwhile, and to look up a member of an enum, or its
# value, costs as much as a decision.
JOIN, END = Verb.JOIN, Verb.END
METHODS = {verb: f"_{verb.value}" for verb in Verb}
RESULT_GRANTED, RESULT_WITHDRAWN, DONE = Result.GRANTED, Result.WITHDRAWN, Result.DONE


class SharedCore(SharedState):
    """One replica of one log."""

    token: int
    stamp: int = 0  # of the entry that is carried out

    def apply(self, entry: Operation, stamp: int = 0) -> list[Outcome]:
        """Carry out one entry of the log, and return what it has ended, in that order.

        Args:
          entry: the operation.
          stamp: what the engine gives the entry, a number that grows from entry to entry. The token of a
              grant is never smaller, so that tokens grow even where an engine has lost its log.
        """
        verb, session, number, details = entry
        if verb is JOIN:
            self.sessions.setdefault(session, -1)
            return []
        last = self.sessions.get(session)
        if last is None:
            return []
        if verb is not END:
            if number <= last:
                return []  # the same operation, sent again because its answer was lost
            self.sessions[session] = number
        self.stamp = stamp
        carry_out: Callable[..., list[Outcome]] = getattr(self, METHODS[verb])
        outcomes = carry_out((session, number), *details)
        self.forget_unused()
        return outcomes

    # ==== What each verb does: the methods have their names ====

    def _acquire(self, key: Key, wants: Iterable[Any]) -> list[Outcome]:
        place = Place(key, [one if type(one) is Want else Want(*one) for one in wants])
        try:
            ended = self._submit(place)
        except (ValueError, RuntimeError) as error:
            return [_refusal(key, error)]
        return self._granted(ended)

    def _submit(self, place: Place) -> Ended:
        ended: Ended
        if len(place.wants) == 1:
            (want,) = place.wants
            core = self.core_of(want)
            ended = KINDS[want.kind].submit(core, want, place.key)
            if not ended:
                place.requests = [core.queue.tail]
        else:
            pairs = self._pairs(place)
            if len({want.name for want in place.wants}) < len(pairs):
                raise ValueError("a group takes each primitive once; ask for the sum instead")
            if not all(KINDS[want.kind].holds for want in place.wants):
                raise ValueError("a group consists of semaphores, locks and read-write locks")
            group = Claims(True, pairs, place.key)
            ended = [*group.submit()]
            if not ended:
                place.requests = group.members
        self.places[place.key] = place
        return ended

    def _withdraw(self, asking: Key, number: int) -> list[Outcome]:
        place = self.places.get((asking[0], number))
        if place is None or place.raises or not place.requests:
            return []  # it has ended, and the waiters have been told
        request = place.requests[0]
        if place.hold is not None:
            place.raises = True
            lock = self.core_of(self.places[place.hold].wants[0])
            ended = self._condition_at(place, lock).cancel(request) or []
            place.requests = [lock.queue.tail]  # but for the one that is granted now
            return self._granted(ended)
        del self.places[place.key]
        ended = self._arbiters(place)[0].withdraw(request) or []
        return [Outcome(place.key, RESULT_WITHDRAWN), *self._granted([request, *ended])]

    def _release(self, asking: Key, number: int) -> list[Outcome]:
        place = self.places.get((asking[0], number))
        if place is None or not place.token:
            return [_refusal(asking, RuntimeError("nothing is held under this number"))]
        del self.places[place.key]
        if len(place.wants) != 1:
            return [Outcome(asking, DONE), *self._settled(self._discharge(place))]
        (want,) = place.wants
        core = self.core_of(want)
        core.discharge(KINDS[want.kind].claim(want, place.key))
        return [Outcome(asking, DONE), *self._settled((core,))]

    def _count_down(self, asking: Key, want: Any) -> list[Outcome]:
        return self._unless_refused(asking, self._count, Want(*want), done=Outcome(asking, DONE))

    def _count(self, latch: Want) -> Ended:
        ended: Ended = self.core_of(latch).release(latch.amount)
        return ended

    def _wait(self, asking: Key, name: str, number: int) -> list[Outcome]:
        hold = (asking[0], number)
        return self._unless_refused(asking, self._give_up_lock, asking, name, hold)

    def _give_up_lock(self, asking: Key, name: str, hold: Key) -> Ended:
        condition = self.condition_of(name, self._owned_lock(hold))
        request, ended = condition.wait(hold, asking)
        place = self.places[asking] = Place(asking, [Want(name, CONDITION)], hold)
        place.requests = [request]
        self.places[hold].token = 0
        return ended

    def _notify(self, asking: Key, name: str, number: int, count: int | None) -> list[Outcome]:
        done = Outcome(asking, DONE)

        def notify() -> Ended:
            lock = self._owned_lock((asking[0], number))
            return self.condition_of(name, lock).notify(count)

        return self._unless_refused(asking, notify, done=done)

    def _end(self, asking: Key) -> list[Outcome]:
        session, _ = asking
        del self.sessions[session]
        # in the order in which they were asked for, whatever happened since
        gone = [self.places[key] for key in sorted(self.places) if key[0] == session]
        touched: dict[Arbiter[Any], None] = {}
        for place in gone:
            touched |= dict.fromkeys(self._leave(place))
        for place in gone:
            if place.token:
                touched |= dict.fromkeys(self._discharge(place))
        for place in gone:
            del self.places[place.key]
        return self._settled(touched)

    # ==== What they are made of ====

    def _pairs(self, place: Place) -> list[tuple[Any, Any]]:
        return [
            (self.core_of(want), KINDS[want.kind].claim(want, place.key)) for want in place.wants
        ]

    def _arbiters(self, place: Place) -> list[Any]:
        return [self.core_of(want) for want in place.wants]

    def _owned_lock(self, hold: Key) -> str:
        place = self.places.get(hold)
        if place is None or not place.token or [one.kind for one in place.wants] != ["lock"]:
            raise RuntimeError("must hold the lock of the condition, and nothing else with it")
        return place.wants[0].name

    def _condition_at(self, place: Place, lock: Any) -> ConditionCore:
        want = place.wants[0]
        self.used[want.name] = None
        found = self.named.get(want.name)
        if found is not None and isinstance(found.core, ConditionCore) and found.core.lock is lock:
            return found.core
        # All that waited are notified: they are in the queue of the lock, and the name is free.
        return ConditionCore(lock)

    def _discharge(self, place: Place) -> list[Any]:
        """Release what a member holds; the caller settles the cores that are returned."""
        pairs = self._pairs(place)
        for core, claim in pairs:
            core.discharge(claim)
        return [core for core, _ in pairs]

    def _leave(self, place: Place) -> list[Any]:
        """Take a member out of the queues for good; the caller settles the cores that are returned."""
        if not place.requests:
            return []
        request = place.requests[0]
        if place.hold is None:
            arbiters = self._arbiters(place)
            arbiters[0].end_with(request, WITHDRAWN)
            return arbiters
        lock = self.core_of(self.places[place.hold].wants[0])
        if place.raises:
            lock.leave(request)
        else:
            self._condition_at(place, lock).forget(request)
        return [lock]

    def _settled(self, arbiters: Iterable[Any]) -> list[Outcome]:
        waited_for = [arbiter for arbiter in arbiters if arbiter.queue.length]
        return self._granted([one for arbiter in waited_for for one in arbiter.settle()])

    def _granted(self, ended: Ended) -> list[Outcome]:
        """Return the outcomes of these requests, and of those that end elsewhere because of them."""
        if not ended:
            return []  # as after most operations where many wait
        outcomes = []
        for request in _everywhere(ended):
            place = self.places.get(request.waiter)
            # Of a group the first request stands for all.
            if request.status is GRANTED and place is not None and not place.token:
                outcomes.append(self._grant(place, request))
        return outcomes

    def _grant(self, place: Place, request: Request[Any]) -> Outcome:
        place.requests = ()
        self.token = max(self.token + 1, self.stamp)
        kind = KINDS.get(place.wants[0].kind)
        if kind is not None and kind.holds:
            place.token = self.token
        else:
            del self.places[place.key]
        if place.hold is not None:
            self.places[place.hold].token = self.token
        result = RESULT_WITHDRAWN if place.raises else RESULT_GRANTED
        value = None if kind is None or kind.holds else kind.value_of(request)
        return Outcome(place.key, result, self.token, value)

    def _unless_refused(
        self,
        key: Key,
        transition: Callable[..., Ended],
        *details: Any,
        done: Outcome | None = None,
    ) -> list[Outcome]:
        try:
            ended = transition(*details)
        except (ValueError, RuntimeError) as error:
            return [_refusal(key, error)]
        return [*([] if done is None else [done]), *self._granted(ended)]


def _everywhere(ended: Ended) -> Ended:
    """Return these requests, and those that end in other queues because of them."""
    for request in ended:
        if request.group is not None:
            return [*ended, *(one for _, more in settle_transitively(ended) for one in more)]
    return ended


def _refusal(key: Key, error: Exception) -> Outcome:
    return Outcome(key, Result.REFUSED, value=(type(error).__name__, str(error)))
