"""Objects to rule over, in a session each."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, NamedTuple, Protocol

import trio

from structsync import Monitor, entry
from structsync._core.monitors.stages import Stage
from structsync.distributed import Session, SharedSynchronizer


class NoMore(Exception):
    """What a rule raises that callers know."""


class Switch(Monitor):
    """On or off; a caller that looks at it may stay for as long as the light is barred."""

    def __init__(self) -> None:
        super().__init__()
        self.is_on = False
        self.joined = 0
        self.inside = trio.Event()
        self.free = trio.Event()

    @entry
    def on(self) -> None:
        self.is_on = True

    @on.when
    def on_when(self) -> bool:
        return not self.is_on

    @entry
    def off(self) -> None:
        self.is_on = False

    @off.when
    def off_when(self) -> bool:
        return self.is_on

    @entry
    async def join(self, amount: int = 1) -> int:
        self.joined += amount
        self.inside.set()
        await trio.lowlevel.checkpoint()
        return self.joined

    @entry
    def look(self) -> bool:
        return self.is_on

    @entry
    async def stay(self) -> None:
        self.inside.set()
        await self.free.wait()


RULED = ("on", "off", "join")


class Switching(Protocol):
    """What callers see of it."""

    async def on(self) -> None: ...
    async def off(self) -> None: ...
    async def join(self, amount: int = 1) -> int: ...
    async def look(self) -> bool: ...
    async def stay(self) -> None: ...


def names(count: int) -> list[str]:
    return [f"switches/{n}" for n in range(count)]


class Hosted(NamedTuple):
    """Those that are hosted, what another session sees of them, and their own sessions."""

    switches: list[Switch]
    remote: list[Switching]
    sessions: list[Session]

    def deafen(self, n: int) -> None:
        """Let a host hear of nothing that is asked of it."""
        calls = self.sessions[n]._calls
        assert calls is not None
        ruled: Any = calls.hosts[names(n + 1)[n]]._ruled
        ruled._hear = lambda token, asked: None


@asynccontextmanager
async def hosted(opens: Callable[[], Any], count: int = 2) -> AsyncIterator[Hosted]:
    """Host some, each in a session of its own."""
    async with AsyncExitStack() as stack:
        switches, sessions = [Switch() for _ in range(count)], list[Session]()
        for name, switch in zip(names(count), switches, strict=True):
            session = await stack.enter_async_context(opens())
            sessions.append(session)
            await stack.enter_async_context(
                session.host(name, switch, ruled_by="radio", ruled=RULED, errors=[NoMore])
            )
        caller = await stack.enter_async_context(opens())
        yield Hosted(switches, [connected(caller, name) for name in names(count)], sessions)


def connected(session: Session, name: str) -> Switching:
    return session.connect(name, Switching, errors=[NoMore])


class Lit:
    """At most one of the switches is on, as far as the rules know."""

    def __init__(self, radio: SharedSynchronizer, count: int = 2) -> None:
        self.lit: list[str] = []
        self.most = 0
        self.stand_ins = [radio.stand_in(name, Switch) for name in names(count)]
        for one, name in zip(self.stand_ins, names(count), strict=True):
            radio.rules.disable(one.on, when=lambda: bool(self.lit))
            radio.rules.trigger(one.on, lambda name=name: self.turned_on(name))
            radio.rules.trigger(one.off, lambda name=name: self.lit.remove(name))

    def deny(self) -> None:
        """Disable all of them."""
        self.lit.append("something else")

    def turned_on(self, name: str) -> None:
        self.lit.append(name)
        self.most = max(self.most, len(self.lit))


def stages(radio: SharedSynchronizer) -> list[Stage]:
    """Return how the calls stand that wait."""
    ruler: Any = getattr(radio._make, "__self__")  # noqa: B009 - to a type checker a function has none
    return [*ruler.ready.stages.values()]


async def until(radio: SharedSynchronizer, *wanted: Stage) -> None:
    """Return once the calls that wait stand so; tests with it have a limit of time."""
    expected = sorted([one.value for one in wanted])
    while sorted([one.value for one in stages(radio)]) != expected:
        await trio.lowlevel.checkpoint()
