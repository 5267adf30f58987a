"""CapacityLimiter: every schedule of a few tasks, and any of them cancelled anywhere."""

from __future__ import annotations

import trio
from trio.lowlevel import checkpoint

from structsync import CapacityLimiter
from structsync.testing import ExploredRun

from .closing import closed_meanwhile
from .sweeping import swept, together


@swept(least=90)
async def test_no_more_than_two_hold_a_token_of_two(x: ExploredRun, tasks: int) -> None:
    limiter = CapacityLimiter(2)

    async def worker() -> None:
        async with limiter:
            with x.exclusive("tokens", limit=2):
                await checkpoint()

    await together(*[worker] * tasks)


@swept(least=200)
async def test_a_change_of_the_total_lets_in_and_keeps_out_as_many(
    x: ExploredRun, tasks: int
) -> None:
    limiter = CapacityLimiter(1)

    async def worker() -> None:
        async with limiter:
            with x.exclusive("tokens", limit=2):
                await checkpoint()

    async def resizer() -> None:
        try:
            limiter.total_tokens = 2
            await checkpoint()
            limiter.total_tokens = 0
            lent = limiter.borrowed_tokens
            await checkpoint()
            if limiter.borrowed_tokens > lent:
                x.fail("a token was lent that does not exist")
        finally:
            limiter.total_tokens = 1

    await together(resizer, *[worker] * (tasks - 1))


@swept(least=20)
async def test_a_borrower_has_one_token_whichever_task_requests_it(
    x: ExploredRun, tasks: int
) -> None:
    limiter = CapacityLimiter(tasks)
    asked_for = 0

    async def worker() -> None:
        nonlocal asked_for
        taken, asked_for = asked_for > 0, asked_for + 1
        try:
            await limiter.acquire_on_behalf_of("a borrower")
        except RuntimeError:
            if not taken:
                x.fail("refused, though no task has asked")
            asked_for -= 1
            return
        except trio.Cancelled:
            asked_for -= 1
            raise
        try:
            with x.exclusive("the token"):
                await checkpoint()
        finally:
            limiter.release_on_behalf_of("a borrower")
            asked_for -= 1

    await together(*[worker] * tasks)


@swept(least=30, twice=True)
async def test_a_borrower_that_waits_is_not_lent_two_tokens(x: ExploredRun, tasks: int) -> None:
    """Two wait for one borrower when two tokens come: trio's limiter lends both, and counts one."""
    limiter = CapacityLimiter(0)
    lent = 0
    x.always(lambda: lent <= limiter.borrowed_tokens, "each token that is lent is counted")

    async def worker() -> None:
        nonlocal lent
        try:
            await limiter.acquire_on_behalf_of("a borrower")
        except RuntimeError:
            return
        lent += 1
        try:
            await checkpoint()
        finally:
            limiter.release_on_behalf_of("a borrower")
            lent -= 1

    async def opener() -> None:
        try:
            await checkpoint()
        finally:
            limiter.total_tokens = 2

    await together(opener, *[worker] * (tasks - 1))


@swept(least=80)
async def test_closing_sends_every_waiting_task_away(x: ExploredRun, tasks: int) -> None:
    limiter = CapacityLimiter(1)

    async def use() -> None:
        async with limiter:
            await checkpoint()

    await closed_meanwhile(x, limiter, *[use] * (tasks - 1))
