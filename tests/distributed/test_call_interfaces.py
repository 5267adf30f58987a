"""What can be called from another process is said by a class; what cannot is refused before anything is called."""

from __future__ import annotations

import builtins
import copy
import pickle
import sys
from collections.abc import AsyncIterator, Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import trio

from structsync.distributed import (
    CallOutcomeUnknown,
    LeaseLost,
    RemoteError,
    Session,
    open_session,
)
from tests.distributed.shops import Counter, Counting

pytest.importorskip("msgspec")

from structsync.distributed._calls.failures import COMMON, describe, error_of, known_errors
from structsync.distributed._calls.interface import methods_of
from structsync.distributed._calls.messages import Raised, encode


class Unfit(Exception):
    """Its constructor takes something else than its arguments."""

    def __init__(self) -> None:
        super().__init__("more", "than it takes")


class Wordless(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


class Generator:
    def items(self) -> Iterator[int]:
        yield 1


class AsyncGenerator:
    async def items(self) -> AsyncIterator[int]:
        yield 1


class AnyNumber:
    async def add(self, *amounts: int) -> int:
        return sum(amounts)


class NoData:
    async def add(self, amount: set[object]) -> trio.Event:
        return trio.Event()


class Connection:
    pass


@dataclass
class Parcel:
    inside: list[Parcel]
    over: dict[str, Connection | None]


class NoDataInside:
    async def add(self, amount: Parcel) -> None:
        pass


class NoDataAsResult:
    async def connect(self) -> Connection:
        return Connection()


class Calling:
    async def call(self, back: Callable[[], int]) -> None:
        pass


class Loose:
    """Declares less than what comes."""

    async def add(self, amounts: Iterable[int], of: object, how: Any) -> Hashable:
        return (*amounts, of, how)


class UnknownType:
    async def add(self, amount: Nowhere) -> None:  # type: ignore[name-defined]  # noqa: F821
        pass


class Nothing:
    number = 3

    @property
    def size(self) -> int:
        return 3

    @staticmethod
    def make() -> None:
        pass


class Selfless:
    async def ping() -> None:  # type: ignore[misc]
        pass


class SelflessByName:
    async def ping(*, loud: bool) -> None:  # type: ignore[misc]
        pass


class Positional:
    def add(self, amount: int, /, to: str = "me", *, twice: bool = False) -> str:
        return f"{amount} {to} {twice}"


@pytest.mark.parametrize(
    ("interface", "problem"),
    [
        (Generator, "items is a generator, and a call has one result"),
        (AsyncGenerator, "items is a generator"),
        (AnyNumber, r"add takes \*amounts.*names each of its parameters"),
        (NoData, "add has a parameter or result that is no data"),
        (NoDataInside, "add has a parameter or result that is no data.*Connection"),
        (NoDataAsResult, "connect has a parameter or result that is no data.*Connection"),
        (Calling, "call has a parameter or result that is no data.*Callable"),
        (UnknownType, "add has a parameter or result.*Nowhere"),
        (Nothing, "Nothing declares no public method"),
        (Selfless, r"ping takes no object to be called on; declare it as ping\(self, \.\.\.\)"),
        (SelflessByName, "ping takes no object to be called on"),
        (3, "an interface must be a class, not 3"),
    ],
)
def test_what_cannot_be_called_is_refused(interface: Any, problem: str) -> None:
    with pytest.raises(TypeError, match=problem):
        methods_of(interface)


def test_arguments_arrive_as_they_were_given() -> None:
    (method,) = methods_of(Positional).values()
    for args, kwargs in (((3,), {}), ((3, "you"), {"twice": True}), ((3,), {"to": "you"})):
        bound = method.bind(method.encode_arguments(args, kwargs))
        expected = Positional().add(*args, **kwargs)
        assert Positional().add(*bound.args, **bound.kwargs) == expected


def test_a_type_that_some_data_are_of_is_data() -> None:
    (method,) = methods_of(Loose).values()
    bound = method.bind(method.encode_arguments(([1, 2], "tea", None), {}))
    assert [*bound.args] == [[1, 2], "tea", None]
    assert method.decode_result(encode("tea")) == "tea"


def test_arguments_that_are_missing_or_too_many_are_refused() -> None:
    (method,) = methods_of(Positional).values()
    sent = method.encode_arguments((3,), {})
    with pytest.raises(TypeError, match="add needs an argument 'amount'"):
        method.bind({})
    with pytest.raises(TypeError, match="add takes no argument 'other'"):
        method.bind({**sent, "other": sent["amount"]})


def session() -> Any:
    return open_session("memory://", namespace="test")


async def test_a_session_refuses_what_it_cannot_host_or_call() -> None:
    class Synchronous:
        def add(self) -> None:
            pass

    async with session() as here:
        with pytest.raises(TypeError, match=r"add is not async.* async def"):
            here.connect("counter", Synchronous)
        with pytest.raises(TypeError, match="has no method 'add', which the interface declares"):
            here.host("counter", object(), Counting)
        with pytest.raises(ValueError, match="prefix that is not empty"):
            here.host("/counter", Counter())
        with pytest.raises(TypeError, match="name must be a str"):
            here.connect(3, Counting)
        with pytest.raises(ValueError, match="concurrent"):
            here.host("counter", Counter(), concurrent=0)
        with pytest.raises(TypeError, match="errors must be classes of exceptions, not 3"):
            here.host("counter", Counter(), errors=[3])
        assert repr(here.connect("counter", Counting)) == "<remote Counting 'counter'>"
        assert "remote method counter.add(what:" in repr(here.connect("counter", Counting).add)


async def test_without_msgspec_calls_are_refused_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    imports = builtins.__import__

    def without(name: str, *details: Any) -> Any:
        if "_calls" in name:
            raise ImportError("no msgspec")
        return imports(name, *details)

    monkeypatch.setattr(builtins, "__import__", without)
    async with session() as here:
        with pytest.raises(RuntimeError, match=r"need msgspec: pip install 'structsync\[calls\]'"):
            here.connect("counter", Counting)
        async with here.lock("lock"):
            assert "structsync" in sys.modules


# ==== Errors ====


def again(error: Exception, *registered: type[Exception]) -> Exception:
    known = known_errors(registered)
    name, arguments, text, traceback = describe(error, known)
    return error_of(Raised("counter", 1, 0, 1, name, arguments, text, traceback), known)


@pytest.mark.parametrize(
    "error", [KeyError("tea"), OSError(2, "no such file"), trio.WouldBlock(), ValueError()]
)
def test_an_error_that_both_know_is_raised_again(error: Exception) -> None:
    found = again(error)
    assert type(found) is type(error)
    assert found.args == error.args


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (StopIteration(3), "StopIteration: 3"),
        (ExceptionGroup("several", [KeyError()]), "several"),
        (ValueError("x" * 200_000), "ValueError: x"),
        (Wordless(), "Wordless: its text is unknown"),
        (ValueError("\ud800"), r"ValueError: \?"),
    ],
)
def test_any_other_error_is_told(error: Exception, text: str) -> None:
    found = again(error)
    assert isinstance(found, RemoteError)
    assert len(str(found)) < 30_000
    with pytest.raises(RemoteError, match=text):
        raise found


