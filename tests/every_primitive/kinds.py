"""Every public primitive behind one set of verbs, so that a contract is written once for all.

*Take* is the blocking operation of a kind, *give* undoes it in the same task. *Occupy* makes the
next take wait, and *free* lets one waiter in; both are sync, and may be called in one step with a
cancellation. ``lend`` says whether a take holds something afterwards.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import trio

from structsync import (
    Arbiter,
    Barrier,
    Buffer,
    CapacityLimiter,
    Condition,
    Invocation,
    Latch,
    Lock,
    LockMap,
    Monitor,
    MonitorCondition,
    Parker,
    Primitive,
    RateLimiter,
    ResourcePool,
    RWLock,
    Semaphore,
    Value,
    WaitQueue,
    acquire_all,
    acquire_any,
    entry,
)
from structsync._core.monitors.entry import Guard, Trigger
from structsync._core.monitors.synchronizer import Rules, SynchronizerCore
from structsync._core.primitives.sides import Lend
from structsync._runtime import items_in_hand, lending, releasing
from structsync._runtime.lending import Loan
from structsync._runtime.runs import check_run

Direction = Literal["east", "west"]


class BridgeCore(Arbiter[Direction]):
    """A narrow bridge: any number at a time, all in one direction."""

    heading: Direction | None
    crossing: int

    def __init__(self) -> None:
        super().__init__()
        self.heading, self.crossing = None, 0

    def admits(self, claim: Direction) -> bool:
        return self.heading in (None, claim)

    def admit(self, claim: Direction) -> None:
        self.heading = claim
        self.crossing += 1

    def discharge(self, claim: Direction) -> None:
        if self.heading != claim:
            raise RuntimeError(f"no task crosses to the {claim}")
        self.crossing -= 1
        if not self.crossing:
            self.heading = None


class Bridge(Primitive[Direction]):
    """A primitive as a user writes one: everything but the core is inherited."""

    def __init__(self) -> None:
        super().__init__(BridgeCore())

    async def enter(self, direction: Direction) -> None:
        await self._acquire(direction)

    def enter_nowait(self, direction: Direction) -> None:
        self._acquire_nowait(direction)

    def leave(self, direction: Direction) -> None:
        self._release(direction)


class Kind:
    """One way to use one primitive. The defaults are those of a semaphore."""

    cls: ClassVar[type[Primitive[Any]]] = Semaphore
    passes = True  # whether a take can pass without any task's help
    crowd = True  # whether several tasks may wait
    lends = True  # whether a take holds something
    taskless = True  # whether occupy and free need no task
    moves = True  # whether a run in another thread may use it where no task waits or holds it

    def __init__(self, name: str, **options: Any) -> None:
        self.name = name
        self.options = options

    def make(self) -> Any:
        return Semaphore(1, **self.options)

    def prepare(self, p: Any) -> None:
        """Let the next take pass at once."""

    def occupy(self, p: Any) -> None:
        p.acquire_nowait()

    def free(self, p: Any) -> None:
        p.release()

    async def free_soon(self, p: Any) -> None:
        """As ``free``, but wait where that needs a lock that a waiter may own now."""
        self.free(p)

    async def take(self, p: Any) -> None:
        await p.acquire()

    def take_nowait(self, p: Any) -> None:
        p.acquire_nowait()

    def give(self, p: Any) -> None:
        p.release()

    def state(self, p: Any) -> object:
        """What may not change if a take did not happen."""
        return p.statistics(), repr(p)


class OfPermits(Kind):
    """Several permits at once, by the context manager."""

    def make(self) -> Semaphore:
        return Semaphore(3, max_value=3)

    def occupy(self, p: Semaphore) -> None:
        p.acquire_nowait()

    async def take(self, p: Semaphore) -> None:
        await p.permits(3).__aenter__()

    def take_nowait(self, p: Semaphore) -> None:
        p.acquire_nowait(3)

    def give(self, p: Semaphore) -> None:
        p.release(3)


class OfLock(Kind):
    cls: ClassVar[type[Primitive[Any]]] = Lock
    taskless = False

    def make(self) -> Lock:
        return Lock(**self.options)


class OfGroup(OfLock):
    """A lock together with a permit that is always there, or instead of one that never comes."""

    def __init__(self, name: str, *, every: bool) -> None:
        super().__init__(name)
        self.every = every

    def block(self, p: Lock) -> Any:
        other = Semaphore(1 if self.every else 0)
        acquire = acquire_all if self.every else acquire_any
        return acquire(other.claim(), p.claim())

    async def take(self, p: Lock) -> None:
        await self.block(p).__aenter__()


class OfLimiter(Kind):
    cls = CapacityLimiter

    def make(self) -> CapacityLimiter:
        return CapacityLimiter(1, **self.options)

    def occupy(self, p: CapacityLimiter) -> None:
        p.acquire_on_behalf_of_nowait("occupant")

    def free(self, p: CapacityLimiter) -> None:
        p.release_on_behalf_of("occupant")


class OfBorrower(OfLimiter):
    """A limiter on behalf of a borrower that is not the task."""

    async def take(self, p: CapacityLimiter) -> None:
        await p.acquire_on_behalf_of(("borrower", trio.lowlevel.current_task()))

    def take_nowait(self, p: CapacityLimiter) -> None:
        p.acquire_on_behalf_of_nowait(("borrower", trio.lowlevel.current_task()))

    def give(self, p: CapacityLimiter) -> None:
        p.release_on_behalf_of(("borrower", trio.lowlevel.current_task()))


class OfBridge(Kind):
    cls = Bridge

    def make(self) -> Bridge:
        return Bridge()

    def occupy(self, p: Bridge) -> None:
        p.enter_nowait("west")

    def free(self, p: Bridge) -> None:
        p.leave("west")

    async def take(self, p: Bridge) -> None:
        await p.enter("east")

    def take_nowait(self, p: Bridge) -> None:
        p.enter_nowait("east")

    def give(self, p: Bridge) -> None:
        p.leave("east")


class OfParker(Kind):
    cls: ClassVar[type[Primitive[Any]]] = Parker
    crowd = False
    lends = False

    def make(self) -> Any:
        return Parker()

    def prepare(self, p: Any) -> None:
        p.unblock()

    def occupy(self, p: Any) -> None:
        pass

    def free(self, p: Any) -> None:
        p.unblock()

    async def take(self, p: Any) -> None:
        await p.block()

    def give(self, p: Any) -> None:
        pass


class OfWaitQueue(OfParker):
    cls: ClassVar[type[Primitive[Any]]] = WaitQueue
    passes = False
    crowd = True

    def make(self) -> Any:
        return WaitQueue()

    def prepare(self, p: Any) -> None:
        pass

    def free(self, p: Any) -> None:
        p.wake()

    async def take(self, p: Any) -> None:
        await p.wait()


class OfCondition(OfWaitQueue):
    """The lock is part of the take, as it is of every use of a condition."""

    cls: ClassVar[type[Primitive[Any]]] = Condition
    taskless = False

    def make(self) -> Any:
        return Condition()

    def free(self, p: Any) -> None:
        p.acquire_nowait()
        p.notify()
        p.release()

    async def free_soon(self, p: Any) -> None:
        async with p:
            p.notify()

    async def take(self, p: Any) -> None:
        async with p:
            await p.wait()


class OfWriting(Kind):
    cls = RWLock
    taskless = False

    def make(self) -> Any:
        return RWLock(**self.options)

    def occupy(self, p: Any) -> None:
        p.acquire_write_nowait()

    async def take(self, p: Any) -> None:
        await p.acquire_write()

    def take_nowait(self, p: Any) -> None:
        p.acquire_write_nowait()


class OfReading(OfWriting):
    async def take(self, p: Any) -> None:
        await p.acquire_read()

    def take_nowait(self, p: Any) -> None:
        p.acquire_read_nowait()


class OfBarrier(OfWaitQueue):
    """The other party is one that comes and does not wait, so that it needs no task."""

    cls = Barrier
    crowd = False  # two of them are a round
    taskless = False

    def make(self) -> Any:
        return Barrier(2, **self.options)

    def free(self, p: Any) -> None:
        def come() -> Any:
            p._core.enqueue(None)
            return p._core.release_round()

        releasing.change(p, come)

    async def take(self, p: Any) -> None:
        await p.wait()


class OfLatch(OfParker):
    """A latch opens once, and lets in all; where a contract needs it shut again, it is wound up."""

    cls = Latch
    crowd = True

    def make(self) -> Any:
        return Latch(1)

    def prepare(self, p: Any) -> None:
        if p.count:
            p.count_down()

    def occupy(self, p: Any) -> None:
        p._core.count = 1

    def free(self, p: Any) -> None:
        self.prepare(p)

    async def take(self, p: Any) -> None:
        await p.wait()


class OfRateLimiter(OfParker):
    """A permit takes a day, so that no test sees it come back; where one is to, the day is over."""

    cls = RateLimiter
    crowd = True

    def make(self) -> Any:
        limiter = RateLimiter(1, per=86_400)
        limiter.acquire_nowait()
        return limiter

    def prepare(self, p: Any) -> None:
        if not p.value:
            self.free(p)

    @trio.lowlevel.enable_ki_protection  # as in a method of the library
    def free(self, p: Any) -> None:
        def a_day_is_over() -> Any:
            p._core.spent = 0
            return p._core.settle()

        releasing.change(p, a_day_is_over)

    async def take(self, p: Any) -> None:
        await p.acquire()


class OfValue(OfParker):
    """A value that lets in all who wait for it, and can be taken back."""

    cls = Value
    crowd = True

    def make(self) -> Any:
        return Value(False)

    def prepare(self, p: Any) -> None:
        p.value = True

    def occupy(self, p: Any) -> None:
        p.value = False

    def free(self, p: Any) -> None:
        p.value = True

    async def take(self, p: Any) -> None:
        await p.wait_for(bool)


class OfGetting(OfParker):
    """An item that is got is used up."""

    cls: ClassVar[type[Primitive[Any]]] = Buffer
    crowd = True

    def make(self) -> Any:
        return Buffer(2, **self.options)

    def prepare(self, p: Any) -> None:
        p.put_nowait("item")

    def free(self, p: Any) -> None:
        p.put_nowait("item")

    async def take(self, p: Any) -> None:
        await p.get()

    def take_nowait(self, p: Any) -> None:
        p.get_nowait()


class OfPutting(OfGetting):
    """A buffer that is full: a get of its item makes room for one put."""

    def make(self) -> Any:
        buffer = Buffer[str](1, **self.options)
        buffer.put_nowait("item")
        return buffer

    def prepare(self, p: Any) -> None:
        self.free(p)

    def free(self, p: Any) -> None:
        if p.statistics().items:
            p.get_nowait()

    async def take(self, p: Any) -> None:
        await p.put("item")

    def take_nowait(self, p: Any) -> None:
        p.put_nowait("item")


class OfBatches(OfGetting):
    """A batch whose one item is there is complete."""

    async def take(self, p: Any) -> None:
        await p.get_batch(1, max_wait=1)

    def take_nowait(self, p: Any) -> None:
        p.get_many_nowait(1)


class OfItemInHand(Kind):
    """An item that a block works on, and that fails in the end: it is back where it was."""

    cls = Buffer

    def make(self) -> Any:
        buffer = Buffer[str](1, **self.options)
        buffer.put_nowait("item")
        return buffer

    @trio.lowlevel.enable_ki_protection  # as in a method of the library
    def occupy(self, p: Any) -> None:
        p._acquire_nowait(Lend())

    @trio.lowlevel.enable_ki_protection
    def free(self, p: Any) -> None:
        (claim,) = p._core.lent
        items_in_hand.put_back(p, claim)

    async def take(self, p: Any) -> None:
        await p.item().__aenter__()

    def take_nowait(self, p: Any) -> None:
        self.occupy(p)

    def give(self, p: Any) -> None:
        self.free(p)


class OfLockMap(OfLock):
    """One key of a map, whose lock is there as long as a task uses it."""

    cls = LockMap

    def make(self) -> Any:
        return LockMap[str]()

    def occupy(self, p: Any) -> None:
        p["key"].acquire_nowait()

    def free(self, p: Any) -> None:
        p["key"].release()

    async def take(self, p: Any) -> None:
        await p["key"].acquire()

    def take_nowait(self, p: Any) -> None:
        self.occupy(p)

    def give(self, p: Any) -> None:
        self.free(p)


async def make_object() -> object:
    return object()


class OfResourcePool(Kind):
    """A pool whose one item exists already: the item is borrowed, and returned, by hand."""

    cls = ResourcePool

    def make(self) -> Any:
        pool = ResourcePool(make_object, 1)
        place = Loan()
        pool._acquire_nowait(place)
        pool._core.put_in(place, object())
        lending.leave(pool, place)
        return pool

    @trio.lowlevel.enable_ki_protection  # as in a method of the library
    def occupy(self, p: Any) -> None:
        p._acquire_nowait(Loan())

    @trio.lowlevel.enable_ki_protection
    def free(self, p: Any) -> None:
        (place,) = p._core.loans
        lending.leave(p, place)

    async def take(self, p: Any) -> None:
        await lending.borrow(p, Loan())

    def take_nowait(self, p: Any) -> None:
        self.occupy(p)

    def give(self, p: Any) -> None:
        self.free(p)


class Gate(Monitor):
    """A monitor whose entry lets one through each time it is opened."""

    opened = 0

    @entry(when=lambda self: self.opened)
    def go_through(self) -> None:
        self.opened -= 1


class OfMonitor(OfWaitQueue):
    """A call that waits for its guard; nothing is held when it has returned."""

    cls: ClassVar[type[Primitive[Any]]] = Monitor
    passes = True

    def make(self) -> Any:
        return Gate()

    def prepare(self, p: Any) -> None:
        p.opened = 1

    def free(self, p: Any) -> None:
        p.opened = 1
        p.changed()

    async def take(self, p: Any) -> None:
        await p.go_through()


class OfRules(OfMonitor):
    """A call that waits for a synchronizer, too, whose trigger runs when it starts."""

    moves = False  # while there are rules it is of the run of the synchronizer

    def make(self) -> Any:
        gate, core = Gate(), SynchronizerCore()
        check_run(gate)  # as a synchronizer does
        rules = Rules(gate.go_through._core, gate._core, gate)
        core.disable(rules, Guard(lambda: not gate.opened))
        core.trigger(rules, Trigger(lambda: None))
        return gate


class OfMonitorCondition(OfWaitQueue):
    """Getting into the monitor is part of the take, as it is of every wait in one.

    Its ``repr`` shows the monitor, and so the policy of that.
    """

    cls: ClassVar[type[Primitive[Any]]] = MonitorCondition
    taskless = False

    def make(self) -> Any:
        return Monitor().condition()

    def free(self, p: Any) -> None:
        claim = Invocation(p._monitor._core.reentry, trio.lowlevel.current_task())
        p._monitor._acquire_nowait(claim)
        p.notify()
        p._monitor._release(claim)

    async def free_soon(self, p: Any) -> None:
        await p._monitor.entry(p.notify)()

    async def take(self, p: Any) -> None:
        await p._monitor.entry(p.wait)()


KINDS: list[Kind] = [
    Kind("semaphore"),
    Kind("bounded semaphore", max_value=1),
    Kind("eligible semaphore", policy="eligible"),
    Kind("priority semaphore", policy="priority"),
    Kind("budget semaphore", checkpoint="budget"),
    OfPermits("three permits"),
    OfLock("lock"),
    OfLock("priority lock", policy="priority"),
    OfLock("budget lock", checkpoint="budget"),
    OfGroup("all of a group", every=True),
    OfGroup("any of a group", every=False),
    OfCondition("condition"),
    OfWaitQueue("wait queue"),
    OfMonitor("monitor", policy="eligible"),
    OfRules("monitor under a synchronizer", policy="eligible"),
    OfMonitorCondition("monitor condition", policy="eligible"),
    OfParker("parker"),
    OfLimiter("limiter"),
    OfBorrower("limiter on behalf of"),
    OfLimiter("priority limiter", policy="priority"),
    OfBridge("user-written bridge"),
    OfWriting("rwlock, writing"),
    OfReading("rwlock, reading"),
    OfWriting("phase rwlock, writing", policy="phase"),
    OfReading("phase rwlock, reading", policy="phase"),
    OfBarrier("barrier"),
    OfLatch("latch"),
    OfRateLimiter("rate limiter"),
    OfValue("value", policy="eligible"),
    OfGetting("buffer, getting"),
    OfPutting("buffer, putting"),
    OfBatches("buffer, in batches"),
    OfItemInHand("buffer, item in hand"),
    OfResourcePool("resource pool"),
    OfLockMap("lock map"),
]
