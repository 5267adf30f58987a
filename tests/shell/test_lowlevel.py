"""A primitive of the user's own without a private name: what tasks own, and what is handed out."""

from typing import Any, NamedTuple

import pytest
import trio
import trio.testing
from trio.lowlevel import Task, current_task

import structsync
from structsync import (
    Arbiter,
    PermitLeakError,
    Primitive,
    acquire_all,
    acquire_any,
    lowlevel,
    observe,
    open_pool,
    open_scope,
    threads,
)

settle = trio.testing.wait_all_tasks_blocked


class Wanted(NamedTuple):
    """A claim on one of the tools, by a task."""

    task: Task


class RackCore(lowlevel.OwnedArbiter[Wanted]):
    """Tools that are handed out, the newest first."""

    tools: tuple[str, ...]
    lent: tuple[tuple[Wanted, str], ...]

    def __init__(self, *tools: str) -> None:
        super().__init__()
        self.tools, self.lent = tools, ()

    def admits(self, claim: Wanted) -> bool:
        return bool(self.tools)

    def admit(self, claim: Wanted) -> None:
        *tools, tool = self.tools
        self.tools, self.lent = tuple(tools), (*self.lent, (claim, tool))

    def discharge(self, claim: Wanted) -> None:
        if not self.holds(claim):
            raise RuntimeError("you hold no tool")
        self.tools = (*self.tools, self.handed_out(claim))
        self.lent = tuple(one for one in self.lent if one[0] != claim)

    def handed_out(self, claim: Wanted) -> str:
        return dict(self.lent)[claim]

    def holds(self, claim: Wanted) -> bool:
        return claim in dict(self.lent)

    def add(self, tool: str) -> Any:
        self.tools = (*self.tools, tool)
        return self.settle()


class Rack(lowlevel.OwnedPrimitive[Wanted]):
    """What a user writes; ``core`` is a name of its own."""

    def __init__(self, *tools: str, **options: Any) -> None:
        self.core = RackCore(*tools)
        super().__init__(self.core, **options)

    async def acquire(self) -> str:
        tool: str = await lowlevel.acquire(self, Wanted(current_task()))
        return tool

    def acquire_nowait(self) -> str:
        tool: str = lowlevel.acquire_nowait(self, Wanted(current_task()))
        return tool

    def release(self) -> None:
        lowlevel.release(self, Wanted(current_task()))

    def tool(self) -> Any:
        return lowlevel.held(self, Wanted(current_task()))

    def request(self) -> Any:
        return lowlevel.request(self, Wanted(current_task()))

    def claim(self) -> Any:
        return lowlevel.claim(self, Wanted)

    def add(self, tool: str) -> None:
        lowlevel.change(self, lambda: self.core.add(tool))


async def test_an_acquire_returns_what_is_handed_out() -> None:
    rack = Rack("saw", "axe")
    assert await rack.acquire() == "axe"
    rack.release()
    assert rack.acquire_nowait() == "axe"
    rack.release()
    async with rack.tool() as tool:
        assert tool == "axe"
    assert rack.core.tools == ("saw", "axe")


async def test_who_waited_is_given_the_one_that_was_returned(nursery: trio.Nursery) -> None:
    rack, got = Rack("saw"), []

    async def work() -> None:
        async with rack.tool() as tool:
            got.append(tool)

    async with rack.tool():
        nursery.start_soon(work)
        await settle()
        assert got == []
        with pytest.raises(trio.WouldBlock):
            rack.acquire_nowait()
    await settle()
    assert got == ["saw"]


async def test_a_change_lets_in_who_waits(nursery: trio.Nursery) -> None:
    rack, got = Rack(), []

    async def work() -> None:
        got.append(await rack.acquire())
        rack.release()

    nursery.start_soon(work)
    await settle()
    rack.add("axe")
    await settle()
    assert got == ["axe"]


