"""A lock for each account, which exists only while it is used; a transfer takes two in one step.

Transfers in opposite directions do not deadlock, and transfers between other accounts do not wait.

Prints::

    3 keys are locked: anna, ben, carl
    2 transfers wait
    nothing is left: 0 keys
    anna has 70, ben has 130, carl has 100
"""

import trio
from trio.testing import wait_all_tasks_blocked

import structsync

balances = {"anna": 100, "ben": 100, "carl": 100}
locks = structsync.LockMap[str](name="accounts")


async def transfer(source: str, target: str, amount: int, bank: trio.Event) -> None:
    async with structsync.acquire_all(locks.claim(source), locks.claim(target)):
        before = balances[source], balances[target]
        await bank.wait()
        balances[source], balances[target] = before[0] - amount, before[1] + amount


async def audit(account: str, bank: trio.Event) -> None:
    async with locks[account]:
        await bank.wait()


async def main() -> None:
    bank = trio.Event()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(transfer, "anna", "ben", 50, bank)
        nursery.start_soon(audit, "carl", bank)
        await wait_all_tasks_blocked()
        nursery.start_soon(transfer, "ben", "anna", 30, bank)
        await wait_all_tasks_blocked()
        nursery.start_soon(transfer, "anna", "ben", 10, bank)
        await wait_all_tasks_blocked()
        print(f"{len(locks)} keys are locked: {', '.join(sorted(locks))}")
        print(f"{locks.statistics().tasks_waiting // 2} transfers wait")  # each for two keys
        bank.set()
    print(f"nothing is left: {len(locks)} keys")
    print(", ".join(f"{name} has {balance}" for name, balance in balances.items()))


trio.run(main)
