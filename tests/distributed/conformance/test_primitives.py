"""What each primitive does, whatever the engine is."""

from __future__ import annotations

import enum
from typing import Any

import pytest
import trio

from structsync.distributed import Grant, LeaseLost, Session, SharedStatistics
from tests.distributed.conftest import Open
from tests.distributed.waiting import until_waiting

pytestmark = pytest.mark.timeout(60)


async def test_a_permit_is_held_by_as_many_as_there_are(opens: Open) -> None:
    async with opens() as here, opens() as there:
        ours, theirs = here.semaphore("db", 2), there.semaphore("db", 2)
        async with ours, theirs:
            assert await ours.statistics() == SharedStatistics(0, 2, 0)
        assert await theirs.statistics() == SharedStatistics(0, 0, 2)


async def test_one_task_may_hold_several_permits(opens: Open) -> None:
    async with opens() as session:
        semaphore = session.semaphore("db", 2)
        async with semaphore, semaphore:
            assert (await semaphore.statistics()).value == 0
        assert (await semaphore.statistics()).value == 2


async def test_who_waits_is_let_in_by_a_release_in_another_session(opens: Open) -> None:
    order: list[str] = []
    async with opens() as here, opens() as there:
        lock = here.lock("lock")

        async def waiter() -> None:
            async with there.lock("lock"):
                order.append("in")

        async with trio.open_nursery() as nursery:
            async with lock:
                nursery.start_soon(waiter)
                await until_waiting(lock, 1)
                order.append("out")
    assert order == ["out", "in"]


async def test_grants_are_first_come_first_served_and_tokens_grow(opens: Open) -> None:
    grants: list[tuple[int, int]] = []
    async with opens() as here, opens() as there:

        async def waiter(number: int) -> None:
            session = (here, there)[number % 2]
            async with session.semaphore("db", 1) as grant:
                grants.append((number, grant.token))

        async with trio.open_nursery() as nursery:
            semaphore = here.semaphore("db", 1)
            async with semaphore as grant:
                grants.append((-1, grant.token))
                for number in range(5):
                    nursery.start_soon(waiter, number)
                    await until_waiting(semaphore, number + 1)
    assert [number for number, _ in grants] == [-1, 0, 1, 2, 3, 4]
    tokens = [token for _, token in grants]
    assert tokens == sorted({*tokens})