async def test_a_cancelled_acquire_has_taken_nothing(nursery: trio.Nursery) -> None:
    rack = Rack("saw")
    async with rack.tool():
        with trio.CancelScope() as scope:
            scope.cancel()
            await trio.lowlevel.checkpoint_if_cancelled()
        nursery.start_soon(rack.acquire)
        await settle()
        nursery.cancel_scope.cancel()
        with trio.CancelScope(shield=True):
            await settle()
        assert rack.statistics().tasks_waiting == 0
    assert rack.core.tools == ("saw",)


async def test_it_has_requests_and_claims() -> None:
    rack = Rack("saw")
    with rack.request() as request:
        await request.wait()
        assert rack.core.handed_out(Wanted(current_task())) == "saw"
    async with acquire_all(rack.claim()) as held:
        assert (len(rack.core.tools), len(held.claims)) == (0, 1)
    async with acquire_any(rack.claim()):
        assert len(rack.core.tools) == 0
    assert [*rack.core.tools] == ["saw"]


async def ended_with_a_tool(rack: Rack, nursery: trio.Nursery) -> None:
    nursery.start_soon(rack.acquire)
    await settle()


async def test_an_owner_that_ends_breaks_it(nursery: trio.Nursery) -> None:
    rack = Rack("saw", "axe", name="the shed")
    await ended_with_a_tool(rack, nursery)
    assert rack.broken
    with pytest.raises(trio.BrokenResourceError, match="Owner of this rack 'the shed' exited"):
        await rack.acquire()


async def test_an_owner_that_ends_releases_where_that_is_chosen(nursery: trio.Nursery) -> None:
    rack, kinds = Rack("saw", owner_exit="releases"), []
    with observe(lambda event: kinds.append(event.kind)):
        await ended_with_a_tool(rack, nursery)
    assert kinds == ["requested", "granted", "released"]
    assert not rack.broken
    assert await rack.acquire() == "saw"
    rack.release()


async def test_a_job_of_a_pool_uses_it_and_one_that_keeps_it_is_told() -> None:
    rack = Rack("saw", "axe", owner_exit="releases")

    async def borrow() -> str:
        async with rack.tool() as tool:
            return str(tool)

    async def keep() -> None:
        await rack.acquire()

    async with open_pool(1) as pool:
        assert await pool.run(borrow) == "axe"
        assert await pool.run(borrow) == "axe"
        with pytest.raises(PermitLeakError):
            await pool.run(keep)
    assert rack.core.tools == ("saw", "axe")


async def test_a_call_of_a_thread_uses_it_and_one_that_keeps_it_is_told() -> None:
    rack = Rack("saw", "axe")

    async def keep() -> None:
        await rack.acquire()

    def calls() -> None:
        with pytest.raises(PermitLeakError, match="Rack"):
            threads.call(keep)

    await trio.to_thread.run_sync(calls)
    assert rack.core.tools == ("saw", "axe")
    assert not rack.broken


async def test_what_is_released_for_an_owner_goes_to_who_waits(nursery: trio.Nursery) -> None:
    rack = Rack("saw", owner_exit="releases")
    ends = trio.Event()

    async def owner() -> None:
        await rack.acquire()
        await ends.wait()

    nursery.start_soon(owner)
    await settle()
    ends.set()
    assert await rack.acquire() == "saw"
    rack.release()


@pytest.mark.parametrize("owner_exit", ["breaks", "releases"])
async def test_a_request_that_an_ended_task_left_is_withdrawn_and_no_other(
    owner_exit: str, nursery: trio.Nursery
) -> None:
    rack = Rack("saw", owner_exit=owner_exit)
    requests, got = [], []

    async def asks() -> None:
        requests.append(rack.request())

    async def waits() -> None:
        async with rack.tool() as tool:
            got.append(tool)

    kinds = list[str]()
    async with rack.tool():
        with structsync.observe(lambda event: kinds.append(event.kind)):
            for task in (waits, asks):
                nursery.start_soon(task)
                await settle()
        assert kinds == ["requested", "requested", "withdrawn"]
        assert requests[0].status == "withdrawn"
        assert rack.statistics().tasks_waiting == 1
    await settle()
    assert (got, rack.core.tools) == (["saw"], ("saw",))


