"""``Entry.nowait`` runs a sync function if a call made now would start at once, else not at all."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

import pytest
import trio
import trio.testing

from structsync import Monitor, PrimitiveEvent, Synchronizer, entry, observe

settle = trio.testing.wait_all_tasks_blocked


class Account(Monitor):
    balance = 3

    @entry(when=lambda self, amount: amount <= self.balance)
    def withdraw(self, amount: int = 1) -> int:
        self.balance -= amount
        return self.balance

    @entry
    def look(self) -> int:
        return self.balance

    @entry
    async def stay(self) -> None:
        await trio.sleep_forever()

    @entry
    def nested(self) -> int:
        return self.look.nowait()

    @entry
    def fail(self) -> None:
        raise LookupError("inside")


async def test_a_call_that_would_start_now_runs() -> None:
    account = Account()
    assert account.withdraw.nowait(amount=2) == 1
    assert account.withdraw.nowait() == 0
    assert account.statistics().owner is None


async def test_a_guard_that_is_false_blocks_it() -> None:
    account = Account()
    with pytest.raises(trio.WouldBlock):
        account.withdraw.nowait(4)
    assert (account.balance, account.statistics().tasks_waiting) == (3, 0)


async def test_a_task_inside_blocks_it() -> None:
    account = Account()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(account.stay)
        await settle()
        with pytest.raises(trio.WouldBlock):
            account.look.nowait()
        nursery.cancel_scope.cancel()
    assert account.look.nowait() == 3


async def test_it_lets_in_whom_its_effects_permit() -> None:
    account = Account()
    deposit = account.entry(lambda amount: setattr(account, "balance", account.balance + amount))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(account.withdraw, 5)
        await settle()
        deposit.nowait(2)
    assert account.balance == 0


async def test_an_error_of_the_function_passes_through_and_frees_the_monitor() -> None:
    account = Account()
    with pytest.raises(LookupError, match="inside"):
        account.fail.nowait()
    assert account.look.nowait() == 3


async def test_an_error_of_the_guard_passes_through() -> None:
    account = Account()
    account.constrain(account.look, lambda: bool(1 // 0))
    with pytest.raises(ZeroDivisionError):
        account.look.nowait()
    assert account.withdraw.nowait() == 2


async def answer() -> int:
    return 1


def promise() -> Awaitable[int]:
    return answer()


class Promise:
    """Awaitable, and no coroutine."""

    def __await__(self) -> None: ...


async def test_an_async_function_is_refused_and_does_not_run() -> None:
    account = Account()
    with pytest.raises(
        TypeError, match="stay is async and may wait inside; await the entry itself"
    ):
        account.stay.nowait()
    assert account.look.nowait() == 3


@pytest.mark.parametrize(
    "function", [promise, Promise, partial(promise)], ids=["coroutine", "object", "without a name"]
)
async def test_a_function_that_returns_an_awaitable_is_an_error(
    function: Callable[[], object],
) -> None:
    monitor = Monitor()
    with pytest.raises(TypeError, match=r"(promise|Promise|partial\(.*\)) returned an awaitable"):
        monitor.entry(function).nowait()
    assert monitor.statistics().owner is None


async def test_it_is_not_reentrant() -> None:
    account = Account()
    with pytest.raises(RuntimeError, match="is inside this monitor already"):
        account.nested.nowait()
    assert account.look.nowait() == 3


def test_it_works_outside_a_run() -> None:
    account = Account()
    assert account.withdraw.nowait(1) == 2
    with pytest.raises(RuntimeError, match="outside a run' is inside this monitor already"):
        account.nested.nowait()
    with pytest.raises(trio.WouldBlock):
        account.withdraw.nowait(3)


async def test_a_closed_monitor_or_entry_refuses_it() -> None:
    account = Account()
    account.look.close()
    with pytest.raises(trio.ClosedResourceError):
        account.look.nowait()
    account.close()
    with pytest.raises(trio.ClosedResourceError):
        account.withdraw.nowait()


async def test_a_function_that_closes_the_monitor_is_outside_then() -> None:
    monitor = Monitor()
    assert monitor.entry(monitor.close).nowait() is None
    with pytest.raises(trio.ClosedResourceError):
        monitor.entry(list).nowait()


# ==== under the rules of a synchronizer ====


async def test_a_rule_that_disables_it_blocks_it_and_no_trigger_runs() -> None:
    account, ran = Account(), list[int]()
    async with Synchronizer() as synchronizer:
        synchronizer.disable(account.withdraw, when=lambda amount=1: amount > 1)
        synchronizer.trigger(account.withdraw, lambda amount=1: ran.append(amount))
        events: list[PrimitiveEvent] = []
        with observe(events.append), pytest.raises(trio.WouldBlock):
            account.withdraw.nowait(2)
        assert (events, ran, account.statistics().tasks_waiting) == ([], [], 0)
        with observe(events.append):
            assert account.withdraw.nowait(1) == 2
        assert [event.kind for event in events] == ["requested", "granted", "released"]
        assert {event.task for event in events} == {trio.lowlevel.current_task()}
        account.withdraw.nowait(1)
    assert ran == [1, 1]


async def test_a_trigger_that_raises_fails_the_call() -> None:
    account = Account()
    async with Synchronizer() as synchronizer:
        synchronizer.trigger(account.look, lambda: bool(1 // 0))
        with pytest.raises(ZeroDivisionError):
            account.look.nowait()
    assert account.look.nowait() == 3


async def test_a_call_whose_partner_does_not_wait_would_block_and_starts_with_it_else() -> None:
    a, b, started = Monitor(), Monitor(), list[str]()
    left, right = a.entry(lambda: started.append("a")), b.entry(lambda: started.append("b"))
    async with Synchronizer() as synchronizer, trio.open_nursery() as nursery:
        synchronizer.atomic(left, right)
        with pytest.raises(trio.WouldBlock):
            left.nowait()
        nursery.start_soon(right)
        await settle()
        left.nowait()
        await settle()
    assert sorted(started) == ["a", "b"]
