"""One call at a time, in order of arrival, and everything passes through."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import asynccontextmanager, contextmanager
from typing import Any, cast

import pytest
import trio
import trio.testing
from trio.lowlevel import checkpoint

from structsync import Entry, EntryMethod, Monitor, entry
from structsync._core.monitors.entry import EntryCore, Invocation

settle = trio.testing.wait_all_tasks_blocked


class Account(Monitor):
    def __init__(self, balance: int = 0) -> None:
        super().__init__()
        self.balance = balance

    @entry
    async def deposit(self, amount: int, *, note: str = "") -> str:
        balance = self.balance
        await checkpoint()
        self.balance = balance + amount
        return f"{self.balance}{note}"

    @entry
    def read(self) -> int:
        return self.balance

    @entry
    async def fail(self, error: BaseException) -> None:
        await checkpoint()
        raise error


async def test_an_argument_of_an_entry_has_any_name() -> None:
    def run(function: int, fn: int, self: int) -> int:
        return function + fn + self

    entry = Monitor().entry(run)
    assert await entry(function=1, fn=2, self=3) == 6
    assert entry.nowait(function=1, fn=2, self=3) == 6


class Door(Monitor):
    """A call stays inside until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.inside: list[str] = []
        self.let_go: dict[str, trio.Event] = {}

    @entry
    async def enter(self, who: str) -> None:
        self.inside.append(who)
        self.let_go[who] = trio.Event()
        await self.let_go[who].wait()


async def test_arguments_and_results_pass_through() -> None:
    account = Account()
    assert await account.deposit(3, note="!") == "3!"
    assert await account.read() == 3


async def test_calls_run_one_at_a_time() -> None:
    account = Account()
    async with trio.open_nursery() as nursery:
        for _ in range(20):
            nursery.start_soon(account.deposit, 1)
    assert account.balance == 20


async def test_an_error_passes_through_and_frees_the_monitor() -> None:
    account, error = Account(), KeyError("mine")
    with pytest.raises(KeyError) as caught:
        await account.fail(error)
    assert caught.value is error
    assert account.statistics().owner is None
    assert await account.read() == 0


async def test_a_cancelled_function_frees_the_monitor_for_the_next() -> None:
    door = Door()
    async with trio.open_nursery() as nursery:
        with trio.CancelScope() as scope:
            nursery.start_soon(door.enter, "b")
            scope.cancel()
            await door.enter("a")
        await settle()
        assert door.inside == ["b"]
        door.let_go["b"].set()


async def test_callers_are_served_in_the_order_of_their_arrival() -> None:
    door = Door()
    async with trio.open_nursery() as nursery:
        for who in "abc":
            nursery.start_soon(door.enter, who)
            await settle()
        assert door.statistics().tasks_waiting == 2
        for who in "abc":
            assert door.inside[-1] == who
            door.let_go[who].set()
            await settle()
    assert door.inside == [*"abc"]


async def test_a_cancelled_caller_has_not_run_and_the_next_does() -> None:
    door = Door()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(door.enter, "a")
        await settle()
        scope = trio.CancelScope()

        async def cancelled() -> None:
            with scope:
                await door.enter("b")

        nursery.start_soon(cancelled)
        await settle()
        nursery.start_soon(door.enter, "c")
        await settle()
        scope.cancel()
        door.let_go["a"].set()
        await settle()
        assert door.inside == ["a", "c"]
        door.let_go["c"].set()


async def test_statistics_and_repr_tell_who_is_inside() -> None:
    door = Door()
    assert "free" in repr(door)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(door.enter, "a", name="the visitor")
        await settle()
        owner = door.statistics().owner
        assert owner is not None
        assert owner.name == "the visitor"
        assert "occupied by" in repr(door)
        door.let_go["a"].set()


# ==== an entry as an object ====


def test_entries_of_one_object_and_method_are_equal() -> None:
    account, other = Account(), Account()
    assert account.deposit == account.deposit
    assert hash(account.deposit) == hash(account.deposit)
    assert account.deposit != account.entry(account.deposit.__wrapped__)
    assert account.deposit != other.deposit


def test_on_the_class_it_is_the_marked_method() -> None:
    assert isinstance(Account.deposit, EntryMethod)
    account = Account(5)
    assert Account.read.__wrapped__(account) == 5
    assert isinstance(account.read, Entry)
    assert account.read.__wrapped__() == 5


def test_an_entry_is_named_after_its_function() -> None:
    account = Account()
    assert account.deposit.__name__ == "deposit"
    assert account.deposit.__qualname__ == "Account.deposit"
    assert repr(account.deposit).startswith("<Entry deposit of <Account at")


