"""Several candidates, one leader: each leader has a term of its own, and when it stops, the next one takes over.

To lead is to hold a lock. A leader that is stopped releases it, wherever it is stopped; the holder of the
lock counts the term, so no two leaders have the same, and a store can refuse what comes from an old one.

Prints::

    a leads in term 1
    b leads in term 2
    no candidate leads; there were 2 terms
"""

from collections.abc import Awaitable, Callable

import trio
from trio.testing import wait_all_tasks_blocked

from structsync import Lock
from structsync.testing import ExploredRun, explore


class Election:
    """Which candidate leads, and in which term."""

    def __init__(self) -> None:
        self.lead = Lock(name="leader")
        self.term = 0

    async def stand(self, lead: Callable[[int], Awaitable[None]]) -> None:
        """Wait to be the leader, and lead."""
        async with self.lead:
            self.term += 1
            term = self.term
            await trio.lowlevel.checkpoint()  # to tell the others
            await lead(term)


async def main() -> None:
    election = Election()

    async def candidate(name: str, task_status: trio.TaskStatus[trio.CancelScope]) -> None:
        async def lead(term: int) -> None:
            print(f"{name} leads in term {term}")
            await trio.sleep_forever()

        with trio.CancelScope() as scope:
            task_status.started(scope)
            await election.stand(lead)

    async with trio.open_nursery() as nursery:
        scopes: list[trio.CancelScope] = []
        for name in ("a", "b"):
            scopes.append(await nursery.start(candidate, name))
            await wait_all_tasks_blocked()
        for scope in scopes:
            scope.cancel()
            await wait_all_tasks_blocked()
    print(f"no candidate leads; there were {election.term} terms")


@explore(exhaustive=True, search="states")
async def test_one_leads_at_a_time_and_each_term_has_one_leader(x: ExploredRun) -> None:
    election = Election()
    terms: list[int] = []

    async def lead(term: int) -> None:
        with x.exclusive("leading"):
            terms.append(term)
            await trio.lowlevel.checkpoint()

    async def candidate() -> None:
        with trio.CancelScope():
            await election.stand(lead)

    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(candidate)
    assert terms == sorted(set(terms))


if __name__ == "__main__":
    trio.run(main)
