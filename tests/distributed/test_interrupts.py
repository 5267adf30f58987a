"""C4 between processes: an interrupt of a task leaves its session whole, or ends it with that interrupt."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
import trio
from trio.testing import MockClock

from structsync.distributed import Session, open_session
from tests.every_primitive.striking import Striker, every_instruction, interrupt, sweep

pytestmark = [
    pytest.mark.long,
    # Struck between making a coroutine and awaiting it: Python then says so, and nothing is sent.
    pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning"),
    pytest.mark.slow,
    pytest.mark.timeout(300),
]


async def read(session: Session) -> None:
    await session.latch("a/start", 2).statistics()


async def send(session: Session) -> None:
    await session.latch("a/start", 2).count_down()


async def call_later(session: Session) -> None:
    session.monitor("a/monitor").do_when_free(len, "abc")
    await trio.lowlevel.checkpoint()


@pytest.mark.parametrize("use", [read, send, call_later])
def test_an_interrupt_at_any_instruction_leaves_its_session_whole_or_ends_it(
    use: Callable[[Session], Awaitable[None]],
) -> None:
    def program(k: int) -> list[str]:
        striker = Striker(k, interrupt)

        async def main() -> None:
            async with open_session("memory://", namespace="test") as session:
                try:
                    with every_instruction(striker):
                        await use(session)
                except KeyboardInterrupt:
                    pass
                with trio.fail_after(1):
                    await read(session)
                    async with session.monitor("a/monitor").lock:
                        pass

        try:
            trio.run(main, clock=MockClock(autojump_threshold=0))
        except KeyboardInterrupt:
            pass
        except BaseException as error:
            error.add_note(f"struck in {striker.struck}")
            raise
        return striker.struck

    assert sweep(program) > 50
