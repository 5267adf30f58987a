"""A bank transfer: two calls on two accounts that start together, or not at all.

A transfer from an account that has too little waits, and until it starts the other account has not
got the money either.

Prints::

    the transfer waits: 10 and 0
    the transfer is done: 5 and 30
"""

import trio
from trio.testing import wait_all_tasks_blocked

from structsync import Invocation, Monitor, Synchronizer, entry


class Account(Monitor):
    def __init__(self, balance: int) -> None:
        super().__init__()
        self.balance = balance

    def covers(self, request: Invocation) -> bool:
        return bool(request.args[0] <= self.balance)

    @entry
    def pay_in(self, amount: int) -> None:
        self.balance += amount

    @entry(when=covers)
    def send(self, amount: int) -> None:
        self.balance -= amount

    @entry
    def receive(self, amount: int) -> None:
        self.balance += amount


async def main() -> None:
    yours, mine = Account(10), Account(0)

    async def transfer(amount: int) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(yours.send, amount)
            nursery.start_soon(mine.receive, amount)

    async with Synchronizer() as synchronizer, trio.open_nursery() as nursery:
        synchronizer.atomic(yours.send, mine.receive)
        nursery.start_soon(transfer, 30)
        await wait_all_tasks_blocked()
        print(f"the transfer waits: {yours.balance} and {mine.balance}")
        await yours.pay_in(25)
        await wait_all_tasks_blocked()
        print(f"the transfer is done: {yours.balance} and {mine.balance}")


trio.run(main)
