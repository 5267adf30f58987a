"""Guards and triggers know the arguments of their entry, lambdas too: for mypy and for pyright.

Below its method a lambda knows its self, too. Where it cannot be judged is at the end: in a decorator
it stands before the class that both would take its self from.
"""

# pyright: reportUnnecessaryTypeIgnoreComment=error

from __future__ import annotations

from functools import partial
from typing import Any, Generic, TypeVar, assert_type

import pytest
import trio

from structsync import Entry, GuardFunction, Monitor, Synchronizer, WithoutArguments, entry

T = TypeVar("T")


class Account(Monitor):
    balance = 5

    @entry
    def withdraw(self, amount: int) -> None:
        self.balance -= amount

    @entry
    async def transfer(self, amount: int, whom: str = "bank") -> str:
        return whom

    @entry
    def look(self) -> int:
        return self.balance


class Shelf(Monitor):
    """A lambda below its method, in each form: its ``self`` is a Shelf for both."""

    room = 2

    def __init__(self) -> None:
        super().__init__()
        self.items = list[str]()

    @entry
    def put(self, item: str) -> None:
        self.items.append(item)

    put.when(lambda self: len(self.items) < self.room)

    @entry
    async def take(self) -> str:
        return self.items.pop()

    take.when(lambda self: len(self.items) > 0)

    @entry
    def remove(self, item: str, times: int = 1) -> None:
        self.items.remove(item)

    remove.when(lambda self, item, times=1: self.items.count(item.strip()) >= times)

    @entry
    def find(self, item: str) -> int:
        return self.items.index(item)

    find.when(lambda self, request: request.args[0] in self.items)


def affordable(amount: int) -> bool:
    return amount < 3


def generous(amount: int, whom: str = "bank") -> bool:
    return whom != "bank" or amount < 3


async def too_late(amount: int) -> bool:
    return amount < 3


def of_a_word(amount: str) -> bool:
    return amount == ""


async def answer(number: int) -> int:
    return number


async def test_each_form_of_a_guard_is_taken_everywhere() -> None:
    account, paid = Account(), list[int]()
    account.constrain(account.withdraw, lambda amount: amount.bit_length() < 3)
    account.constrain(account.withdraw, lambda: account.balance > 1)
    account.constrain(account.withdraw, lambda request: request.args[0] < 3)
    account.constrain(account.withdraw, lambda _: True)
    account.constrain(account.withdraw, affordable)
    as_declared: WithoutArguments[bool] = lambda limit=3: account.balance > limit  # noqa: E731 - the type
    account.constrain(account.withdraw, as_declared)
    account.constrain(account.transfer, generous)
    account.constrain(account.transfer, affordable)  # of the parameters some
    account.constrain(account.transfer, lambda amount, whom="bank": whom.isascii())
    async with Synchronizer() as rules:
        for limit in (8, 9):
            rules.disable(account.withdraw, when=lambda limit=limit: account.balance > limit)
            rules.trigger(account.withdraw, lambda limit=limit: paid.append(limit))
        rules.disable(account.withdraw, when=lambda amount: amount.bit_length() > 3)
        rules.disable(account.withdraw, when=lambda request: request.ticket < 0)
        rules.disable(account.look, when=lambda: account.balance > 9)
        rules.trigger(account.withdraw, lambda amount: paid.append(amount))
        rules.trigger(account.withdraw, lambda request: paid.append(request.args[0]))
        rules.trigger(account.look, partial(paid.append, 0))
        await account.withdraw(2)
        await account.look()
    assert paid == [8, 9, 2, 2, 0]
    assert await account.entry(answer, lambda number: number.bit_length() < 3)(2) == 2
    assert await account.entry(answer, when=lambda: True)(2) == 2
    assert await account.entry(answer, when=lambda _: True)(2) == 2
    assert await account.entry(answer, when=lambda at=1: at == 1)(2) == 2
    assert await account.entry(affordable, lambda amount: amount.bit_length() < 3)(2)
    assert await account.entry(affordable, when=lambda: True)(2)
    assert await account.entry(affordable, when=lambda _: True)(2)
    assert await account.entry(affordable, when=lambda at=1: at == 1)(2)


async def test_where_the_entry_is_any_a_function_is_taken_by_its_names() -> None:
    account = Account()
    some: Entry[..., Any] = account.transfer

    def by_name(whom: str) -> bool:
        return whom == "me"

    of_its_parameters_one: GuardFunction = by_name
    account.constrain(some, of_its_parameters_one)
    assert await account.transfer(9, "me") == "me"


async def test_a_lambda_below_its_method_decides_when_it_runs() -> None:
    shelf = Shelf()
    with pytest.raises(trio.WouldBlock):
        shelf.find.nowait("a")
    await shelf.put("a")
    assert assert_type(await shelf.find("a"), int) == 0
    await shelf.put("b")
    with pytest.raises(trio.WouldBlock):
        shelf.put.nowait("c")
    await shelf.remove("a")
    with pytest.raises(trio.WouldBlock):
        shelf.remove.nowait("b", times=2)
    assert assert_type(await shelf.take(), str) == "b"


