"""One account, two processes: the child hosts it, and the parent calls it.

The account is a monitor: the withdrawal waits, in the other process, until there is enough.

Prints::

    parent: asks for 5
    parent: pays in 3
    parent: pays in 3
    parent: has got 5, and 1 is left
    parent: the account refuses to pay in -1
"""

import sys
import tempfile
from pathlib import Path

import trio

from structsync import Monitor, entry
from structsync.distributed import RemoteCall, open_session


class Account(Monitor):
    def __init__(self) -> None:
        super().__init__()
        self.balance = 0

    @entry
    async def deposit(self, amount: int) -> None:
        if amount < 0:
            raise ValueError(f"the account refuses to pay in {amount}")
        self.balance += amount

    @entry
    async def withdraw(self, amount: int) -> int:
        self.balance -= amount
        return self.balance

    @withdraw.when
    def withdraw_when(self, amount: int) -> bool:
        return amount <= self.balance


async def child(url: str) -> None:
    async with open_session(url, namespace="example") as session:
        async with session.host("account", Account()):
            await trio.sleep_forever()


async def parent(url: str) -> None:
    async with open_session(url, namespace="example") as session, trio.open_nursery() as nursery:
        nursery.start_soon(trio.run_process, [sys.executable, __file__, url])
        account = session.connect("account", Account)

        def paid_out(call: RemoteCall[int]) -> None:
            print(f"parent: has got 5, and {call.result()} is left")

        print("parent: asks for 5")
        call = session.start(account.withdraw, 5).then(paid_out)
        for _ in range(2):
            print("parent: pays in 3")
            await account.deposit(3)
        await call.wait()
        try:
            await account.deposit(-1)
        except ValueError as error:
            print("parent:", error)
        nursery.cancel_scope.cancel()


if len(sys.argv) > 1:
    trio.run(child, sys.argv[1])
elif sys.platform != "linux":
    sys.exit("sqlite:// needs Linux")
else:
    with tempfile.TemporaryDirectory() as folder:
        trio.run(parent, f"sqlite://{Path(folder).resolve()}/calls.db")
