"""C1 for every primitive: a cancellation at any step of any task loses nothing."""

from collections.abc import Callable

import trio
import trio.testing

from .attempt import Attempt
from .kinds import Kind


class StrikeAtStep(trio.abc.Instrument):
    """Calls ``strike`` before or after the k-th step of any task from now on."""

    def __init__(self, k: int, strike: Callable[[], object]) -> None:
        self.left = k
        self.strike = strike

    def _count(self, task: trio.lowlevel.Task) -> None:
        self.left -= 1
        if self.left == 0:
            self.strike()

    before_task_step = _count
    after_task_step = _count


def cancelled_at(kind: Kind, k: int, *, victim: int) -> tuple[bool, list[Attempt]]:
    """Run two attempts behind an occupant; cancel one at step k; return whether k was reached."""
    primitive = kind.make()
    attempts = [Attempt(kind, primitive) for _ in range(2 if kind.crowd else 1)]
    strike = StrikeAtStep(k, attempts[victim].scope.cancel)

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            kind.occupy(primitive)
            trio.lowlevel.add_instrument(strike)
            for attempt in attempts:
                nursery.start_soon(attempt.run)
            await trio.testing.wait_all_tasks_blocked()
            await kind.free_soon(primitive)
            await trio.testing.wait_all_tasks_blocked()
            if not kind.lends and primitive.statistics().tasks_waiting:
                await kind.free_soon(primitive)  # one wake lets one in
            await trio.testing.wait_all_tasks_blocked()
            trio.lowlevel.remove_instrument(strike)

    before = kind.state(primitive)
    trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))
    if kind.lends:
        assert kind.state(primitive) == before
    assert primitive.statistics().tasks_waiting == 0
    return strike.left <= 0, attempts


def test_a_cancellation_at_any_step_ends_each_take_once_and_loses_nothing(kind: Kind) -> None:
    sweep(kind, victim=0)


def test_so_does_one_of_the_task_that_waits_behind(crowd: Kind) -> None:
    sweep(crowd, victim=1)


def sweep(kind: Kind, *, victim: int) -> None:
    outcomes = set()
    k, reached = 1, True
    while reached:
        reached, attempts = cancelled_at(kind, k, victim=victim)
        k += 1
        outcomes.add(attempts[victim].outcome)
        assert [a.outcome for i, a in enumerate(attempts) if i != victim] in ([], ["granted"])
    # the sweep met both ends of the race, or it swept nothing
    assert outcomes == {"cancelled", "granted"}
