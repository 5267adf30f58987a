"""Calls of an object in another session, whatever the engine is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import pytest
import trio

from structsync import Monitor, Synchronizer, entry
from structsync.distributed import (
    CallOutcomeUnknown,
    Grant,
    LeaseLost,
    RemoteCall,
    RemoteError,
    Session,
)
from tests.distributed.conftest import Open
from tests.distributed.waiting import until_calling, until_queued

pytest.importorskip("msgspec")

pytestmark = pytest.mark.timeout(60)


class TooLittle(Exception):
    """More is wanted than there is."""


class Strange(Exception):
    """Callers do not know it."""


@dataclass
class Order:
    what: str
    pieces: int = 1


class Shop:
    """What is hosted in these tests."""

    def __init__(self) -> None:
        self.orders: list[Order] = []
        self.inside = self.most_inside = 0
        self.open = trio.Event()
        self.entered = trio.Event()
        self.was_cancelled = trio.Event()

    async def order(self, order: Order, *, twice: bool = False) -> int:
        self.orders += [order] * (2 if twice else 1)
        return len(self.orders)

    def count(self) -> int:
        return len(self.orders)

    async def wait(self) -> str:
        self.inside += 1
        self.most_inside = max(self.inside, self.most_inside)
        self.entered.set()
        try:
            await self.open.wait()
        except trio.Cancelled:
            self.was_cancelled.set()
            raise
        finally:
            self.inside -= 1
        return "open"

    async def stubborn(self) -> str:
        self.entered.set()
        with trio.CancelScope(shield=True):
            await self.open.wait()
        return "done all the same"

    async def fail(self, how: str) -> None:
        if how == "known":
            raise TooLittle("only 3 left", 3)
        if how == "strange":
            raise Strange("of what?")
        if how == "no data":
            raise ValueError(object())
        raise KeyError(how)

    async def give(self, size: int) -> bytes:
        return bytes(size)

    async def lie(self) -> int:
        return "no number"  # type: ignore[return-value]

    async def keep(self) -> object:
        return self

    def _hidden(self) -> str:
        return "secret"


class Orders(Protocol):
    """What callers see of it."""

    async def order(self, order: Order, *, twice: bool = False) -> int: ...
    async def count(self) -> int: ...
    async def wait(self) -> str: ...
    async def stubborn(self) -> str: ...
    async def fail(self, how: str) -> None: ...
    async def give(self, size: int) -> bytes: ...
    async def lie(self) -> int: ...
    async def keep(self) -> Any: ...
    async def missing(self) -> None: ...


def remote(session: Session) -> Orders:
    return session.connect("shop", Orders, errors=[TooLittle])


@asynccontextmanager
async def hosted(opens: Open, **options: Any) -> AsyncIterator[tuple[Shop, Session]]:
    """Host a shop in one session, and open another."""
    shop = Shop()
    async with opens() as here, opens() as there:
        async with here.host("shop", shop, errors=[TooLittle], **options):
            yield shop, there


async def test_a_call_returns_what_the_method_returns(opens: Open) -> None:
    async with hosted(opens) as (shop, there):
        account = remote(there)
        assert await account.order(Order("tea", 2)) == 1
        assert await account.order(Order("milk"), twice=True) == 3
        assert await account.count() == 3
        assert shop.orders == [Order("tea", 2), Order("milk"), Order("milk")]


async def test_an_error_is_raised_at_the_caller_with_its_type(opens: Open) -> None:
    async with hosted(opens) as (_, there):
        shop = remote(there)
        with pytest.raises(KeyError, match="tea") as found:
            await shop.fail("tea")
        assert "raised at the host" in found.value.__notes__[0]
        assert "raise KeyError(how)" in found.value.__notes__[0]
        with pytest.raises(TooLittle) as registered:
            await shop.fail("known")
        assert registered.value.args == ("only 3 left", 3)


async def test_an_error_that_callers_do_not_know_is_told(opens: Open) -> None:
    async with hosted(opens) as (_, there):
        with pytest.raises(RemoteError, match="of what") as found:
            await remote(there).fail("strange")
        assert found.value.error.endswith("test_calls.Strange")
        assert 'raise Strange("of what?")' in found.value.traceback
        with pytest.raises(RemoteError, match="ValueError: <object object"):
            await remote(there).fail("no data")
        with pytest.raises(RemoteError, match="TooLittle"):
            await there.connect("shop", Orders).fail("known")


async def test_what_is_no_data_is_refused_where_it_comes_from(opens: Open) -> None:
    async with hosted(opens) as (shop, there):
        proxy: Any = remote(there)
        with pytest.raises(TypeError, match=r"argument 'order' of order is no data .*object"):
            await proxy.order(object())
        with pytest.raises(TypeError, match="missing a required argument: 'order'"):
            await proxy.order()
        with pytest.raises(TypeError, match="argument 'order' of order: Expected `object`, got"):
            await proxy.order(3)
        with pytest.raises(TypeError, match=r"result of keep is no data .*Shop"):
            await proxy.keep()
        with pytest.raises(RemoteError, match=r"shop.lie has returned something else.*`int`"):
            await proxy.lie()
        assert shop.orders == []


async def test_what_is_too_long_is_refused_at_the_caller(opens: Open) -> None:
    async with hosted(opens) as (shop, there):
        with pytest.raises(ValueError, match=r"call of 'order' has 10.* bytes, and a message may"):
            await remote(there).order(Order("x" * (1 << 20)))
        with pytest.raises(ValueError, match=r"result of give has 10.* it was carried out"):
            await remote(there).give(1 << 20)
        long = "x" * 1_000_000
        await remote(there).order(Order(long))
        assert shop.orders == [Order(long)]


@pytest.mark.parametrize("name", ["missing", "_hidden", "__init__", "__class__", "open", ""])
async def test_what_the_interface_does_not_declare_is_not_called(opens: Open, name: str) -> None:
    async with hosted(opens) as (_, there):
        proxy: Any = remote(there)
        call: Any = proxy.missing
        call._method.name = name
        with pytest.raises(AttributeError, match=f"'shop' has no method '{name}'; it has count, "):
            await call()
        with pytest.raises(AttributeError, match="<remote Orders 'shop'> has no method 'other'"):
            proxy.other()


async def test_a_cancelled_call_is_cancelled_at_the_host(opens: Open) -> None:
    async with hosted(opens) as (shop, there):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(remote(there).wait)
            await shop.entered.wait()
            nursery.cancel_scope.cancel()
        assert shop.was_cancelled.is_set()
        assert await remote(there).count() == 0


class Unclean:
    """What it is cancelled in raises something else, too."""

    def __init__(self) -> None:
        self.entered = trio.Event()

    async def work(self) -> None:
        async def clean_up() -> None:
            try:
                await trio.sleep_forever()
            finally:
                raise ValueError("the disk is full")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(clean_up)
            nursery.start_soon(trio.sleep_forever)
            await trio.lowlevel.checkpoint()
            self.entered.set()

    async def leave(self) -> None:
        raise asyncio.CancelledError("of another library")

    async def give(self) -> str:
        return "given"


async def test_what_a_cancelled_call_raises_beside_its_cancellation_is_for_its_caller(
    opens: Open,
) -> None:
    unclean = Unclean()
    async with opens() as here, opens() as there, here.host("unclean", unclean):
        proxy = there.connect("unclean", Unclean)
        call = there.start(proxy.work)
        await unclean.entered.wait()
        call.cancel()
        with pytest.raises(RemoteError, match="the disk is full"):
            await call.wait()
        assert await proxy.give() == "given"


async def test_what_a_call_raises_that_is_no_exception_is_told_to_its_caller(opens: Open) -> None:
    async with opens() as here, opens() as there, here.host("unclean", Unclean()):
        proxy = there.connect("unclean", Unclean)
        with pytest.raises(RemoteError, match=r"CancelledError: of another library"):
            await proxy.leave()
        assert await proxy.give() == "given"


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("is_alone", [True, False])
async def test_what_ends_a_program_ends_it_where_it_is_hosted(
    opens: Open, error: type[BaseException], *, is_alone: bool
) -> None:
    class Ending:
        async def end(self) -> None:
            if is_alone:
                raise error
            raise BaseExceptionGroup("both", [ValueError(), error()])

    async with opens() as there:
        call = there.start(there.connect("ending", Ending).end)
        with pytest.raises(error):
            async with opens() as here, here.host("ending", Ending()):
                await trio.sleep_forever()
        with pytest.raises(CallOutcomeUnknown):
            await call.wait()


async def test_who_calls_in_the_block_of_a_host_that_ends_is_told(opens: Open) -> None:
    class Ending:
        async def end(self) -> None:
            raise SystemExit

    async with opens() as there:
        with pytest.raises(SystemExit):
            async with opens() as here, here.host("ending", Ending()):
                with pytest.raises(CallOutcomeUnknown):
                    await there.connect("ending", Ending).end()
                await trio.sleep_forever()


async def test_a_call_that_is_done_although_it_is_cancelled_returns(opens: Open) -> None:
    results: list[str] = []
    async with hosted(opens) as (shop, there):

        async def call() -> None:
            results.append(await remote(there).stubborn())

        async with trio.open_nursery() as nursery:
            nursery.start_soon(call)
            await shop.entered.wait()
            nursery.cancel_scope.cancel()
            shop.open.set()
    assert results == ["done all the same"]


async def test_a_call_that_is_cancelled_before_there_is_a_host_never_happens(opens: Open) -> None:
    shop = Shop()
    async with opens() as here, opens() as there:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(remote(there).order, Order("tea"))
            await until_calling(there, "shop")
            nursery.cancel_scope.cancel()
        async with here.host("shop", shop):
            assert await remote(there).count() == 0


async def test_a_call_waits_for_a_host_and_for_the_next_one(opens: Open) -> None:
    told, counts = trio.open_memory_channel[int](1)
    async with opens() as here, opens() as there, trio.open_nursery() as nursery:

        async def call() -> None:
            await told.send(await remote(there).order(Order("tea")))

        tokens = []
        for _ in range(2):
            nursery.start_soon(call)
            await until_calling(there, "shop")
            async with here.host("shop", Shop()) as grant:
                assert await counts.receive() == 1
                tokens.append(grant.token)
        assert tokens[0] < tokens[1]


async def test_one_session_hosts_a_name_and_others_stand_by(opens: Open) -> None:
    second = Shop()
    async with opens() as here, opens() as there, trio.open_nursery() as nursery:

        async def stand_by() -> None:
            async with there.host("shop", second):
                await second.open.wait()

        async with here.host("shop", Shop()):
            nursery.start_soon(stand_by)
            assert await remote(there).order(Order("tea")) == 1
        assert await remote(here).order(Order("tea"), twice=True) == 2
        second.open.set()


async def test_a_host_that_is_left_ends_what_runs_and_hands_on_what_waits(opens: Open) -> None:
    told, results = trio.open_memory_channel[str](2)
    first, second = Shop(), Shop()
    second.open.set()

    async def call(session: Session) -> None:
        await told.send(await remote(session).wait())

    async with opens() as here, opens() as there, trio.open_nursery() as nursery:

        async def open_first() -> None:
            assert here._calls is not None
            while here._calls.hosts["shop"].table.is_open:
                await trio.lowlevel.checkpoint()
            first.open.set()

        async with here.host("shop", first, concurrent=1):
            nursery.start_soon(call, there)
            await first.entered.wait()
            nursery.start_soon(call, there)
            await until_queued(here, "shop", 1)
            nursery.start_soon(open_first)
        async with here.host("shop", second):
            assert [await results.receive() for _ in range(2)] == ["open", "open"]
        assert second.entered.is_set()


@pytest.mark.parametrize("how", ["by an error", "with its session"])
async def test_the_outcome_of_a_call_whose_host_is_gone_is_unknown(opens: Open, how: str) -> None:
    shop = Shop()

    async def call(session: Session) -> None:
        with pytest.raises(CallOutcomeUnknown, match="whether 'wait' of 'shop' was carried") as one:
            await remote(session).wait()
        assert (one.value.name, one.value.method) == ("shop", "wait")

    async def host(here: Session, task_status: Any = trio.TASK_STATUS_IGNORED) -> None:
        try:
            async with here.host("shop", shop):
                task_status.started()
                await shop.entered.wait()
                if how == "by an error":
                    raise TooLittle
                await trio.sleep_forever()
        except (TooLittle, LeaseLost):
            pass

    async with opens() as there, trio.open_nursery() as nursery:
        async with opens() as here:
            await nursery.start(host, here)
            nursery.start_soon(call, there)
            await shop.entered.wait()
            if how == "by an error":
                await shop.was_cancelled.wait()
    assert shop.was_cancelled.is_set()


async def test_calls_of_a_session_that_is_over_are_cancelled(opens: Open) -> None:
    shop = Shop()

    async def call(session: Session) -> None:
        with pytest.raises(CallOutcomeUnknown):
            await remote(session).wait()

    async with opens() as here, here.host("shop", shop), trio.open_nursery() as nursery:
        async with opens() as there:
            nursery.start_soon(call, there)
            await shop.entered.wait()
        await shop.was_cancelled.wait()


async def test_who_waits_for_a_host_when_its_session_closes_is_told(opens: Open) -> None:
    async def call(session: Session) -> None:
        with pytest.raises(LeaseLost, match="the wait for 'shop' is over"):
            await remote(session).wait()

    async with trio.open_nursery() as nursery:
        async with opens() as there:
            nursery.start_soon(call, there)
            await until_calling(there, "shop")
        with pytest.raises(trio.ClosedResourceError):
            remote(there)


async def test_so_many_calls_run_at_a_time(opens: Open) -> None:
    shop = Shop()
    async with opens() as here, opens() as there, here.host("shop", shop, concurrent=3):
        async with trio.open_nursery() as nursery:
            for _ in range(10):
                nursery.start_soon(remote(there).wait)
            await until_queued(here, "shop", 7)
            shop.open.set()
        assert shop.most_inside == 3


async def later(call: RemoteCall[str]) -> None:
    raise AssertionError("nobody awaits it")


async def test_a_call_that_was_started_calls_back(opens: Open) -> None:
    async with hosted(opens) as (shop, there):
        done = trio.Event()
        told: list[str] = []
        proxy = remote(there)

        def tell(call: RemoteCall[str]) -> None:
            told.append(call.result())
            done.set()

        call = there.start(proxy.wait).then(tell)
        with pytest.raises(RuntimeError, match=r"shop.wait, pending> has no result"):
            call.result()
        await shop.entered.wait()
        assert told == []
        shop.open.set()
        assert await call.wait() == "open" == await call.wait()
        assert call.status == "returned"
        await done.wait()
        call.then(tell)
        assert told == ["open", "open"]
        with pytest.raises(TypeError, match="callback must be a sync function"):
            call.then(later)
        failed = there.start(proxy.fail, "tea")
        for _ in range(2):
            with pytest.raises(KeyError):
                await failed.wait()
        assert failed.status == "raised"


async def test_a_call_that_was_started_may_be_cancelled(
    opens: Open, caplog: pytest.LogCaptureFixture
) -> None:
    async with hosted(opens) as (shop, there):
        call = there.start(remote(there).wait).then(lambda call: call.result())
        await shop.entered.wait()
        call.cancel()
        with pytest.raises(RuntimeError, match="cancelled> has no result"):
            await call.wait()
        assert shop.was_cancelled.is_set()
        assert "callback" in caplog.text


class Shelf(Monitor):
    def __init__(self) -> None:
        super().__init__()
        self.things: list[int] = []

    @entry
    async def put(self, thing: int) -> None:
        self.things.append(thing)

    @entry(when=lambda self: len(self.things) > 0)
    async def take(self) -> int:
        return self.things.pop(0)


async def until_parked(shelf: Shelf, count: int) -> None:
    while shelf.statistics().tasks_waiting != count:
        await trio.lowlevel.checkpoint()


async def test_calls_that_wait_for_their_guard_keep_no_others_out(opens: Open) -> None:
    shelf, taken = Shelf(), list[int]()
    async with opens() as here, opens() as there, here.host("shelf", shelf, concurrent=1):
        ours, theirs = here.connect("shelf", Shelf), there.connect("shelf", Shelf)

        async def take() -> None:
            taken.append(await ours.take())

        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(take)
            await until_parked(shelf, 3)
            for one in range(3):
                await theirs.put(one)
    assert sorted(taken) == [0, 1, 2]


@pytest.mark.parametrize("how", ["left", "cancelled"])
async def test_a_call_that_waits_for_its_guard_goes_to_the_next_host(opens: Open, how: str) -> None:
    first, second, taken = Shelf(), Shelf(), list[int]()
    second.things.append(7)
    async with opens() as here, opens() as there:

        async def take() -> None:
            taken.append(await there.connect("shelf", Shelf).take())

        async with trio.open_nursery() as nursery:
            with trio.CancelScope() as scope:
                async with here.host("shelf", first):
                    nursery.start_soon(take)
                    await until_parked(first, 1)
                    if how == "cancelled":
                        scope.cancel()
                        await trio.sleep_forever()
            async with there.host("shelf", second):
                while not taken:
                    await trio.lowlevel.checkpoint()
    assert taken == [7]
    assert first.statistics().tasks_waiting == 0


async def test_a_host_keeps_so_many_calls_of_entries_that_others_have_room(
    opens: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    from structsync.distributed._calls import hosting

    monkeypatch.setattr(hosting, "APART", 2)
    shelf = Shelf()
    async with opens() as here, opens() as there, here.host("shelf", shelf, concurrent=1):
        remote = there.connect("shelf", Shelf)
        async with trio.open_nursery() as nursery:
            for _ in range(2):
                nursery.start_soon(remote.take)
            await until_parked(shelf, 2)
            nursery.start_soon(remote.take)
            with trio.move_on_after(0.1):
                await until_parked(shelf, 3)
                raise AssertionError("it has taken more")
            nursery.cancel_scope.cancel()
        await remote.put(1)
        assert await remote.take() == 1


async def test_an_entry_that_another_monitor_rules_over_is_carried_out_as_it_says(
    opens: Open,
) -> None:
    shelf, opened = Shelf(), list[bool]()
    async with opens() as session, session.host("shelf", shelf):
        async with Synchronizer() as rules, trio.open_nursery() as nursery:
            rules.disable(shelf.put, when=lambda: not opened)
            nursery.start_soon(session.connect("shelf", Shelf).put, 1)
            await until_parked(shelf, 1)
            opened.append(True)
            shelf.changed()
        assert shelf.things == [1]


class Register:
    async def note(self, *, function: str, method: str) -> str:
        return function + method


async def test_an_argument_of_a_method_has_any_name(opens: Open) -> None:
    async with opens() as session, session.host("register", Register()):
        register = session.connect("register", Register)
        assert await register.note(function="f", method="m") == "fm"
        assert await session.start(register.note, function="f", method="m").wait() == "fm"


class Account(Monitor):
    def __init__(self) -> None:
        super().__init__()
        self.balance = 0

    @entry
    async def deposit(self, amount: int) -> int:
        self.balance += amount
        return self.balance

    @entry
    def withdraw(self, amount: int) -> int:
        self.balance -= amount
        return self.balance

    @withdraw.when
    def withdraw_when(self, amount: int) -> bool:
        return amount <= self.balance


async def test_a_monitor_that_is_hosted_has_its_guards(opens: Open) -> None:
    async with opens() as here, opens() as there, here.host("account", Account()):
        account = there.connect("account", Account)
        call = there.start(account.withdraw, 5)
        assert await account.deposit(3) == 3
        assert call.status == "pending"
        assert await account.deposit(3) == 6
        assert await call.wait() == 1


async def test_a_task_does_not_wait_for_a_name_that_it_hosts_itself(opens: Open) -> None:
    async with opens() as session, session.host("shop", Shop()):
        with pytest.raises(RuntimeError, match="holds 'shop' already and would wait for itself"):
            await session.host("shop", Shop()).__aenter__()
        with pytest.raises(RuntimeError, match="holds 'shop' already and would wait for itself"):
            await session.synchronizer("shop").__aenter__()
        async with session.host("shop/other", Shop()):
            pass


async def test_a_name_is_hosted_or_something_else(opens: Open) -> None:
    async with opens() as here, opens() as there:
        async with here.lock("shop"):
            with pytest.raises(ValueError, match="'shop' is in use as a lock"):
                await remote(there).count()
            with pytest.raises(
                ValueError, match="'shop' is in use as a lock, and cannot be a host"
            ):
                await there.host("shop", Shop()).__aenter__()


async def test_a_name_that_was_something_else_may_be_called(opens: Open) -> None:
    async with opens() as here, opens() as there:
        async with here.lock("shop"):
            with pytest.raises(ValueError, match="'shop' is in use as a lock"):
                await remote(there).count()
        counted = trio.Event()

        async def counts() -> None:
            assert await remote(there).count() == 0
            counted.set()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(counts)  # of the release it was not told
            await until_calling(there, "shop")
            async with here.host("shop", Shop()):  # which waits for no call that it has not got yet
                await counted.wait()


async def test_a_host_may_be_called_by_its_own_session(opens: Open) -> None:
    async with opens() as here, here.host("shop", Shop()) as grant:
        assert isinstance(grant, Grant)
        assert await remote(here).count() == 0


async def test_a_call_that_is_cancelled_at_any_moment_happens_once_or_not_at_all(
    opens: Open,
) -> None:
    async with hosted(opens) as (shop, there):
        returned = 0
        for ticks in range(12):
            with trio.CancelScope() as scope:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(_cancel_after, scope, ticks)
                    await remote(there).order(Order(str(ticks)))
            returned += not scope.cancelled_caught
        ordered = [one.what for one in shop.orders]
        assert returned <= len(ordered) == len({*ordered})
        assert await remote(there).count() == len(ordered)


async def _cancel_after(scope: trio.CancelScope, ticks: int) -> None:
    for _ in range(ticks):
        await trio.lowlevel.checkpoint()
    scope.cancel()
