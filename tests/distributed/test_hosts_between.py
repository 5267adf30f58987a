"""What comes for a host that is no more, or not yet: it ends no session."""

from __future__ import annotations

import pytest
import trio
import trio.testing

from structsync.distributed import LeaseLost, Session, open_session
from tests.distributed.shops import Counter

pytest.importorskip("msgspec")

from structsync.distributed._calls.messages import Call, encode


def comes(session: Session, token: int, number: int) -> None:
    """Have a session receive a call of one that it does not know."""
    call = Call("counter", token, "some session", 0, number, "add", {})
    session._received(encode(call))


async def test_what_comes_when_the_session_is_lost_before_its_block_has_ended() -> None:
    async with open_session("memory://", namespace="test") as session:
        with pytest.raises(LeaseLost):
            async with session.host("counter", Counter()) as grant:
                session._lose()
                with trio.CancelScope(shield=True):  # it cleans up
                    await trio.testing.wait_all_tasks_blocked()
                    comes(session, grant.token, 1)
                    await trio.testing.wait_all_tasks_blocked()


async def test_what_comes_for_the_host_before_while_the_next_one_begins() -> None:
    async with open_session("memory://", namespace="test") as session:
        async with session.host("counter", Counter()) as before:
            pass
        async with trio.open_nursery() as nursery:

            async def keep_calling() -> None:
                for number in range(1, 1000):
                    comes(session, before.token, number)
                    await trio.lowlevel.checkpoint()

            nursery.start_soon(keep_calling)
            for _ in range(5):
                async with session.host("counter", Counter()):
                    pass
            nursery.cancel_scope.cancel()
