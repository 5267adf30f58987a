"""Rules over the entries of several monitors: disabling, triggers, and where they end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NoReturn

import pytest
import trio
import trio.testing

from structsync import Entry, Lock, Monitor, PrimitiveEvent, Synchronizer, entry, observe
from structsync._core.queue import group
from structsync._runtime import waking

settle = trio.testing.wait_all_tasks_blocked


class Button(Monitor):
    """On and off in turn, and it does not know of the others."""

    is_on = False

    @entry(when=lambda self: not self.is_on)
    def on(self) -> None:
        self.is_on = True

    @entry(when=lambda self: self.is_on)
    def off(self) -> None:
        self.is_on = False

    @entry
    def look(self) -> bool:
        return self.is_on


def radio(synchronizer: Synchronizer, *buttons: Button) -> list[Button]:
    """At most one of the buttons is on; return those that are."""
    lit: list[Button] = []
    for button in buttons:
        synchronizer.disable(button.on, when=lambda: bool(lit))
        synchronizer.trigger(button.on, lambda button=button: lit.append(button))
        synchronizer.trigger(button.off, lambda button=button: lit.remove(button))
    return lit


async def start(nursery: trio.Nursery, call: Any, *args: object) -> None:
    nursery.start_soon(call, *args)
    await settle()


async def is_refused(call: Entry[..., Any]) -> bool:
    """Say whether a call cannot start now."""
    with trio.move_on_after(0) as scope:
        await call()
    return scope.cancelled_caught


# ==== disabling and triggers ====


async def test_of_three_radio_buttons_at_most_one_is_on() -> None:
    a, b, c = Button(), Button(), Button()
    told: list[list[bool]] = []
    async with Synchronizer() as synchronizer, trio.open_nursery() as nursery:
        lit = radio(synchronizer, a, b, c)
        for call in (a.on, b.on, c.on, a.off, c.off, b.off):
            await start(nursery, call)
            told.append([button.is_on for button in (a, b, c)])
    assert told == [
        *[[True, False, False]] * 3,
        [False, True, False],  # the oldest that waits
        [False, True, False],  # who turns off what is not on waits, too
        [False, False, False],
    ]
    assert lit == []


async def test_overlapping_synchronizers_compose() -> None:
    a, b, c = Button(), Button(), Button()
    async with Synchronizer() as left, Synchronizer() as right:
        radio(left, a, b)
        radio(right, b, c)
        await a.on()
        await c.on()
        assert await is_refused(b.on)
        await a.off()
        assert await is_refused(b.on)
        await c.off()
        await b.on()
        assert await is_refused(a.on)
        assert await is_refused(c.on)


async def test_calls_that_no_synchronizer_concerns_never_wait_behind_those_it_does() -> None:
    """Neither where the monitor is free nor in its queue (figure 3.8 of Silvestre 2009)."""
    monitor, got, leave = Monitor(), list[int](), trio.Event()
    stay = monitor.entry(leave.wait)
    get, set_ = monitor.entry(lambda: got.append(0)), monitor.entry(lambda: got.append(1))
    async with Synchronizer() as synchronizer, trio.open_nursery() as nursery:
        synchronizer.disable(set_, when=lambda: True)
        for _ in range(10):
            await start(nursery, set_)
        await start(nursery, get)
        assert got == [0]
        for call in (stay, set_, get, get):
            await start(nursery, call)
        leave.set()
        await settle()
        assert (got, monitor.statistics().tasks_waiting) == ([0, 0, 0], 11)
        nursery.cancel_scope.cancel()


async def test_the_end_of_the_block_permits_what_was_disabled() -> None:
    button = Button()
    async with trio.open_nursery() as nursery:
        async with Synchronizer() as synchronizer:
            synchronizer.disable(button.on, when=lambda: True)
            await start(nursery, button.on)
            assert button.statistics().tasks_waiting == 1
    assert button.is_on
    assert button.on._core.rules is None


async def test_the_end_of_one_block_leaves_the_rules_of_the_other() -> None:
    button = Button()
    async with Synchronizer() as outer:
        outer.disable(button.on, when=lambda: True)
        async with Synchronizer() as inner:
            inner.disable(button.on, when=lambda: False)
        assert await is_refused(button.on)


async def test_a_local_guard_is_asked_before_the_synchronizers() -> None:
    button, asked = Button(), list[str]()
    async with Synchronizer() as synchronizer:
        synchronizer.disable(button.off, when=lambda: bool(asked.append("synchronizer")))  # type: ignore[func-returns-value]
        assert await is_refused(button.off)
        assert asked == []
        await button.on()
        await button.off()
        assert asked == ["synchronizer"]


async def test_disabling_and_triggers_may_look_at_the_request() -> None:
    monitor, seen = Monitor(), list[Any]()
    take = monitor.entry(lambda number: number)
    async with Synchronizer() as synchronizer, trio.open_nursery() as nursery:
        synchronizer.disable(take, when=lambda request: request.args[0] > 1)
        synchronizer.trigger(take, lambda request: seen.append(request.args))
        await start(nursery, take, 2)
        await take(1)
        assert seen == [(1,)]
        nursery.cancel_scope.cancel()


async def test_a_trigger_lets_in_those_of_other_monitors_and_so_on() -> None:
    """A chain as long as many stacks would not be."""
    buttons, turn = [Button() for _ in range(300)], [0]
    async with Synchronizer() as synchronizer, trio.open_nursery() as nursery:
        for at, button in enumerate(buttons):
            synchronizer.disable(button.on, when=lambda at=at: turn[0] != at)
            synchronizer.trigger(button.on, lambda at=at: turn.__setitem__(0, at + 1))
        for button in buttons[1:]:
            nursery.start_soon(button.on)
        await settle()
        await buttons[0].on()
    assert all(button.is_on for button in buttons)


# ==== errors and cancellation ====


async def test_a_guard_of_a_synchronizer_that_raises_fails_the_call_it_was_asked_about() -> None:
    button, broken = Button(), list[int]()
    async with Synchronizer() as synchronizer, trio.open_nursery() as nursery:
        synchronizer.disable(button.on, when=lambda: not broken or bool(1 // 0))

        async def call() -> None:
            with pytest.raises(ZeroDivisionError):
                await button.on()

        await start(nursery, call)
        broken.append(1)
        button.changed()
        await call()
    assert not button.is_on


@pytest.mark.parametrize("waits", [False, True])
async def test_a_trigger_that_raises_fails_its_call_and_keeps_what_earlier_ones_did(
    waits: bool,
) -> None:
    a, b, done = Button(), Button(), list[str]()
    async with Synchronizer() as synchronizer, trio.open_nursery() as nursery:
        synchronizer.disable(a.on, when=lambda: waits)
        synchronizer.disable(b.on, when=lambda: not done)
        synchronizer.trigger(a.on, lambda: done.append("first"))
        synchronizer.trigger(a.on, lambda: 1 // 0)
        synchronizer.trigger(a.on, lambda: done.append("third"))

        async def call() -> None:
            with pytest.raises(ZeroDivisionError):
                await a.on()

        await start(nursery, b.on)
        await start(nursery, call)
        waits = False
        a.changed()
        await settle()
        assert (done, a.is_on, b.is_on) == (["first"], False, True)
        assert await a.look() is False


async def test_a_cancelled_call_has_run_no_trigger() -> None:
    button, done = Button(), list[int]()
    async with Synchronizer() as synchronizer:
        synchronizer.disable(button.on, when=lambda: True)
        synchronizer.trigger(button.on, lambda: done.append(1))
        assert await is_refused(button.on)
    async with Synchronizer() as synchronizer:
        synchronizer.trigger(button.on, lambda: done.append(1))
        with trio.CancelScope() as scope:
            scope.cancel()
            await button.on()
    assert (done, button.is_on, button.statistics().tasks_waiting) == ([], False, 0)


async def test_a_trigger_must_not_change_a_primitive() -> None:
    a, b = Button(), Button()
    async with Synchronizer() as synchronizer:
        synchronizer.trigger(a.on, b.changed)
        with pytest.raises(RuntimeError, match="must not change"):
            await a.on()


async def test_a_trigger_that_returns_a_coroutine_is_refused() -> None:
    a = Button()
    async with Synchronizer() as synchronizer:
        synchronizer.trigger(a.on, lambda: async_function())
        with pytest.raises(TypeError, match="a trigger must be a sync function"):
            await a.on()


async def test_a_call_of_a_concerned_entry_is_one_schedule_point() -> None:
    button = Button()
    async with Synchronizer() as synchronizer:
        synchronizer.trigger(button.on, list)
        with trio.testing.assert_checkpoints():
            await button.on()


async def test_observers_hear_of_both_monitors() -> None:
    a, b, heard = Button(), Button(), list[PrimitiveEvent]()
    async with Synchronizer() as synchronizer, trio.open_nursery() as nursery:
        lit = radio(synchronizer, a, b)
        await a.on()
        with observe(heard.append):
            await start(nursery, b.on)
            await a.off()
            await settle()
        assert lit == [b]
    of_a, of_b = ([event.kind for event in heard if event.primitive is one] for one in (a, b))
    assert of_a == of_b == ["requested", "granted", "released"]


async def test_observers_hear_of_both_monitors_where_a_change_lets_in() -> None:
    """No task leaves a monitor here: a guard that was false is true, and is said to be."""
    a, b, ready, heard = Monitor(), Monitor(), list[int](), list[PrimitiveEvent]()
    here, there = a.entry(lambda: 1, when=lambda: bool(ready)), b.entry(lambda: 2)
    async with Synchronizer() as synchronizer, trio.open_nursery() as nursery:
        synchronizer.atomic(here, there)
        await start(nursery, here)
        await start(nursery, there)
        ready.append(1)
        with observe(heard.append):
            a.changed()
    assert [(event.primitive, event.kind) for event in heard] == [(a, "granted"), (b, "granted")]


async def test_what_ends_in_one_step_is_carried_on_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for each of ten thousand calls that a close ends would be a hundred million looks."""
    times: list[int] = []

    def settle_transitively(ended: Any) -> list[Any]:
        times.append(len(ended))
        return group.settle_transitively(ended)

    monitor = Monitor()
    work = monitor.entry(lambda: None)

    async def refused() -> None:
        with pytest.raises(trio.ClosedResourceError):
            await work()

    monkeypatch.setattr(waking, "settle_transitively", settle_transitively)
    async with Synchronizer() as synchronizer, trio.open_nursery() as nursery:
        synchronizer.disable(work, when=lambda: True)
        for _ in range(5):
            await start(nursery, refused)
        monitor.close()
    assert times == [5]