class Refused(Exception):
    """Makes its text of what it takes."""

    def __init__(self, balance: int) -> None:
        super().__init__(f"only {balance} left")
        self.balance = balance


class Explained(Refused):
    def __reduce__(self) -> tuple[Any, ...]:
        return Explained, (self.balance,)


class Elsewhere(Refused):
    def __reduce__(self) -> tuple[Any, ...]:
        return Refused, (self.balance,)


def test_an_error_that_would_come_back_with_other_data_is_told() -> None:
    for one in (Refused(5), Elsewhere(5)):
        found = again(one, type(one))
        assert isinstance(found, RemoteError)
        assert found.text == "only 5 left"


def test_an_error_that_says_what_it_is_made_of_comes_back_with_that() -> None:
    found = again(Explained(5), Explained)
    assert isinstance(found, Explained)
    assert (found.balance, str(found)) == (5, "only 5 left")


@pytest.mark.parametrize("name", ["/nowhere", Path("/nowhere")])
def test_an_error_of_a_file_comes_back_with_its_name(name: str | Path) -> None:
    found = again(FileNotFoundError(2, "no such file", name))
    assert isinstance(found, FileNotFoundError)
    assert found.filename == "/nowhere"


@pytest.mark.parametrize(
    "error",
    [
        LeaseLost("lock", 5),
        LeaseLost("lock"),
        LeaseLost("lock", 5, "its block was left"),
        CallOutcomeUnknown("a", "f"),
        RemoteError("a", "b", "c"),
    ],
)
def test_an_error_of_ours_comes_back_from_where_it_was_sent(error: Exception) -> None:
    for found in (pickle.loads(pickle.dumps(error)), copy.copy(error), again(error, type(error))):
        assert type(found) is type(error)
        assert str(found) == str(error)
        assert {**vars(found), "__notes__": []} == {**vars(error), "__notes__": []}