async def test_an_overriding_entry_may_run_what_it_overrides() -> None:
    class Logged(Account):
        @entry
        async def deposit(self, amount: int, *, note: str = "") -> str:
            return "logged " + str(await Account.deposit.__wrapped__(self, amount, note=note))

    assert await Logged().deposit(2) == "logged 2"


async def test_a_forgotten_super_init_is_explained() -> None:
    class Forgetful(Monitor):
        def __init__(self) -> None:
            pass

        @entry
        async def work(self) -> None: ...

    with pytest.raises(RuntimeError, match=r"super\(\).__init__\(\)"):
        await Forgetful().work()


# ==== at any time ====


async def test_any_function_can_be_put_under_a_monitor() -> None:
    monitor, letters = Monitor(), list[str]()

    async def add(letter: str) -> int:
        letters.append(letter)
        await checkpoint()
        return len(letters)

    assert await monitor.entry(add)("a") == 1
    assert await monitor.entry(letters.copy)() == ["a"]
    assert await monitor.entry(lambda: add("b"))() == 2


async def test_entries_of_one_monitor_exclude_each_other() -> None:
    door = Door()
    knock = door.entry(lambda: door.inside.append("knock"))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(door.enter, "a")
        await settle()
        nursery.start_soon(knock)
        await settle()
        assert door.inside == ["a"]
        door.let_go["a"].set()
    assert door.inside == ["a", "knock"]


async def test_a_function_that_is_taken_out_sends_away_who_waits_for_it_and_no_other_task() -> None:
    door, told = Door(), list[str]()
    knock = door.entry(lambda: None)

    async def knocker() -> None:
        with pytest.raises(trio.ClosedResourceError, match="taken out of its monitor"):
            await knock()
        told.append("knocker")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(door.enter, "a")
        await settle()
        nursery.start_soon(knocker)
        await settle()
        nursery.start_soon(door.enter, "b")
        await settle()
        knock.close()
        knock.close()
        await settle()
        assert told == ["knocker"]
        door.let_go["a"].set()
        await settle()
        assert door.inside == ["a", "b"]
        door.let_go["b"].set()
    with pytest.raises(trio.ClosedResourceError, match="<lambda>"):
        await knock()
    knock.__wrapped__()


# ==== refusals ====


async def test_a_monitor_is_not_reentrant_and_says_what_to_do() -> None:
    account = Account()

    async def twice() -> None:
        with pytest.raises(RuntimeError, match=r"not reentrant.*read\.__wrapped__"):
            await account.read()
        assert account.read.__wrapped__() == 0

    await account.entry(twice)()
    assert await account.read() == 0


async def test_closing_lets_the_call_inside_end_well() -> None:
    door = Door()

    async def refused() -> None:
        with pytest.raises(trio.ClosedResourceError, match="Door was closed"):
            await door.enter("b")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(door.enter, "a")
        await settle()
        nursery.start_soon(refused)
        await settle()
        door.close()
        door.let_go["a"].set()
    assert door.statistics().owner is None
    with pytest.raises(trio.ClosedResourceError):
        await door.enter("c")


def test_an_unknown_discipline_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="'mesa' or 'hoare', not 'java'"):
        Monitor(discipline="java")  # type: ignore[arg-type]  # the point of the test


def generator() -> Any:
    yield


async def async_generator() -> Any:
    yield


class CalledInSteps:
    """An object that is called as a generator function is."""

    def __call__(self) -> Any:
        yield


@pytest.mark.parametrize("put_under", [entry, Monitor().entry], ids=["marked", "put under"])
@pytest.mark.parametrize(
    "function",
    [
        generator,
        async_generator,
        CalledInSteps(),
        contextmanager(generator),
        asynccontextmanager(async_generator),
    ],
    ids=["generator", "async generator", "object", "block", "async block"],
)
def test_a_generator_function_is_refused(put_under: Callable[..., Any], function: Any) -> None:
    with pytest.raises(TypeError, match="must not be a generator function"):
        put_under(function)


@pytest.mark.parametrize("put_under", [entry, Monitor().entry], ids=["marked", "put under"])
def test_what_is_no_function_is_refused(put_under: Callable[..., Any]) -> None:
    with pytest.raises(TypeError, match="an entry must be a function, not 3"):
        put_under(3)


def test_a_task_outside_gives_nothing_back() -> None:
    account = Account()
    with pytest.raises(RuntimeError, match="'a' is not inside this monitor"):
        account._core.release(Invocation(EntryCore("x"), "a"))


def test_a_marked_callable_that_would_not_get_self_is_refused() -> None:
    with pytest.raises(TypeError, match="would not get self; wrap it in one"):
        entry(cast("Any", Account))
