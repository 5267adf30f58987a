"""Arguments and results keep their types through an entry: for mypy, for pyright, and when it runs.

The checkers judge the same lines that run: a type that is asserted here is that of the value, too.
"""

# pyright: reportUnnecessaryTypeIgnoreComment=error

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, assert_type

from structsync import Entry, Invocation, Monitor, entry


class Account(Monitor):
    """Methods in each form: sync and async, without a guard and with one of each arity."""

    @entry
    def show(self, currency: str, *, rounded: bool = False) -> str:
        return f"{currency} {0 if rounded else 0.0}"

    @entry
    async def deposit(self, amount: int) -> float:
        return float(amount)

    @entry(when=lambda self: True)
    def withdraw(self, amount: int, reason: str = "") -> bytes:
        return bytes(amount)

    @entry
    def withdraw_by_guard(self, amount: int, reason: str = "") -> bytes:
        return bytes(amount)

    @entry(when=lambda self, amount: amount < 10)
    def by_name(self, amount: int) -> int:
        return amount

    @entry(when=lambda self, request: request.args[0] < 10)
    # the slash is for mypy, to which a keyword of **notes could be called "self"
    async def transfer(self, /, amount: int, *targets: str, **notes: int) -> list[str]:
        return [*targets, *notes]

    @withdraw_by_guard.when
    def may_withdraw(self, amount: int, reason: str = "") -> bool:
        return amount < 10

    @entry()
    def clear(self) -> None:
        pass

    @clear.when
    def may_clear(self) -> bool:
        return True

    @entry
    def look(self, amount: int) -> None: ...

    @look.when
    def may_look(self, request: Invocation) -> bool:
        return request.ticket >= 0

    @entry
    def promise(self, amount: int) -> Awaitable[int]:  # sync, and what it returns is awaited
        return answer(amount)


async def answer(amount: int) -> int:
    return amount


def length(word: str, *, twice: bool = False) -> int:
    return len(word) * (1 + twice)


async def alike(word: str) -> tuple[str, str]:
    return word, word


async def test_a_method_keeps_its_arguments_and_its_result() -> None:
    account = Account()
    assert type(assert_type(await account.show("eur"), str)) is str
    assert type(assert_type(await account.show(currency="eur", rounded=True), str)) is str
    assert type(assert_type(await account.deposit(1), float)) is float
    assert type(assert_type(await account.withdraw(1, reason="rent"), bytes)) is bytes
    assert assert_type(await account.transfer(1, "a", "b", c=1), list[str]) == ["a", "b", "c"]
    assert type(assert_type(await account.promise(2), int)) is int
    await account.clear()


async def test_the_function_of_a_guard_is_a_method_with_its_types() -> None:
    account = Account()
    assert type(assert_type(account.may_withdraw(3, "rent"), bool)) is bool
    assert assert_type(account.may_clear(), bool)
    assert type(assert_type(await account.withdraw_by_guard(1), bytes)) is bytes
    assert assert_type(await account.by_name(amount=3), int) == 3
    await account.clear()
    await account.look(1)


async def test_a_function_keeps_its_arguments_and_its_result() -> None:
    monitor = Monitor()
    sync, with_guard = monitor.entry(length), monitor.entry(length, when=lambda: True)
    assert assert_type(await sync("word", twice=True), int) == 8
    assert assert_type(await with_guard(word="word"), int) == 4
    async_, with_request = monitor.entry(alike), monitor.entry(alike, lambda request: True)
    assert assert_type(await async_("a"), tuple[str, str]) == ("a", "a")
    assert assert_type(await with_request(word="a"), tuple[str, str]) == ("a", "a")


async def test_what_else_can_be_called_keeps_its_types() -> None:
    """A method of another object, a type, a partial function."""
    monitor = Monitor()
    assert assert_type(await monitor.entry("word".count)("w"), int) == 1
    assert assert_type(await monitor.entry(Account)(), Account).statistics().owner is None
    assert assert_type(await monitor.entry(partial(length, twice=True))("word"), int) == 8


async def test_an_entry_on_the_instance_is_one_that_can_be_passed_on() -> None:
    account = Account()
    deposit: Entry[[int], float] = account.deposit
    as_a_function: Callable[[int], Awaitable[float]] = account.deposit
    found: dict[str, Entry[..., Any]] = {"deposit": deposit, "show": account.show}
    assert assert_type(await deposit(1), float) == await as_a_function(1)
    assert found["deposit"] is account.deposit
    # The method itself is on the class.
    assert assert_type(await Account.deposit.__wrapped__(account, 1), float) == 1.0
    assert assert_type(Account.show.__wrapped__(account, "eur", rounded=True), str) == "eur 0"
    assert assert_type(Account.by_name.__wrapped__(account, amount=3), int) == 3
    assert assert_type(await Account.promise.__wrapped__(account, 2), int) == 2
    assert assert_type(account.show.nowait("eur", rounded=True), str) == "eur 0"


# Each line must be refused by both: an ignore that is not needed is an error, too.
async def refused(account: Account, monitor: Monitor) -> None:
    await account.deposit("much")  # type: ignore[arg-type]  # no str
    await account.deposit()  # type: ignore[call-arg]  # too few
    await account.show("eur", True)  # type: ignore[call-arg]  # by keyword
    await account.withdraw(1, why="")  # type: ignore[call-arg]  # no such
    await account.transfer(1, 2)  # type: ignore[arg-type]  # no int
    await monitor.entry(length)(1)  # type: ignore[arg-type]  # no int
    await monitor.entry(alike, lambda: True)()  # type: ignore[call-arg]  # too few
    Account.show.__wrapped__(account)  # type: ignore[call-arg]  # no currency
    account.show.__wrapped__(1)  # type: ignore[arg-type]  # no str
    account.show.nowait(currency=1)  # type: ignore[arg-type]  # no str
    result: str = await account.deposit(1)  # type: ignore[assignment]  # a float
    wrong: Entry[[str], float] = account.deposit  # type: ignore[assignment]  # takes an int
    del result, wrong


def of_an_account(self: Account, amount: int, reason: str = "") -> bool:
    return True


def refused_guards() -> None:
    class Purse(Monitor):
        balance = 0

        @entry
        def withdraw(self, amount: int, reason: str = "") -> None: ...

        @withdraw.when  # type: ignore[arg-type]  # amount is an int
        def a(self, amount: str, reason: str = "") -> bool:
            return True

        @withdraw.when  # type: ignore[arg-type]  # one parameter more
        def b(self, amount: int, reason: str, more: int) -> bool:
            return True

        @withdraw.when  # type: ignore[arg-type]  # a coroutine is no answer
        async def c(self, amount: int, reason: str = "") -> bool:
            return True

        withdraw.when(of_an_account)  # type: ignore[arg-type]  # of another class

        @withdraw.when
        def e(self, amount: int, reason: str = "") -> bool:
            return bool(self.balanec)  # type: ignore[attr-defined]  # a slip

    Purse()
