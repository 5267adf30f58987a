"""A lambda in a decorator has no unknown parameters, though its class does not exist yet."""

from __future__ import annotations

import pytest
import trio

from structsync import Monitor, entry
from structsync.checking import Spec, action, check, invariant, start


class Account(Monitor):
    """A guard in a decorator, with as many parameters as there are forms of it, and one more."""

    balance = 0

    @entry
    def deposit(self, amount: int) -> None:
        self.balance += amount

    @entry(when=lambda self: self.balance > 0)
    def empty(self) -> None:
        self.balance = 0

    @entry(when=lambda self, amount: amount <= self.balance)
    def withdraw(self, amount: int) -> None:
        self.balance -= amount

    @entry(when=lambda self, whom, amount: whom != "" and amount <= self.balance)
    async def pay(self, whom: str, amount: int) -> str:
        self.balance -= amount
        return whom


async def test_a_lambda_in_a_decorator_has_no_unknown_parameters() -> None:
    account = Account()
    with pytest.raises(trio.WouldBlock):
        account.empty.nowait()
    await account.deposit(5)
    assert await account.pay("baker", 2) == "baker"
    await account.withdraw(3)
    assert account.balance == 0


class Tank(Spec):
    """An action with a condition on the spec alone, and ones with parameters."""

    level = start(int)

    @action(when=lambda self: self.level == 3)
    def empty(self) -> None:
        self.level = 0

    @action(when=lambda self, litres: self.level + litres <= 3, litres=(1, 2))
    def fill(self, litres: int) -> None:
        self.level += litres

    @action(when=lambda self, least, most: least <= self.level <= most, least=(1, 2), most=(2, 3))
    def draw(self, least: int, most: int) -> None:
        self.level = most - least

    @invariant
    def never_overflows(self) -> bool:
        return 0 <= self.level <= 3


def test_a_lambda_above_an_action_has_no_unknown_parameters() -> None:
    assert check(Tank).states == 4