# ==== other runs ====


def refusal_in_a_thread(call: Callable[[], object]) -> str:
    """Return what a thread that trio knows nothing of is told when it calls this."""
    told: list[str] = []

    def attempt() -> None:
        try:
            call()
        except RuntimeError as error:
            told.append(str(error))

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(20)
    return "".join(told)


async def test_a_monitor_under_rules_is_of_the_run_of_the_synchronizer_though_no_task_is_inside() -> (
    None
):
    """What starts there may let in those who wait at the other monitors, in the run of those."""
    a, b, lit = Monitor(), Monitor(), [1]
    off, on = a.entry(lambda: None), b.entry(lambda: None)
    async with trio.open_nursery() as nursery:
        async with Synchronizer() as synchronizer:
            synchronizer.trigger(off, lit.clear)
            synchronizer.disable(on, when=lambda: bool(lit))
            await start(nursery, on)
            assert not a._core.is_idle  # or the thread would wake a task of this run
            assert "is in use by another trio run" in refusal_in_a_thread(lambda: trio.run(off))
            assert lit == [1]
        assert refusal_in_a_thread(lambda: trio.run(off)) == ""


async def test_a_synchronizer_takes_no_rules_from_another_run() -> None:
    async with Synchronizer() as synchronizer:
        rule = Button().on, lambda: True
        assert "in that run" in refusal_in_a_thread(lambda: synchronizer.disable(*rule))
        assert synchronizer._core.concerned == {}