# Each line must be refused by both: an ignore that is not needed is an error, too.
def refused_below_a_method() -> None:
    class Purse(Monitor):
        balance = 0

        @entry
        def take(self, amount: int) -> None: ...

        take.when(lambda self: self.balanec > 0)  # type: ignore[attr-defined]
        take.when(lambda self: self.balance)  # type: ignore[arg-type, return-value]  # an int
        take.when(lambda self: self.look)  # type: ignore[arg-type, return-value]  # is not called
        take.when(lambda self: self.balance > "0")  # type: ignore[operator]
        take.when(lambda self, amount: amount <= self.balanec)  # type: ignore[arg-type, misc]
        take.when(lambda self, amount: amount.x)  # type: ignore[arg-type, misc]
        take.when(lambda self, request: request.agrs == ())  # type: ignore[arg-type, misc]
        take.when(lambda self, amount, more: True)  # type: ignore[arg-type, misc]
        take.when(lambda: True)  # type: ignore[arg-type, misc]

        def look(self) -> bool:
            return self.balance > 0

        @entry
        async def wait(self) -> None: ...

        wait.when(lambda self: self.balanec > 0)  # type: ignore[attr-defined]

    class Stack(Monitor, Generic[T]):
        def __init__(self) -> None:
            super().__init__()
            self.items = list[T]()

        @entry
        def push(self, item: T) -> None: ...

        push.when(lambda self: len(self.itmes) < 2)  # type: ignore[attr-defined]
        push.when(lambda self, item: item in self.itmes)  # type: ignore[arg-type, misc]

    Purse()
    Stack[int]()


# So must each of these.
def refused(account: Account, rules: Synchronizer) -> None:
    account.constrain(account.withdraw, lambda amount: amount.x)  # type: ignore[attr-defined]
    account.constrain(account.withdraw, lambda request: request.agrs)  # type: ignore[arg-type, attr-defined]
    account.constrain(account.withdraw, lambda a, b: True)  # type: ignore[arg-type, misc]
    account.constrain(account.withdraw, lambda: account.balanec > 1)  # type: ignore[arg-type, attr-defined, misc]
    account.constrain(account.withdraw, lambda: [account])  # type: ignore[arg-type, misc]
    account.constrain(account.withdraw, too_late)  # type: ignore[arg-type]  # a coroutine is no answer
    account.constrain(account.withdraw, of_a_word)  # type: ignore[misc]
    rules.disable(account.withdraw, when=lambda amount: amount.x)  # type: ignore[attr-defined]
    rules.disable(account.withdraw, when=lambda a, b: True)  # type: ignore[arg-type, misc]
    rules.disable(account.withdraw, when=lambda: account.look)  # type: ignore[arg-type, misc]  # is not called
    rules.disable(account.withdraw, when=too_late)  # type: ignore[arg-type]
    rules.disable(account.withdraw, when=of_a_word)  # type: ignore[misc]
    rules.trigger(account.withdraw, lambda amount: amount.x)  # type: ignore[attr-defined]
    rules.trigger(account.withdraw, lambda a, b: None)  # type: ignore[arg-type, misc]
    rules.trigger(account.withdraw, of_a_word)  # type: ignore[misc]
    account.entry(answer, lambda number: number.x)  # type: ignore[attr-defined]
    account.entry(answer, lambda a, b: True)  # type: ignore[arg-type, misc]
    account.entry(answer, too_late)  # type: ignore[arg-type]  # another name
    account.entry(affordable, of_a_word)  # type: ignore[arg-type]
    account.entry(affordable, lambda: [account])  # type: ignore[arg-type, misc]


def test_the_number_of_parameters_is_checked_when_it_is_registered() -> None:
    """Mypy takes this one: it reconciles the two functions by leaving their parameters open."""
    account, guard = Account(), affordable
    with pytest.raises(TypeError, match=r"must take \(\) or \(request\), not \(amount"):
        account.constrain(account.look, guard)  # pyright: ignore[reportArgumentType, reportCallIssue]


def test_a_guard_in_a_decorator_gives_a_bool_and_reads_what_there_is() -> None:
    """Both check the first; the second is checked when the class is made, for a lambda is before its class."""
    with pytest.raises(TypeError, match=r"must be a sync function"):
        entry(when=too_late)  # type: ignore[arg-type]  # a coroutine is no answer
    with pytest.raises(TypeError, match=r"is it self\.balance\?"):

        class Purse(Monitor):  # pyright: ignore[reportUnusedClass] - it is refused
            balance = 0

            @entry(when=lambda self: self.balanec > 0)
            def take(self) -> None: ...
