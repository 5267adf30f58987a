"""A class of monitors whose entries would be hidden, or would hide what others call, is refused."""

from __future__ import annotations

import abc
from typing import Any

import pytest
import trio
import trio.testing

from structsync import Arbiter, Monitor, Primitive, entry, open_scope

settle = trio.testing.wait_all_tasks_blocked


class Account(Monitor):
    balance = 10

    @entry
    async def withdraw(self, amount: int) -> int:
        await trio.lowlevel.checkpoint()
        self.balance -= amount
        return self.balance


@pytest.mark.parametrize(
    "name", ["close", "statistics", "constrain", "entry", "condition", "_describe", "__init__"]
)
def test_an_entry_may_not_have_a_name_of_monitors_own(name: str) -> None:
    with pytest.raises(TypeError, match=rf"Bad\.{name} must not be an entry: .*choose another one"):
        type("Bad", (Monitor,), {name: entry(lambda self: None)})


def test_an_entry_that_is_inherited_from_elsewhere_may_neither() -> None:
    mixin: Any = type("Mixin", (), {"close": entry(lambda self: None)})
    with pytest.raises(TypeError, match=r"Mixin\.close must not be an entry"):
        type("Bad", (mixin, Monitor), {})


@pytest.mark.parametrize(
    "value",
    [lambda self, amount: amount, None, property(lambda self: 1)],
    ids=["method", "None", "property"],
)
def test_what_overrides_an_entry_must_be_one(value: object) -> None:
    with pytest.raises(
        TypeError,
        match=r"Bad\.withdraw must be an entry.*mark it with @entry.*Account\.withdraw\.__wrapped__\(",
    ):
        type("Bad", (Account,), {"withdraw": value})


def test_what_hides_an_entry_from_beside_it_must_be_one() -> None:
    class Mixin:
        async def withdraw(self, amount: int) -> int:
            return amount

    with pytest.raises(TypeError, match=r"Mixin\.withdraw must be an entry, because Account\.with"):
        type("Bad", (Mixin, Account), {})


async def test_an_entry_that_overrides_an_entry_may_run_its_function() -> None:
    class Logged(Account):
        inside = 0
        log: tuple[int, ...] = ()

        @entry
        async def withdraw(self, amount: int) -> int:
            self.inside += 1
            assert self.inside == 1
            left: int = await Account.withdraw.__wrapped__(self, amount)
            self.log += (left,)
            self.inside -= 1
            return left

    account = Logged()
    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(account.withdraw, 1)
    assert account.log == (9, 8, 7)


async def test_a_plain_function_may_become_an_entry_in_a_subclass() -> None:
    class Plain(Monitor):
        async def look(self) -> int:
            return 1

    class Guarded(Plain):
        @entry
        async def look(self) -> int:
            return 2

    assert await Guarded().look() == 2


class OpenCore(Arbiter[int]):
    """Admits no task."""

    def admits(self, claim: int) -> bool:
        return False

    def admit(self, claim: int) -> None: ...

    def discharge(self, claim: int) -> None: ...


class Asynchronous(Primitive[int]):
    """Means something of its own by ``close``."""

    def __init__(self) -> None:
        super().__init__(OpenCore())

    async def close(self) -> None:  # type: ignore[override]  # the point of the test
        raise AssertionError

    async def take(self) -> None:
        await self._acquire(1)


async def test_a_scope_closes_a_primitive_whose_class_has_another_close() -> None:
    ended: list[type[Exception]] = []

    async def take(one: Asynchronous) -> None:
        try:
            await one.take()
        except trio.ClosedResourceError as error:
            ended.append(type(error))

    async with trio.open_nursery() as nursery:
        async with open_scope() as scope:
            nursery.start_soon(take, scope.own(Asynchronous()))
            await settle()
    assert ended == [trio.ClosedResourceError]


ABSTRACT: Any = abc.abstractmethod
ENTRY: Any = entry


@pytest.mark.parametrize("outer", [ENTRY, ABSTRACT], ids=["entry above", "entry below"])
async def test_an_abstract_entry_is_abstract_until_it_is_overridden(outer: Any) -> None:
    inner = ABSTRACT if outer is ENTRY else ENTRY
    base: Any = abc.ABCMeta("Base", (Monitor,), {"work": outer(inner(lambda self: None))})
    with pytest.raises(TypeError, match=r"abstract.*work"):
        base()
    worker = abc.ABCMeta("Worker", (base,), {"work": entry(lambda self: 7)})
    assert await worker().work() == 7


def test_a_guard_that_would_take_the_place_of_its_entry_is_refused() -> None:
    with pytest.raises(TypeError, match=r"guard of go must have another name.*go_when, for"):

        class Door(Monitor):
            @entry
            def go(self) -> None: ...

            @go.when  # type: ignore[no-redef]  # the point of the test
            def go(self) -> bool:
                return True
