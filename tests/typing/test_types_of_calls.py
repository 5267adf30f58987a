"""An object of another process has the type of its interface: for mypy, for pyright, and when it runs."""

# pyright: reportUnnecessaryTypeIgnoreComment=error

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Protocol, assert_type

import pytest

from structsync import Monitor, entry
from structsync.distributed import Grant, RemoteCall, open_session

pytest.importorskip("msgspec")


class Greeter(Protocol):
    """A protocol is an interface."""

    async def greet(self, name: str, *, loudly: bool = False) -> str: ...


class Account(Monitor):
    """So is a monitor, with its entries."""

    @entry
    def withdraw(self, amount: int) -> float:
        return float(amount)


class Host:
    """What is hosted need not say that it follows the protocol."""

    async def greet(self, name: str, *, loudly: bool = False) -> str:
        return f"{name}{'!' * loudly}"


async def test_what_is_called_has_its_types() -> None:
    async with open_session("memory://", namespace="types") as session:
        hosting = session.host("greeter", Host(), Greeter)
        assert_type(hosting, AbstractAsyncContextManager[Grant])
        async with hosting, session.host("account", Account()) as grant:
            assert_type(grant, Grant)
            greeter = session.connect("greeter", Greeter)
            assert_type(greeter, Greeter)
            assert_type(await greeter.greet("you", loudly=True), str)
            account = session.connect("account", Account)
            assert_type(account, Account)
            assert_type(await account.withdraw(1), float)
            call = session.start(account.withdraw, 5)
            assert_type(call, RemoteCall[float])
            assert await call.wait() == 5.0
            with pytest.raises(TypeError):
                await greeter.greet(3)  # type: ignore[arg-type]
            with pytest.raises(TypeError):  # at once, as the arguments are sent as they are now
                session.start(greeter.greet, "you", quietly=True)  # type: ignore[call-arg]


async def test_a_function_under_a_shared_monitor_keeps_its_types() -> None:
    async with open_session("memory://", namespace="types") as session:
        monitor = session.monitor("monitor")

        async def greet(name: str, *, loudly: bool = False) -> str:
            return await Host().greet(name, loudly=loudly)

        assert_type(await monitor.entry(greet)("you", loudly=True), str)
        assert_type(await monitor.entry(len)("you"), int)
        call = monitor.do_when_free(greet, "you")
        assert_type(call, RemoteCall[str])
        assert await call.wait() == "you"
        with pytest.raises(TypeError):
            await monitor.entry(greet)("you", quietly=True)  # type: ignore[call-arg]
