"""Calls on several monitors that start together or not at all."""

from __future__ import annotations

from typing import Any

import pytest
import trio
import trio.testing

from structsync import Entry, Monitor, Synchronizer

settle = trio.testing.wait_all_tasks_blocked


class Part(Monitor):
    """A monitor with one entry of a group and one of none."""

    def __init__(self, told: list[str], name: str) -> None:
        super().__init__()
        self.leave = trio.Event()
        self.leave.set()
        self.ready = True
        self.joint = self.entry(lambda: told.append(name), lambda: self.ready)
        self.alone = self.entry(self.leave.wait)


def parts(names: str) -> tuple[list[str], list[Part]]:
    told: list[str] = []
    return told, [Part(told, name) for name in names]


async def start(nursery: trio.Nursery, call: Any, *args: object) -> None:
    nursery.start_soon(call, *args)
    await settle()


async def closed(call: Entry[..., Any]) -> None:
    with pytest.raises(trio.ClosedResourceError):
        await call()


async def test_calls_of_a_group_start_together() -> None:
    told, (a, b) = parts("ab")
    async with Synchronizer() as synchronizer, trio.open_nursery() as nursery:
        synchronizer.atomic(a.joint, b.joint)
        await start(nursery, a.joint)
        await start(nursery, a.joint)
        assert told == []
        await start(nursery, b.joint)
        assert sorted(told) == ["a", "b"]
        await start(nursery, b.joint)
    assert sorted(told) == ["a", "a", "b", "b"]


@pytest.mark.parametrize("last", [0, 1])
async def test_a_group_waits_for_each_monitor_and_each_guard(last: int) -> None:
    told, two = parts("ab")
    late, other = two[last], two[1 - last]
    late.leave = trio.Event()
    late.ready = False
    async with Synchronizer() as synchronizer, trio.open_nursery() as nursery:
        synchronizer.atomic(two[0].joint, two[1].joint)
        await start(nursery, late.entry(late.leave.wait))
        await start(nursery, late.joint)
        await start(nursery, other.joint)
        late.leave.set()
        await settle()
        assert told == []
        await other.alone()  # nothing is held for the group
        late.ready = True
        late.changed()
    assert sorted(told) == ["a", "b"]


async def test_groups_that_share_an_entry_are_one_while_both_last() -> None:
    told, (a, b, c) = parts("abc")
    async with Synchronizer() as outer, trio.open_nursery() as nursery:
        outer.atomic(a.joint, b.joint)
        async with Synchronizer() as inner:
            inner.atomic(b.joint, c.joint)
            await start(nursery, a.joint)
            await start(nursery, b.joint)
            assert told == []
            with pytest.raises(ValueError, match="must be of different monitors"):
                outer.atomic(a.joint, c.alone)
        await settle()
        assert sorted(told) == ["a", "b"]
        await c.joint()


async def test_triggers_of_a_group_run_together_and_an_error_ends_the_whole_group() -> None:
    told, (a, b, c) = parts("abc")
    ran: list[str] = []

    errors: list[BaseException] = []

    async def fails(part: Part, expected: type[Exception]) -> None:
        with pytest.raises(expected) as raised:
            await part.joint()
        errors.append(raised.value)

    async with Synchronizer() as synchronizer, trio.open_nursery() as nursery:
        synchronizer.atomic(a.joint, b.joint)
        synchronizer.trigger(b.joint, lambda: ran.append("b"))
        synchronizer.trigger(b.joint, lambda: 1 // 0)
        synchronizer.disable(c.joint, when=lambda: not ran)
        await start(nursery, c.joint)
        await start(nursery, fails, a, RuntimeError)
        await start(nursery, fails, b, ZeroDivisionError)
        await settle()
        assert (ran, told) == (["b"], ["c"])
        # one object raised in two tasks would have the traceback of both
        partners, own = sorted(errors, key=lambda error: isinstance(error, ZeroDivisionError))
        assert partners.__cause__ is own
        await a.alone()
        await b.alone()


async def test_who_gives_up_leaves_the_others_waiting_for_another_task() -> None:
    told, (a, b) = parts("ab")
    async with Synchronizer() as synchronizer, trio.open_nursery() as nursery:
        synchronizer.atomic(a.joint, b.joint)
        await start(nursery, a.joint)
        with trio.move_on_after(0):
            a.ready = False
            await b.joint()
        a.ready = True
        assert told == []
        await b.joint()
    assert sorted(told) == ["a", "b"]


async def test_a_call_that_can_start_alone_is_not_passed_by_a_group() -> None:
    """A trigger permits both; the monitor of the group that is asked first is not theirs."""
    told, (a, b, c) = parts("abc")
    older = b.entry(lambda: told.append("older"))
    open_: list[int] = []
    async with Synchronizer() as synchronizer, trio.open_nursery() as nursery:
        synchronizer.trigger(c.joint, lambda: open_.append(1))
        for each in (a.joint, older):
            synchronizer.disable(each, when=lambda: not open_)
        synchronizer.atomic(a.joint, b.joint)
        for call in (older, b.joint, a.joint, c.joint):
            await start(nursery, call)
    assert told.index("older") < told.index("b")


async def test_a_partner_whose_guard_raises_is_told_and_the_next_takes_its_place() -> None:
    told, (a, b) = parts("ab")
    bad: list[int] = []
    joint = b.entry(
        lambda which: told.append(which), lambda request: bool(request.args[0] not in bad or 1 // 0)
    )

    async def fails() -> None:
        with pytest.raises(ZeroDivisionError):
            await joint(7)

    async with Synchronizer() as synchronizer, trio.open_nursery() as nursery:
        synchronizer.atomic(a.joint, joint)
        await start(nursery, fails)
        await start(nursery, joint, 8)
        bad.append(7)
        await a.joint()
        b.changed()
    assert told[:2] in ([8, "a"], ["a", 8])


@pytest.mark.parametrize("close_monitor", [False, True])
async def test_closing_a_member_ends_the_calls_that_wait_for_it(close_monitor: bool) -> None:
    _, (a, b) = parts("ab")
    async with Synchronizer() as synchronizer:
        synchronizer.atomic(a.joint, b.joint)
        async with trio.open_nursery() as nursery:
            await start(nursery, closed, a.joint)
            (b if close_monitor else b.joint).close()
        await closed(a.joint)
        await a.alone()
        with pytest.raises(trio.ClosedResourceError):
            synchronizer.atomic(a.joint, b.joint)
    await a.joint()


async def test_a_group_needs_two_entries_of_different_monitors() -> None:
    _, (a, _) = parts("ab")
    async with Synchronizer() as synchronizer:
        with pytest.raises(ValueError, match="needs two entries or more, not 1"):
            synchronizer.atomic(a.joint)
        for two in ((a.joint, a.alone), (a.joint, a.joint)):
            with pytest.raises(ValueError, match="must be of different monitors"):
                synchronizer.atomic(*two)
        await a.joint()
