"""A guard may take parameters of the entry's own, bound as in a call: defaults and keywords included."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import trio
import trio.testing

from structsync import GuardFunction, Invocation, Monitor, Synchronizer, entry
from structsync.testing._execution.places import described

settle = trio.testing.wait_all_tasks_blocked


class Account(Monitor):
    """A withdrawal waits until there is enough."""

    def __init__(self, balance: int = 0) -> None:
        super().__init__()
        self.balance = balance
        self.paid: list[int] = []

    @entry
    def deposit(self, amount: int) -> None:
        self.balance += amount

    @entry
    def withdraw(self, amount: int = 1, *, fee: int = 0) -> None:
        self.balance -= amount + fee
        self.paid.append(amount)

    @withdraw.when
    def withdraw_when(self, amount: int = 1, *, fee: int = 0) -> bool:
        return amount + fee <= self.balance

    @entry(when=lambda self, amount: amount <= self.balance)
    def pay(self, whom: str, amount: int = 2) -> str:
        self.balance -= amount
        return whom


CALLS: dict[str, Callable[[Account], Any]] = {
    "by position": lambda account: account.withdraw(5),
    "by keyword": lambda account: account.withdraw(amount=5),
    "with a fee": lambda account: account.withdraw(4, fee=1),
    "all by keyword": lambda account: account.withdraw(fee=1, amount=4),
    "of a lambda, by position": lambda account: account.pay("bob", 5),
    "of a lambda, by keyword": lambda account: account.pay(amount=5, whom="bob"),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
async def test_a_guard_gets_the_arguments_however_they_are_passed(
    call: Callable[[Account], Any],
) -> None:
    account = Account(4)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(call, account)
        await settle()
        assert (account.balance, account.statistics().tasks_waiting) == (4, 1)
        await account.deposit(1)
    assert account.balance == 0


async def test_a_guard_gets_the_default_of_the_entry() -> None:
    account = Account(1)
    with trio.move_on_after(0) as scope:
        await account.pay("bob")
    assert scope.cancelled_caught
    await account.withdraw()
    assert account.balance == 0


async def test_of_calls_whose_arguments_differ_those_that_fit_go_first() -> None:
    account = Account()
    async with trio.open_nursery() as nursery:
        for amount in (3, 1, 2):
            nursery.start_soon(account.withdraw, amount)
            await settle()
        await account.deposit(2)
        await settle()
        assert account.paid == [1]
        await account.deposit(1)
        await settle()
        assert account.paid == [1, 2]
        await account.deposit(3)
    assert account.paid == [1, 2, 3]


async def test_a_call_that_lacks_the_argument_fails_alone() -> None:
    account = Account(9)
    with pytest.raises(
        TypeError, match=r"<call deposit\(\) of <Task.* lacks the argument 'amount'"
    ):
        account.constrain(account.deposit, lambda amount: amount > 0)
        await account.deposit()  # type: ignore[call-arg]  # the point of the test
    await account.deposit(1)


async def test_several_arguments_and_names_are_passed_on() -> None:
    monitor, seen = Monitor(), list[object]()

    async def body(
        first: int, /, second: int = 2, *rest: int, last: int = 9, **more: int
    ) -> None: ...

    def all_of_it(first: int, /, second: int = 0, *rest: int, last: int = 0, **more: int) -> bool:
        seen.append((first, second, rest, last, more))
        return True

    await monitor.entry(body, when=all_of_it)(1)
    await monitor.entry(body, when=all_of_it)(1, 3, 4, 5, last=6, first=7)
    assert seen == [(1, 2, (), 9, {}), (1, 3, (4, 5), 6, {"first": 7})]


async def test_a_guard_may_take_some_and_in_another_order() -> None:
    monitor, seen = Monitor(), list[object]()

    def some(*, last: int, second: int, own: int = 5) -> bool:
        seen.append((last, second, own))
        return True

    by_name: GuardFunction = some  # the type checkers want all parameters, in their order

    async def body(first: int, second: int = 2, *, last: int) -> None: ...

    await monitor.entry(body, when=by_name)(1, last=3)
    assert seen == [(3, 2, 5)]


async def test_a_parameter_that_is_called_request_is_the_entrys_own() -> None:
    monitor = Monitor()

    async def serve(request: str) -> str:
        return request

    assert await monitor.entry(serve, when=lambda request: request == "page")("page") == "page"


async def test_rules_of_a_synchronizer_take_arguments_too() -> None:
    account, paid = Account(9), list[int]()
    async with Synchronizer() as synchronizer:
        synchronizer.disable(account.deposit, when=lambda amount: amount > 3)
        synchronizer.trigger(account.deposit, lambda amount: paid.append(amount))
        with trio.move_on_after(0) as scope:
            await account.deposit(4)
        assert scope.cancelled_caught
        await account.deposit(2)
    assert paid == [2]


def postponed(call: Invocation) -> bool:
    return bool(call.args[0] < 3)


def evaluated(call: Any) -> bool:
    return bool(call.args[0] < 3)


evaluated.__annotations__["call"] = Invocation


@pytest.mark.parametrize("guard", [postponed, evaluated])
async def test_a_parameter_that_is_an_invocation_by_its_type_may_have_any_name(guard: Any) -> None:
    monitor = Monitor()
    shown = monitor.entry(str, when=guard)
    assert await shown(2) == "2"
    with pytest.raises(trio.WouldBlock):
        shown.nowait(3)


# ==== refused when they are registered ====


def by_another_name(self: Account, call: object) -> bool:
    return True


@pytest.mark.parametrize(
    ("guard", "says"),
    [
        (
            lambda self, amuont: True,
            r"or \(self, amount=1, fee=0\), or some.*not \(self, amuont\)",
        ),
        (lambda self, amount, request: True, r"not \(self, amount, request\)"),
        (lambda self, *amount: True, r"not \(self, \*amount\)"),
        (by_another_name, r"not \(self: 'Account', call: 'object'\)"),
        (lambda: True, r"guard must take \(self\) or .*not \(\)"),
        (lambda *, self: True, r"not \(\*, self\)"),
    ],
    ids=["a slip", "with the request", "another kind", "another name", "no self", "self by name"],
)
def test_a_guard_that_no_call_can_fill_is_refused(guard: Any, says: str) -> None:
    withdraw = Account.withdraw.__wrapped__
    with pytest.raises(TypeError, match=says):
        entry(when=guard)(withdraw)
    with pytest.raises(TypeError, match=says):
        entry(withdraw).when(guard)


async def test_a_guard_that_takes_whatever_there_is_gets_self() -> None:
    class Whatever(Monitor):
        @entry(when=lambda *several: len(several) == 1)
        def go(self) -> int:
            return 3

    assert await Whatever().go() == 3


@pytest.mark.parametrize(
    "guard", [lambda request: True, lambda _: True, lambda r, /: True], ids="abc"
)
async def test_what_takes_the_request_names_it_or_no_name(
    guard: Callable[[Invocation], bool],
) -> None:
    assert await Monitor().entry(len, when=guard)([1]) == 1


async def test_a_function_in_c_has_no_names_for_a_guard_to_take() -> None:
    monitor = Monitor()
    with pytest.raises(TypeError, match=r"guard must take \(\) or \(request\), not \(x\)"):
        monitor.entry(type, when=lambda x: True)
    assert await monitor.entry(type, when=lambda: True)(3) is int


def test_a_second_guard_is_refused() -> None:
    marked = entry(when=lambda self: True)(Account.withdraw.__wrapped__)
    with pytest.raises(TypeError, match="withdraw has a guard already; write them as one"):
        marked.when(lambda self: True)


def test_a_guard_is_not_added_to_a_class_that_is_made() -> None:
    with pytest.raises(
        TypeError, match=r"Account\.deposit is an entry of a class that is made alr"
    ):
        Account.deposit.when(lambda self: True)


def test_the_function_of_a_guard_stays_a_method() -> None:
    assert Account(3).withdraw_when(3) is True
    assert Account(3).withdraw_when(2, fee=2) is False


def test_a_report_describes_the_guard_that_was_written() -> None:
    guard = Account(3).withdraw._core.guard
    assert guard is not None
    assert described(guard.function).startswith("withdraw_when (test_guards_by_arguments.py:")


async def test_the_guard_of_a_static_method_takes_self_and_all_of_its_parameters() -> None:
    def free(amount: int, most: int = 1) -> int:
        return amount

    wrapped: Any = staticmethod(free)
    mark: Any = entry(when=lambda self, amount, most: self.room >= amount * most)
    shed: Any = type("Shed", (Monitor,), {"room": 3, "free": mark(wrapped)})()
    assert await shed.free(3) == 3
    with pytest.raises(trio.WouldBlock):
        shed.free.nowait(4)
    wrong: Any = entry(when=lambda self, other: other)
    with pytest.raises(TypeError, match=r"\(self, amount, most=1\), or some of these"):
        wrong(wrapped)
