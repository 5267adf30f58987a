"""The process that rules over objects of others: a task for each call that waits, in the stand-in of its object.

To a synchronizer a stand-in is a monitor like any other. A call enters it once its host has reserved the object, and
leaves it at once; from then on its host has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import trio
from trio.lowlevel import Task, current_task

from structsync import Entry, Monitor
from structsync._core.monitors.stages import Stage
from structsync._core.monitors.stand_in import Readiness, Review, StandInCore
from structsync._runtime import releasing
from structsync._runtime.primitive import Primitive
from structsync.distributed.membership import Grant
from structsync.distributed.names import check_name

from .interface import Method, methods_of
from .proposals import Host, Proposal
from .rulings import Origin, Rules, Ruling

#: How many calls may wait for one ruler, of all hosts; more are refused.
PROPOSALS = 100_000


class StandIn(Monitor):
    """The monitor in which the calls of an object in another process wait."""

    _methods: Mapping[str, Method]

    def __init__(self, name: str, methods: Mapping[str, Method], ruler: Ruler) -> None:
        Primitive.__init__(self, StandInCore(ruler.ready), name=name)
        self._discipline = "mesa"
        self._entries = {}
        self._methods = methods
        for method in methods.values():
            entry: Entry[..., None] = Entry(self, _body_of(method, ruler), None)
            setattr(self, method.name, entry)


def _body_of(method: Method, ruler: Ruler) -> Any:
    def body(*_: Any, **__: Any) -> None:
        ruler.by_task[current_task()].has_started = True

    body.__name__ = method.name
    setattr(body, "__signature__", method.signature)  # noqa: B010 - which rules read
    return body


class Ruler(Rules):
    """Decides when calls of objects in other processes start."""

    ready: Readiness
    stand_ins: dict[str, StandIn]
    hosts: dict[tuple[str, str], Host]  # by session, and name of the object
    by_task: dict[Task, Proposal]
    token: int

    def __init__(self) -> None:
        self.ready = Readiness(self._note_change)
        self.stand_ins = {}
        self.hosts = {}
        self.by_task = {}
        self.token = 0
        self._begun = trio.Event()
        self._named = trio.Event()
        self._changed = trio.Event()
        self._is_closed = False
        self._scope = trio.CancelScope()

    # ==== Its life ====

    async def serve(self, grant: Grant, task_status: trio.TaskStatus[None]) -> None:
        """Decide until :meth:`close`, under the token of this grant."""
        self.token = grant.token
        self._client = grant._client
        self._client.watchers[self._look] = None
        try:
            with self._scope:
                async with trio.open_nursery() as self._nursery:
                    self._begun.set()
                    task_status.started()
                    while True:
                        await self._changed.wait()
                        self._changed = trio.Event()
                        self._review()
        finally:
            del self._client.watchers[self._look]

    def close(self) -> None:
        """Let no call start any more, and send all hosts to the next ruler."""
        self._is_closed = True
        self.ready.clear()
        for host in self.hosts.values():
            host.end()
            host.told.set()
        self._scope.cancel()

    def stand_in(self, name: str, interface: type[Monitor]) -> StandIn:
        """Make the stand-in of an object; its calls have waited for that."""
        check_name(name)
        methods = methods_of(interface)
        if not issubclass(interface, Monitor):
            raise TypeError(
                f"rules are about the entries of a Monitor, and {interface!r} is not one"
            )
        if self._is_closed:
            raise trio.ClosedResourceError("this synchronizer no longer rules: its block has ended")
        if name in self.stand_ins:
            raise ValueError(f"{name!r} has a stand-in here already; use that one")
        stand_in = self.stand_ins[name] = StandIn(name, methods, self)
        self._named.set()
        self._named = trio.Event()
        return stand_in

    def _look(self) -> None:
        """Take back the calls of hosts that are gone."""
        alive = self._client.replica.core.sessions
        for key in [one for one in self.hosts if one[0] not in alive]:
            self.hosts.pop(key).end()

    # ==== Decisions ====

    def _note_change(self) -> None:
        self._changed.set()

    def _review(self) -> None:
        found = Review([], [])

        def look() -> list[Any]:
            nonlocal found
            found = self.ready.review()
            return []

        for stand_in in [*self.stand_ins.values()][:1]:
            releasing.change(stand_in, look)  # rules are evaluated, as in any transition
        for task in found.asked:
            proposal = self.by_task[_task(task)]
            self._host(proposal.origin).ask(proposal.number)
        for task in found.let_go:
            proposal = self.by_task[_task(task)]
            proposal.is_let_go = True
            proposal.changed.set()

    async def _follow(
        self, proposal: Proposal, method: str, arguments: dict[str, msgspec.Raw]
    ) -> None:
        """Wait in the stand-in until the call starts, or ends without."""
        task = current_task()
        try:
            with proposal.scope:
                while proposal.origin.name not in self.stand_ins:
                    await self._named.wait()
                stand_in = self.stand_ins[proposal.origin.name]
                bound = stand_in._methods[method].bind(arguments)
                self.by_task[task], proposal.task = proposal, task
                self.ready.note(task, Stage.PROPOSED)
                await getattr(stand_in, method)(*bound.args, **bound.kwargs)
        except Exception as error:  # noqa: BLE001 - it is for the caller
            proposal.error = error
            self._host(proposal.origin).ask(proposal.number)  # it hears of it when it has reserved
        finally:
            self.by_task.pop(task, None)
            self.ready.stages.pop(task, None)
            proposal.ended.set()
            proposal.changed.set()

    # ==== What hosts call ====

    def _host(self, origin: Origin) -> Host:
        """Return the host of an object; an earlier one of the same session is over."""
        key = (origin.session, origin.name)
        host = self.hosts.get(key)
        if host is None or host.token < origin.token:
            if host is not None:
                host.end()
            host = self.hosts[key] = Host(origin.token)
        return host

    def _proposals(self, origin: Origin) -> dict[int, Proposal]:
        """Return what a host has proposed; nothing, if it is over."""
        host = self.hosts.get((origin.session, origin.name))
        return {} if host is None or host.token != origin.token else host.proposals

    async def listen(self, origin: Origin, ruler: int) -> tuple[int, list[int]]:
        if not self._begun.is_set():
            await self._begun.wait()
        host = self._host(origin)
        if ruler == self.token:
            while not (host.asked or self._is_closed):
                host.told = trio.Event()
                await host.told.wait()
        asked, host.asked = host.asked, {}
        return self.token, [*asked]

    async def propose(
        self, origin: Origin, number: int, method: str, arguments: dict[str, msgspec.Raw]
    ) -> int:
        if not self._begun.is_set():
            await self._begun.wait()
        if len(self._nursery.child_tasks) >= PROPOSALS:
            raise RuntimeError(f"{PROPOSALS} calls already wait, and no more can")
        # A host may be gone before its call has its turn here, and none would take that back.
        if not self._is_closed and origin.session in self._client.replica.core.sessions:
            proposal = self._host(origin).proposals[number] = Proposal(origin, number)
            self._nursery.start_soon(self._follow, proposal, method, arguments)
        return self.token

    async def set_aside(self, origin: Origin, number: int) -> None:
        proposal = self._proposals(origin).get(number)
        if proposal is not None and proposal.task in self.ready.stages:
            self.ready.set_aside(proposal.task)
            self._note_change()

    async def reserve(self, origin: Origin, number: int) -> Ruling:
        proposals = self._proposals(origin)
        proposal = proposals.get(number)
        if proposal is None:
            return Ruling.UNKNOWN
        try:
            if not proposal.ended.is_set() and not await self._wait_for_start(proposal):
                return Ruling.LET_GO
        except trio.Cancelled:
            proposal.scope.cancel()
            with trio.CancelScope(shield=True):
                await proposal.ended.wait()
            if not proposal.has_started:
                raise
        proposals.pop(number, None)
        if proposal.error is not None:
            raise proposal.error
        return Ruling.STARTED if proposal.has_started else Ruling.UNKNOWN

    async def _wait_for_start(self, proposal: Proposal) -> bool:
        """Return whether a call has ended whose object is reserved now; else that need not be."""
        if proposal.task not in self.ready.stages or not self.ready.reserved(proposal.task):
            return False
        proposal.is_let_go = False
        proposal.changed = trio.Event()
        self.stand_ins[proposal.origin.name].changed()
        await proposal.changed.wait()
        return proposal.ended.is_set() or not proposal.is_let_go

    async def withdraw(self, origin: Origin, number: int) -> None:
        proposal = self._proposals(origin).pop(number, None)
        if proposal is not None:
            proposal.scope.cancel()


def _task(task: Any) -> Task:
    found: Task = task
    return found
