"""A guard of a method that reads what its monitor does not have is refused when the class is made."""

from __future__ import annotations

import functools
import operator
from typing import Any
from unittest.mock import Mock

import pytest

from structsync import Invocation, Monitor, entry


def made(guard: Any, **names: Any) -> type[Monitor]:
    """Return a class of monitors with such a guard, and with these names."""

    def fill(self: Any) -> None:
        self.balance = 0

    body = entry(when=guard)(lambda self, amount=1: None)
    return type("Account", (Monitor,), {"fill": fill, "withdraw": body, **names})


def numbered(cases: list[Any]) -> dict[str, Any]:
    return {"argvalues": cases, "ids": range(len(cases))}


@pytest.mark.parametrize(
    "guard",
    **numbered(
        [
            lambda self: self.balanec > 0,
            lambda self, amount: amount <= self.balanec,
            lambda self, request: request.args[0] <= self.balanec,
            lambda self: self.balance > 0 and self.balanec,
            lambda self: any(limit for limit in (1, 2)) and self.balanec,
            lambda self: any(self.balanec for _ in self.__slots__),
            lambda self: self.balanec(),
        ]
    ),
)
def test_a_slip_is_told_with_what_was_meant(guard: Any) -> None:
    with pytest.raises(
        TypeError,
        match=r"guard of Account\.withdraw reads self\.balanec, which Account does not have: is it "
        r"self\.balance\? If not, declare it in the class \(balanec: int, for example\)",
    ):
        made(guard)


def test_a_slip_below_the_method_is_told_too() -> None:
    with pytest.raises(TypeError, match=r"Account\.withdraw reads self\.balanec.*self\.balance\?"):

        class Account(Monitor):
            balance = 0

            @entry
            def withdraw(self) -> None: ...

            withdraw.when(lambda self: self.balanec > 0)  # type: ignore[attr-defined]


def test_what_is_like_nothing_is_to_be_declared() -> None:
    with pytest.raises(TypeError, match=r"not have: declare it in the class \(xyzzy: int"):
        made(lambda self: self.xyzzy)


def test_a_private_name_is_not_what_was_meant() -> None:
    with pytest.raises(TypeError, match=r"not have: declare it in the class \(_reserv: int"):
        made(lambda self: self._reserv, _reserve=0)


def all_of(self: Any) -> bool:
    # one for each form of a name that is known
    return bool(self.balance and self.owner and self.statistics() and self.limit and self.late)


class Declared(Monitor):
    owner: str
    limit = 3

    @functools.cached_property
    def early(self) -> int:
        self.late = 5
        return 1

    @entry(when=all_of)
    def withdraw(self) -> None: ...

    @entry
    def deposit(self) -> None:
        self.balance = 1


@pytest.mark.parametrize(
    "guard",
    **numbered(
        [
            lambda self: self.balance,
            lambda self: getattr(self, "balanec", 0) and self.balanec,
            lambda self, request, other=Declared: request and other.nothing,  # of something else
            operator.truth,  # written in C
            # So many ways lead to a function.
            functools.partial(lambda limit, self: self.anything, 3),
            lambda *both: both[0].anything,
        ]
    ),
)
def test_what_is_there_or_cannot_be_known_is_no_slip(guard: Any) -> None:
    assert issubclass(made(guard), Monitor)


@pytest.mark.parametrize(
    "names",
    **numbered(
        [
            {"balanec": 3},
            {"__annotations__": {"balanec": int}},
            {"__getattr__": lambda self, name: 0},
            {"__getattribute__": object.__getattribute__},
            {"load": lambda self: setattr(self, "bal" + "anec", 3)},
            {"load": staticmethod(lambda account: account.__dict__)},
            {"balance_of": property(lambda self: self.balanec)},
        ]
    ),
)
def test_a_class_that_has_it_or_may_is_not_refused(names: dict[str, Any]) -> None:
    assert made(lambda self: self.balanec, **names)


def test_what_a_class_above_sets_is_known_and_what_answers_to_every_name_tells_nothing() -> None:
    class Savings(made(lambda self: self.balance)):  # type: ignore[misc]  # made at run time
        @entry(when=lambda self: self.balance)
        def close_account(self) -> None: ...

    assert issubclass(Savings, Monitor)
    with pytest.raises(TypeError, match=r"reads self\.balanec"):
        made(lambda self: self.balanec, anything=Mock())


async def test_each_form_of_a_known_name_is_asked_as_before() -> None:
    account = Declared()
    account.owner, account.balance = "me", 1
    assert account.early
    await account.withdraw()
    assert isinstance(Invocation, type)


def test_what_a_decorated_initializer_sets_is_asked_for_where_the_decorator_hides_it() -> None:
    def hiding(function: Any) -> Any:
        return lambda self: function(self)

    def fill(self: Any) -> None:
        self.shelf = 1

    with pytest.raises(
        TypeError, match=r"set it in __init__ \(if that is decorated, .* functools\.wraps"
    ):
        made(lambda self: self.shelf, __init__=hiding(fill))
    assert made(lambda self: self.shelf, __init__=functools.wraps(fill)(hiding(fill)))