# ==== misuse ====


async def test_of_two_tasks_that_enter_a_synchronizer_at_once_one_is_refused() -> None:
    synchronizer, told = Synchronizer(), list[str]()

    async def enter() -> None:
        try:
            async with synchronizer:
                told.append("inside")
                await settle()
        except RuntimeError as error:
            told.append(str(error))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(enter)
        nursery.start_soon(enter)
    assert told == ["inside", "this synchronizer is entered already; make another one"]


async def async_function() -> bool:
    return True


@pytest.mark.parametrize("rule", ["disable", "trigger"])
@pytest.mark.parametrize(
    ("function", "match"),
    [
        (async_function, "must be a sync function"),
        (3, "must be callable"),
        (lambda a, b: 1, "take"),
        (lambda: (yield), "must be a sync function"),
    ],
)
async def test_a_rule_is_refused_at_registration(rule: str, function: Any, match: str) -> None:
    async with Synchronizer() as synchronizer:
        with pytest.raises(TypeError, match=match):
            getattr(synchronizer, rule)(Button().on, function)


async def test_a_synchronizer_has_rules_inside_its_block_only() -> None:
    synchronizer, button = Synchronizer(), Button()
    async with synchronizer:
        with pytest.raises(RuntimeError, match="entered already"):
            await synchronizer.__aenter__()
    with pytest.raises(RuntimeError, match="inside its `async with` block only"):
        synchronizer.disable(button.on, lambda: True)
    assert "not entered" in repr(synchronizer)


async def test_a_synchronizer_takes_entries() -> None:
    async with Synchronizer() as synchronizer:
        with pytest.raises(TypeError, match="must be an entry of a monitor"):
            synchronizer.disable(Button.on, lambda: True)  # type: ignore[call-overload]  # the point of the test
        synchronizer.disable(Button().on, lambda: True)
        assert "1 entries" in repr(synchronizer)


async def test_the_end_of_a_block_does_not_hide_the_error_of_its_body(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def settle() -> NoReturn:
        raise RuntimeError("the end's")

    button, error = Button(), LookupError("the body's")
    with pytest.raises(RuntimeError, match="the end's") as caught:
        async with Synchronizer() as synchronizer:
            radio(synchronizer, button)
            monkeypatch.setattr(button._core, "settle", settle)
            raise error
    assert caught.value.__context__ is error


async def test_an_observer_must_not_call_an_entry_that_a_synchronizer_concerns() -> None:
    monitor, lock, refused = Monitor(), Lock(), []
    work = monitor.entry(lambda: None)

    def call(event: PrimitiveEvent) -> None:
        try:
            work().send(None)
        except RuntimeError as error:
            refused.append(str(error))

    async with Synchronizer() as synchronizer:
        synchronizer.disable(work, when=lambda: False)
        with observe(call):
            lock.acquire_nowait()
        lock.release()
    assert len(refused) == 2
    assert "must not change" in refused[0]
