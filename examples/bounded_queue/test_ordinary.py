import trio
from bounded_queue import BoundedQueue
from traffic import traffic
from trio.testing import MockClock


def test_all_tasks_are_served() -> None:
    for _ in range(1000):
        trio.run(traffic, BoundedQueue(1, "first"))


def test_the_impatient_producer_gives_up() -> None:
    queue = BoundedQueue(1, "first")

    async def main() -> None:
        with trio.move_on_after(60):
            await queue.put("now or never")

    trio.run(main, clock=MockClock(autojump_threshold=0))
    assert [*queue.items] == ["first"]
