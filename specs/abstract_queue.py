"""The queue that every primitive that serves first come, first served, is an implementation of.

It says who waits, in which order, and whom a step grants: always those at the head. Somebody comes; somebody
gives up; the head is granted, one or several; all are told that it is over. In the same step in which
somebody comes or gives up, others may be granted. Nothing is said about *when* somebody is granted: that is what
primitives differ in.

`FifoSpec` (in `common.py`) maps the core that ships to this queue, and each of its steps must be one of
these, or none (`it_is_a_queue`). A core takes each step in one go, between the call of an operation and its return.
So the operations of a program, blocking ones and `nowait` ones, in whatever order tasks call
them, have the results that they would have if each of them happened at one moment, in the order of those moments, at
this queue: they are *linearizable*.
"""

from __future__ import annotations

from collections.abc import Sequence

from structsync.checking import Spec, action, invariant, start

# ==== Bounds ====

# Many primitives are mapped to it, so it has names for the longest queue of them. It is looked at alone with
# fewer: a head, a tail, and two between them.
NAMES = ("a", "b", "c", "d", "e", "f")


class AbstractQueue(Spec):
    """Who waits, and whom the last step granted."""

    abstract = True
    forgets = ("granted",)

    names: Sequence[str] = NAMES
    waiting: tuple[str, ...] = start(tuple)  # the oldest first
    granted: tuple[str, ...] = start(tuple)  # by the last step, in this order; then forgotten

    def others(self) -> list[str]:
        return [who for who in self.names if who not in self.waiting]

    def some(self) -> range:
        """Return how many may be granted in one step; one more, if somebody comes in this step."""
        return range(len(self.waiting) + 2)

    # ==== Actions ====

    @action(who=others, number=some)
    def come(self, who: str, number: int) -> None:
        """Somebody joins at the end, and the head of the queue is granted: nobody, some, or all."""
        self.waiting += (who,)
        self.grant(number)

    @action(who=lambda spec: spec.waiting, number=some)
    def give_up(self, who: str, number: int) -> None:
        self.waiting = tuple([one for one in self.waiting if one != who])
        self.grant(number)

    @action(number=some)
    def grant(self, number: int) -> None:
        self.granted, self.waiting = self.waiting[:number], self.waiting[number:]

    @action(number=some)
    def tell(self, number: int) -> None:
        """Those at the end are told that it is over: all of them, or those whom there is no room for."""
        self.granted, self.waiting = (), self.waiting[:number]

    # ==== What is true of it ====

    @invariant
    def nobody_stands_twice(self) -> bool:
        """Who waits has one place in the queue."""
        return len(self.waiting) == len({*self.waiting})


class ShortQueue(AbstractQueue):
    """The same, of four."""

    names = NAMES[:4]