async def test_several_permits_are_taken_all_or_none(opens: Open) -> None:
    async with opens() as session, trio.open_nursery() as nursery:
        semaphore = session.semaphore("db", 2)

        async def both(task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
            async with semaphore.permits(2):
                assert (await semaphore.statistics()).value == 0

        async with semaphore:
            nursery.start_soon(both)
            await until_waiting(semaphore, 1)
            assert (await semaphore.statistics()).value == 1


async def test_a_cancelled_wait_leaves_the_queue_and_raises_the_cancellation(opens: Open) -> None:
    async with opens() as here, opens() as there:
        lock = here.lock("lock")
        async with lock:
            with trio.CancelScope() as scope:
                async with trio.open_nursery() as nursery:

                    async def cancel() -> None:
                        await until_waiting(lock, 1)
                        scope.cancel()

                    nursery.start_soon(cancel)
                    async with there.lock("lock"):
                        pytest.fail("it is held")
            assert scope.cancelled_caught
            assert await lock.statistics() == SharedStatistics(0, 1, None)
        assert await lock.statistics() == SharedStatistics(0, 0, None)


async def test_a_cancelled_task_takes_nothing(opens: Open) -> None:
    async with opens() as session:
        lock = session.lock("lock")
        with trio.CancelScope() as scope:
            scope.cancel()
            async with lock:
                pytest.fail("it was cancelled before")
        assert await lock.statistics() == SharedStatistics(0, 0, None)


async def test_the_error_of_a_block_passes_and_the_permit_is_given_back(opens: Open) -> None:
    async with opens() as session:
        lock = session.lock("lock")
        with pytest.raises(KeyError, match="mine"):
            async with lock:
                raise KeyError("mine")
        assert (await lock.statistics()).holders == 0


async def test_a_lock_is_not_reentrant(opens: Open) -> None:
    async with opens() as session:
        async with session.lock("lock"):
            with pytest.raises(RuntimeError, match="holds 'lock' already"):
                await session.lock("lock").__aenter__()


async def test_one_block_is_entered_once(opens: Open) -> None:
    async with opens() as session:
        block = session.semaphore("db", 2).permits(1)
        async with block:
            with pytest.raises(RuntimeError, match="entered already"):
                await block.__aenter__()


async def test_one_block_is_entered_once_while_it_waits_too(opens: Open) -> None:
    async with opens() as session:
        semaphore = session.semaphore("db", 2)
        block = semaphore.permits(1)

        async def enter() -> None:
            async with block:
                assert (await semaphore.statistics()).holders == 1

        async with trio.open_nursery() as nursery:
            async with semaphore.permits(2):
                nursery.start_soon(enter)
                await until_waiting(semaphore, 1)
                with pytest.raises(RuntimeError, match="entered already"):
                    await block.__aenter__()
                assert (await semaphore.statistics()).tasks_waiting == 1
        assert (await semaphore.statistics()).value == 2


async def test_a_block_whose_wait_was_cancelled_may_be_entered_again(opens: Open) -> None:
    async with opens() as session:
        semaphore = session.semaphore("db", 1)
        block = semaphore.permits(1)
        async with semaphore, trio.open_nursery() as nursery:
            nursery.start_soon(block.__aenter__)
            await until_waiting(semaphore, 1)
            nursery.cancel_scope.cancel()
        async with block:
            assert (await semaphore.statistics()).value == 0


async def test_readers_share_and_a_writer_is_alone(opens: Open) -> None:
    async with opens() as here, opens() as there:
        ours, theirs = here.rwlock("page"), there.rwlock("page")
        async with ours.reading():
            async with trio.open_nursery() as nursery:

                async def write() -> None:
                    async with theirs.writing():
                        pass

                async def read() -> None:
                    async with theirs.reading():
                        assert (await ours.statistics()).holders == 2

                await _run(read)
                nursery.start_soon(write)
                await until_waiting(ours, 1)
                nursery.cancel_scope.cancel()
        assert (await ours.statistics()) == SharedStatistics(0, 0, None)


async def _run(function: object) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(function)  # type: ignore[arg-type]


async def test_a_latch_opens_for_all_sessions(opens: Open) -> None:
    async with opens() as here, opens() as there:
        latch = here.latch("start", 2)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(there.latch("start", 2).wait)
            await until_waiting(latch, 1)
            await latch.count_down()
            assert (await latch.statistics()).value == 1
            await latch.count_down()
        await latch.wait()
        with pytest.raises(ValueError, match="where 0 is left"):
            await latch.count_down()


async def test_the_parties_of_a_barrier_have_numbers_of_their_own(opens: Open) -> None:
    numbers: list[int] = []
    async with opens() as here, opens() as there:

        async def party(index: int) -> None:
            numbers.append(await (here, there)[index % 2].barrier("round", 3).wait())

        async with trio.open_nursery() as nursery:
            for index in range(3):
                nursery.start_soon(party, index)
    assert sorted(numbers) == [0, 1, 2]


async def test_a_notification_wakes_a_wait_in_another_session(opens: Open) -> None:
    async with opens() as here, opens() as there, trio.open_nursery() as nursery:
        ours, theirs = here.lock("state"), there.lock("state")
        changed, seen = (
            here.condition("state/changed", ours),
            there.condition("state/changed", theirs),
        )
        ready = False

        async def waiter() -> None:
            async with theirs as grant:
                first = grant.token
                assert await seen.wait_for(lambda: ready)
                assert grant.token > first

        nursery.start_soon(waiter)
        await until_waiting(changed, 1)
        async with ours:
            await changed.notify()
        await until_waiting(changed, 1)
        async with ours:
            ready = True
            await changed.notify_all()


async def test_a_cancelled_wait_for_a_notification_owns_the_lock_when_it_raises(
    opens: Open,
) -> None:
    async with opens() as session, trio.open_nursery() as nursery:
        lock = session.lock("state")
        changed = session.condition("state/changed", lock)

        async def waiter() -> None:
            async with lock as grant:
                try:
                    await changed.wait()
                finally:
                    with trio.CancelScope(shield=True):
                        assert (await lock.statistics()).holders == 1
                    assert grant.token > 0

        nursery.start_soon(waiter)
        await until_waiting(changed, 1)
        nursery.cancel_scope.cancel()


async def test_several_things_are_taken_in_one_step(opens: Open) -> None:
    async with opens() as here, opens() as there:
        fork, spoon = here.lock("table/fork"), here.semaphore("table/spoon", 2)
        async with trio.open_nursery() as nursery:

            async def both() -> None:
                claims = (
                    there.lock("table/fork").claim(),
                    there.semaphore("table/spoon", 2).claim(),
                )
                async with there.acquire_all(*claims) as grant:
                    assert grant.name == "table/fork + table/spoon"

            async with fork:
                nursery.start_soon(both)
                await until_waiting(spoon, 1)
                assert (await spoon.statistics()).value == 2
        read, write = (
            here.rwlock("table/page").read_claim(),
            here.rwlock("table/book").write_claim(),
        )
        async with here.acquire_all(read, write):
            pass


async def test_one_name_is_one_definition(opens: Open) -> None:
    async with opens() as here, opens() as there:
        async with here.semaphore("db", 2):
            with pytest.raises(ValueError, match="'db' is in use as a semaphore of 2"):
                await there.semaphore("db", 3).__aenter__()
            with pytest.raises(ValueError, match="cannot acquire 3"):
                await there.semaphore("db", 2).permits(3).__aenter__()


class Size(enum.IntEnum):
    SMALL, LARGE = 1, 2


async def test_a_number_that_is_more_than_an_int_is_that_number_to_all_sessions(
    opens: Open,
) -> None:
    async with opens() as here, opens() as there:
        theirs = there.semaphore("db", 2), there.latch("db/open", 4)
        await theirs[0].statistics()  # it reads along from here on
        async with here.semaphore("db", Size.LARGE).permits(Size.LARGE):
            assert await theirs[0].statistics() == SharedStatistics(0, 1, 0)
        await here.latch("db/open", 4).count_down(Size.LARGE)
        assert await theirs[1].statistics() == SharedStatistics(0, 0, 2)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(here.barrier("db/meet", Size.LARGE).wait)
            await there.barrier("db/meet", 2).wait()
        assert await theirs[0].statistics() == SharedStatistics(0, 0, 2)


async def test_the_statistics_of_another_definition_are_refused_like_its_use(opens: Open) -> None:
    async with opens() as here, opens() as there:
        lock = there.lock("db")
        async with here.lock("db"), here.semaphore("db/two", 2):
            others = (
                there.semaphore("db", 2),
                there.latch("db", 2),
                there.rwlock("db"),
                there.condition("db", there.lock("db/lock")),
                there.semaphore("db/two", 3),
            )
            for other in others:
                with pytest.raises(ValueError, match=r"is in use as a (lock|semaphore of 2), and"):
                    await other.statistics()
            assert (await lock.statistics()).holders == 1
        assert await there.semaphore("db", 2).statistics() == SharedStatistics(0, 0, 2)


async def test_the_statistics_of_a_condition_count_those_who_wait(opens: Open) -> None:
    async with opens() as session:
        lock = session.lock("db")
        condition = session.condition("db/changed", lock)

        async def wait() -> None:
            async with lock:
                await condition.wait()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(wait)
            await until_waiting(condition, 1)
            async with lock:
                await condition.notify()
        assert await condition.statistics() == SharedStatistics(0, 0, None)


async def test_what_is_no_claim_is_refused_at_once(opens: Open) -> None:
    async with opens() as session:
        wrong: Any
        for wrong in (session.lock("lock"), "lock", None):
            with pytest.raises(
                TypeError, match=r"takes claims, as claim\(\) of a shared .*, not .*"
            ):
                session.acquire_all(session.lock("lock").claim(), wrong)


async def test_a_session_that_closes_gives_back_what_it_holds(opens: Open) -> None:
    lost: list[LeaseLost] = []

    async def hold(session: Session, task_status: trio.TaskStatus[Grant]) -> None:
        try:
            async with session.lock("lock") as grant:
                task_status.started(grant)
                await trio.sleep_forever()
        except LeaseLost as error:
            lost.append(error)

    async with opens() as here, trio.open_nursery() as nursery:
        async with opens() as there:
            first = await nursery.start(hold, there)
        async with here.lock("lock") as grant:
            assert grant.token > first.token
    assert [(one.name, one.token) for one in lost] == [("lock", first.token)]


async def test_who_waits_when_its_session_closes_is_told(opens: Open) -> None:
    async def wait(session: Session) -> None:
        with pytest.raises(LeaseLost, match="the wait for 'lock' is over"):
            await session.lock("lock").__aenter__()

    async with opens() as here, trio.open_nursery() as nursery:
        async with here.lock("lock"):
            async with opens() as there:
                nursery.start_soon(wait, there)
                await until_waiting(here.lock("lock"), 1)


async def test_a_closed_session_is_refused(opens: Open) -> None:
    async with opens() as session:
        lock = session.lock("lock")
    assert "closed" in repr(session)
    with pytest.raises(trio.ClosedResourceError):
        session.lock("lock")
    with pytest.raises(trio.ClosedResourceError):
        await lock.__aenter__()
    with pytest.raises(trio.ClosedResourceError):
        session.acquire_all(lock.claim())


async def test_a_session_is_refused_in_the_run_of_another_thread(opens: Open) -> None:
    async with opens() as session:
        lock = session.lock("lock")

        async def elsewhere() -> None:
            with pytest.raises(RuntimeError, match="belongs to the trio run of another thread"):
                await lock.__aenter__()
            with pytest.raises(RuntimeError, match="belongs to the trio run of another thread"):
                session.lock("other")

        async with lock:
            await trio.to_thread.run_sync(trio.run, elsewhere)
        with trio.fail_after(30):
            async with lock:
                pass


async def test_a_session_that_is_cancelled_while_it_opens_is_closed(opens: Open) -> None:
    for ticks in range(8):
        with trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:

                async def cancel(ticks: int = ticks, scope: trio.CancelScope = scope) -> None:
                    for _ in range(ticks):
                        await trio.lowlevel.checkpoint()
                    scope.cancel()

                nursery.start_soon(cancel)
                async with opens():
                    await trio.sleep_forever()
        assert scope.cancelled_caught
    async with opens() as session, session.lock("lock"):
        pass


async def test_namespaces_and_prefixes_know_nothing_of_each_other(opens: Open) -> None:
    async with opens() as session:
        async with session.lock("a/lock"), session.lock("b/lock"):
            assert (await session.lock("a/other").statistics()).holders == 0