async def test_a_block_whose_primitive_broke_meanwhile_adds_no_error(
    nursery: trio.Nursery,
) -> None:
    rack = Rack("saw", "axe")
    async with rack.tool():
        await ended_with_a_tool(rack, nursery)
        assert rack.broken
        rack.release()
    assert rack.core.tools == ("axe",)


async def test_a_block_whose_primitive_closes_meanwhile_releases_what_it_holds() -> None:
    rack = Rack("saw")
    async with rack.tool():
        rack.close()
    assert rack.core.tools == ("saw",)


async def test_what_a_block_holds_is_not_released_again_silently() -> None:
    rack = Rack("saw")
    with pytest.raises(RuntimeError, match="you hold no tool"):
        async with rack.tool():
            rack.release()


async def test_a_second_release_is_refused_and_a_leak_is_named() -> None:
    rack = Rack("saw")
    with pytest.raises(RuntimeError, match="hold no tool"):
        rack.release()
    with pytest.raises(PermitLeakError, match="took 1 too many"):
        async with open_scope() as scope:
            await scope.own(rack).acquire()
    rack.release()


def test_it_may_move_to_another_run_once_no_task_holds_it() -> None:
    rack = Rack("saw")

    async def use() -> str:
        async with rack.tool() as tool:
            return str(tool)

    assert trio.run(use) == trio.run(use) == "saw"


def test_a_core_that_knows_no_owner_and_a_word_that_is_none_are_refused() -> None:
    class Plain(Arbiter[int]):
        def admits(self, claim: int) -> bool:
            return True

        def admit(self, claim: int) -> None:
            pass

        def discharge(self, claim: int) -> None:
            pass

    make: Any = lowlevel.OwnedPrimitive
    with pytest.raises(TypeError, match="subclass of OwnedArbiter"):
        make(Plain())
    with pytest.raises(ValueError, match="'breaks' or 'releases', not 'dies'"):
        make(RackCore(), owner_exit="dies")
    assert Plain().handed_out(1) is None


async def test_nothing_is_handed_out_by_a_core_that_does_not_say_so() -> None:
    class Gate(Arbiter[None]):
        def admits(self, claim: None) -> bool:
            return True

        def admit(self, claim: None) -> None:
            pass

        def discharge(self, claim: None) -> None:
            pass

    async with lowlevel.held(Primitive(Gate()), None) as nothing:
        assert nothing is None


class Forgetful(RackCore):
    """Settles, and does not say whom it has let in."""

    def add(self, tool: str) -> Any:
        super().add(tool)

    def add_without_settling(self, tool: str) -> Any:
        self.tools = (*self.tools, tool)


async def test_a_change_that_lets_in_and_does_not_say_whom_is_told_what_to_return() -> None:
    core, got = Forgetful(), list[str]()
    rack = lowlevel.OwnedPrimitive(core)

    async def wait() -> None:
        async with lowlevel.held(rack, Wanted(current_task())) as tool:
            got.append(tool)

    async def wait_for_both() -> None:
        async with acquire_all(lowlevel.claim(rack, Wanted), structsync.Lock().claim()):
            got.append("both")

    for waits in (wait, wait_for_both):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(waits)
            await settle()
            with pytest.raises(TypeError, match=r"not None; end .* with `return self.settle\(\)`"):
                lowlevel.change(rack, lambda: core.add("saw"))
            nursery.cancel_scope.cancel()  # a grant beats a cancellation
        assert core.tools == ("saw",)
        core.tools = ()
    assert got == ["saw", "both"]


async def test_a_change_that_is_not_settled_is_settled_and_told(nursery: trio.Nursery) -> None:
    core, got = Forgetful(), list[str]()
    rack = lowlevel.OwnedPrimitive(core)

    async def wait() -> None:
        got.append(await lowlevel.acquire(rack, Wanted(current_task())))
        lowlevel.release(rack, Wanted(current_task()))

    nursery.start_soon(wait)
    await settle()
    with pytest.raises(TypeError, match="must return what settle"):
        lowlevel.change(rack, lambda: core.add_without_settling("saw"))
    await settle()
    assert got == ["saw"]