def test_an_error_that_cannot_be_made_again_is_told() -> None:
    assert isinstance(again(Unfit(), Unfit), RemoteError)


def test_a_class_that_makes_something_else_is_told() -> None:
    class Other(Exception):
        def __new__(cls, *args: Any) -> Any:
            return KeyError(*args) if args else super().__new__(cls)

    assert isinstance(
        error_of(
            Raised("c", 1, 0, 1, Other.__qualname__, [1], "", ""), {Other.__qualname__: Other}
        ),
        RemoteError,
    )


def test_two_errors_of_one_name_are_refused() -> None:
    first = type("Same", (Exception,), {})
    second = type("Same", (Exception,), {})
    assert known_errors([first, first]).keys() - COMMON.keys() == {"Same"}
    with pytest.raises(ValueError, match="more than one error of the name 'Same'"):
        known_errors([first, second])


async def test_a_session_that_is_closed_starts_no_call() -> None:
    async with session() as here:
        add = here.connect("counter", Counting).add
    with pytest.raises(trio.ClosedResourceError):
        Session.start(here, add, "tea")


@dataclass
class Positive:
    number: int

    def __post_init__(self) -> None:
        if self.number < 1:
            raise KeyError("it is not positive")


class Halving:
    async def halve(self, number: Positive) -> Positive:
        return replaced(number, number=number.number // 2)

    async def count(self, numbers: list[int]) -> int:
        return len(numbers)


def replaced(one: Positive, number: int) -> Positive:
    """Return a positive number that may be none."""
    other = copy.copy(one)
    other.number = number
    return other


async def test_what_the_class_of_a_result_refuses_is_told_as_a_result_that_is_not_as_declared() -> (
    None
):
    async with session() as here, here.host("halving", Halving()):
        remote = here.connect("halving", Halving)
        assert await remote.halve(Positive(2)) == Positive(1)
        with pytest.raises(
            RemoteError, match=r"something else than it declares: KeyError\('it is not"
        ):
            await remote.halve(Positive(1))
        with pytest.raises(TypeError, match=r"argument 'number' of halve: KeyError\('it is not"):
            await remote.halve(replaced(Positive(1), number=0))


async def test_a_call_that_is_started_has_the_arguments_of_that_moment() -> None:
    async with session() as here, here.host("halving", Halving()):
        numbers = [1, 2]
        call = here.start(here.connect("halving", Halving).count, numbers)
        numbers.clear()
        assert await call.wait() == 2
        wrong: Any = object()
        with pytest.raises(TypeError, match="the argument 'numbers' of count is no data"):
            here.start(here.connect("halving", Halving).count, wrong)
        assert await here.start(here.lock("lock").statistics).wait()


@pytest.mark.parametrize("double", [copy.copy, copy.deepcopy, pickle.dumps])
async def test_a_session_and_a_remote_object_are_not_copied(double: Callable[[Any], Any]) -> None:
    async with session() as here:
        for one in (here, here.connect("halving", Halving)):
            with pytest.raises(TypeError, match="cannot be copied or pickled"):
                double(one)
