"""The host of an object that another process rules over: it asks before it starts some of the calls.

A call waits first until the object itself would let it in. Then it is proposed, and nothing is reserved: calls that no rule
concerns overtake it. When the other process asks for that, the object is reserved for the call, which starts or
is let go. If it was occupied when it was asked for, the call joins the queue there, and is offered with the object reserved,
so that calls that come all the time cannot keep it out.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from inspect import BoundArguments
from itertools import count
from typing import Any, cast

import msgspec
import trio
from trio.lowlevel import current_task, enable_ki_protection

from structsync import Entry, Monitor
from structsync._core.monitors.entry import Invocation
from structsync._runtime import parking, releasing
from structsync.distributed.client import LONGEST_BACKOFF
from structsync.distributed.errors import CallOutcomeUnknown, LeaseLost
from structsync.distributed.membership import Membership

from .caller import Caller
from .entered import NoAnswer, run_inside
from .failures import Errors
from .proxy import Proxy
from .rulings import METHODS, Origin, Rules, Ruling
from .running import Running


class Undecided(Exception):
    """Whether a call was to start cannot be known: the process that rules is gone."""


class Petition:
    """A call that was proposed."""

    number: int
    ruler: int  # the token of the ruler that has it
    is_void: bool  # because that one is gone
    told: trio.Event

    def __init__(self, number: int) -> None:
        self.number = number
        self.ruler = 0
        self.is_void = False
        self.told = trio.Event()

    def end(self) -> None:
        self.is_void = True
        self.told.set()


class Ruled:
    """What a host asks another process for."""

    methods: Collection[str]
    petitions: dict[int, Petition]
    scope: trio.CancelScope

    def __init__(
        self,
        session: Membership,
        caller: Caller,
        origin: Origin,
        methods: Collection[str],
        errors: Errors,
    ) -> None:
        self._session = session
        self._origin = origin
        self._rules = cast(Rules, Proxy(caller, "Rules", METHODS, errors))
        self.methods = methods
        self.petitions = {}
        self._numbers = count(1)
        self._heard = 0  # the token of the ruler, as far as is known
        self.scope = trio.CancelScope()

    # ==== What comes ====

    async def listen(self) -> None:
        """Hear for which calls the object is to be reserved, until ``scope`` is cancelled."""
        with self.scope:
            while not self._session._lost:
                try:
                    token, asked = await self._rules.listen(self._origin, self._heard)
                except CallOutcomeUnknown:
                    token, asked = self._heard + 1, []
                except Exception:  # noqa: BLE001 - others use the name for something else, which each call is told
                    await trio.sleep(LONGEST_BACKOFF)
                    continue
                self._hear(token, asked)

    def _hear(self, token: int, asked: list[int]) -> None:
        self._heard = token
        for one in self.petitions.values():
            if 0 < one.ruler < token:
                one.end()
        for number in asked:
            if number in self.petitions:
                self.petitions[number].told.set()
            else:  # what was taken back on its way
                self._session._nursery.start_soon(self._withdraw, (self._origin, number))

    # ==== Calls ====

    @enable_ki_protection
    async def call(
        self,
        entry: Entry[..., Any],
        arguments: dict[str, msgspec.Raw],
        bound: BoundArguments,
        running: Running,
    ) -> Any:
        """Run the function of an entry when the object, the rules and all partners permit it.

        Raises:
          NoAnswer: if its wait was ended; or if it cannot be known whether it was to start, and then it counts as begun.
        """
        if entry._core.rules is not None:
            raise RuntimeError(
                f"{entry!r} is under a Synchronizer of this process, too; state all its rules in one place"
            )
        monitor = entry._monitor
        claim = Invocation(entry._core, current_task(), bound.args, bound.kwargs)
        try:
            with running.waiting:
                await parking.acquire(monitor, claim)
                releasing.release(monitor, claim)
                while not await self._propose(entry, claim, arguments):
                    pass
                running.begin()
        except Undecided:
            running.begin()
            raise NoAnswer from None
        except (LeaseLost, trio.ClosedResourceError):
            if not self._session._lost:
                raise  # the object is closed
            raise NoAnswer from None
        if not running.is_begun:
            raise NoAnswer
        return await run_inside(entry, claim)

    async def _propose(
        self, entry: Entry[..., Any], claim: Invocation, arguments: dict[str, msgspec.Raw]
    ) -> bool:
        """Return whether the call starts, and then with its object reserved; if not, it is to be proposed again."""
        petition = Petition(next(self._numbers))
        self.petitions[petition.number] = petition
        about = (self._origin, petition.number)
        has_started = False
        try:
            petition.ruler = await self._rules.propose(*about, entry._core.name, arguments)
            if petition.ruler < self._heard:
                return False
            has_started = await self._wait_for_start(entry, claim, petition)
        except CallOutcomeUnknown:
            return False  # it is proposed nowhere any more
        finally:
            del self.petitions[petition.number]
            if petition.ruler and not (has_started or petition.is_void):
                self._session._nursery.start_soon(self._withdraw, about)
        return has_started

    async def _wait_for_start(
        self, entry: Entry[..., Any], claim: Invocation, petition: Petition
    ) -> bool:
        about = (self._origin, petition.number)
        while True:
            await petition.told.wait()
            if petition.is_void:
                return False
            petition.told = trio.Event()
            try:
                parking.acquire_nowait(entry._monitor, claim)
            except trio.WouldBlock:
                await self._rules.set_aside(*about)
                await parking.acquire(entry._monitor, claim)
            ruling: Ruling | None = None
            try:
                ruling = await self._rules.reserve(*about)
            except CallOutcomeUnknown:
                raise Undecided from None
            finally:
                if ruling is not Ruling.STARTED and entry._monitor_core.owner is claim.task:
                    releasing.release(entry._monitor, claim)
            if ruling is not Ruling.LET_GO:
                return ruling is Ruling.STARTED

    async def _withdraw(self, about: tuple[Origin, int]) -> None:
        with suppress(Exception):  # it is waited for by none
            await self._rules.withdraw(*about)


def check_ruled(
    obj: object, methods: Collection[str], ruled: Collection[str] | None
) -> Collection[str]:
    """Return the methods that are ruled over, all entries among them if none are named.

    Raises:
      TypeError: if the object is not a monitor.
      ValueError: if one is not among its entries.
    """
    if not isinstance(obj, Monitor):
        raise TypeError(f"rules are about the entries of a Monitor, and {obj!r} is not one")
    entries = {name for name in methods if isinstance(getattr(obj, name), Entry)}
    names = entries if ruled is None else {*ruled}
    if unknown := sorted(names - entries):
        raise ValueError(
            f"{unknown[0]!r} cannot be ruled over: it is not among {', '.join(sorted(entries))}"
        )
    return names
