"""A bank: a withdrawal waits until the account covers it, and a transfer happens completely or not at all.

A guard with the parameters of the method decides when a withdrawal may be made. The two halves of a
transfer are two calls; what stands between them must not be cancelled, or the money is gone.

Prints::

    the rent waits: anna has 30, the landlord 0
    it is paid: anna has 10, the landlord 100
    of 110, 110 are there
"""

import trio
from trio.testing import wait_all_tasks_blocked

from structsync import Monitor, entry
from structsync.testing import ExploredRun, explore


class Account(Monitor):
    """An amount of money that is never negative."""

    def __init__(self, balance: int = 0) -> None:
        super().__init__()
        self.balance = balance

    @entry
    def deposit(self, amount: int) -> None:
        self.balance += amount

    @entry
    def withdraw(self, amount: int) -> None:
        self.balance -= amount

    @withdraw.when
    def withdraw_when(self, amount: int) -> bool:
        return amount <= self.balance


async def transfer(amount: int, source: Account, target: Account) -> None:
    """Wait until the source covers the amount, and move it."""
    await source.withdraw(amount)
    with trio.CancelScope(shield=True):
        await target.deposit(amount)


async def main() -> None:
    anna, landlord = Account(30), Account()

    def said() -> str:
        return f"anna has {anna.balance}, the landlord {landlord.balance}"

    async with trio.open_nursery() as nursery:
        nursery.start_soon(transfer, 100, anna, landlord)
        await wait_all_tasks_blocked()
        print(f"the rent waits: {said()}")
        await anna.deposit(80)
    print(f"it is paid: {said()}")
    print(f"of 110, {anna.balance + landlord.balance} are there")


@explore(exhaustive=True)
async def test_no_money_is_lost_and_no_account_is_overdrawn(x: ExploredRun) -> None:
    accounts = one, other = Account(2), Account(1)
    x.always(lambda: all(account.balance >= 0 for account in accounts), "nothing is overdrawn")
    x.finally_(lambda: sum(account.balance for account in accounts) == 3, "no money is lost")

    async def pay(amount: int, source: Account, target: Account) -> None:
        with trio.CancelScope():
            await transfer(amount, source, target)

    with trio.move_on_after(5):  # a transfer that waits for another, which was cancelled
        async with trio.open_nursery() as nursery:
            nursery.start_soon(pay, 2, other, one)
            nursery.start_soon(pay, 1, one, other)


if __name__ == "__main__":
    trio.run(main)
