"""A process that takes part in what the tests of processes do; it says in lines what happens to it.

``hold URL NAMESPACE TTL``: asks for the lock, holds it, and releases it when something is written to it.
``replace URL NAMESPACE TTL``: holds it, and runs another program in its place when something is written to it.
``fork URL NAMESPACE TTL``: holds it, has a fork leave the block, and goes on. ``fork again URL NAMESPACE TTL``: has a fork
open a session.
``tick URL NAMESPACE TTL``: holds the lock, and says so every few milliseconds. With ``COUNTS_NO_LEASE`` in its environment
it believes that its lease goes on.
``storm URL NAMESPACE TTL COUNT``: takes one of two permits again and again. A ttl of 0 is none.
``endure URL NAMESPACE TTL LONGEST``: the same, forever, for up to so many seconds each, with another session
whenever one is lost. With ``MARGIN`` in its environment, it counts its lease by that; with ``PERMITS``
there are so many.
``enter URL NAMESPACE TTL``: enters a monitor, and stays inside.
``host URL NAMESPACE TTL``: hosts a counter. ``call URL NAMESPACE TTL``: calls one, and waits there.
``desk URL NAMESPACE TTL NUMBER FILE``: hosts a desk, which notes in a file what was called there, forever, with another
session whenever one is lost. ``rules URL NAMESPACE TTL FILE``: rules over two of them, and notes what it lets start.
``switch URL NAMESPACE TTL NUMBER``: hosts a switch, over which others rule. ``rule URL NAMESPACE TTL``: rules over two.
``serve URL NAMESPACE TTL FILE``: hosts a journal, which writes to a file. With ``DIE_BEFORE_ANSWER`` in its
environment it is killed when a call was carried out; with ``COUNTS_NO_LEASE`` it believes that its lease goes on.

With ``DIE_BEFORE_HINT`` in its environment it is killed when its operation is in the log, and before it
tells any task.
"""

from __future__ import annotations

import os
import random
import select
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, suppress
from pathlib import Path
from typing import Any

import trio
from trio._core import _run

from structsync._core.shared.operations import Key
from structsync.distributed import LeaseLost, Session, membership, open_session
from structsync.distributed.replica import Replica

# Last, so that structsync is the one that is installed.
sys.path.append(str(Path(__file__).parents[2]))

from tests.distributed import desks
from tests.distributed.positions import noting
from tests.distributed.shops import Counter, Counting, Journal
from tests.distributed.switches import RULED, Lit, Switch, names


def say(*words: object) -> None:
    print(*words, flush=True)  # noqa: T201 - its report


def die(*_: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def opens(url: str, namespace: str, ttl: str) -> AbstractAsyncContextManager[Session]:
    return open_session(url, namespace=namespace, ttl=float(ttl) or None)


async def hold(*where: str) -> None:
    async with opens(*where) as session:
        say("asks")
        async with session.lock("lock") as grant:
            say("holds", grant.token)
            await trio.lowlevel.wait_readable(sys.stdin)
            if "DIE_BEFORE_HINT" in os.environ:
                setattr(session._engine, "hint", die)  # noqa: B010 - to a type checker it is a constant
        say("gave back")


async def replace(*where: str) -> None:
    async with opens(*where) as session, session.lock("lock") as grant:
        say("holds", grant.token)
        await trio.lowlevel.wait_readable(sys.stdin)
        os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(600)"])


def wait_by_an_own_epoll() -> None:
    """In a fork: trio's epoll is that of the parent, too, for which the fork would take back what it waits for."""
    manager: Any = _run.GLOBAL_RUN_CONTEXT.runner.io_manager
    manager._epoll = select.epoll()
    for file, waiters in manager._registered.items():
        manager._epoll.register(file, waiters.current_flags)


async def fork(*where: str) -> None:
    async with opens(*where) as session, session.lock("lock") as grant:
        connection: Any = getattr(session._engine, "connection")  # noqa: B009 - an engine on a server has one
        while connection.replies:  # noqa: ASYNC110 - a copy that runs on may receive what is on its way to the parent
            await trio.sleep(0.01)
        pid = os.fork()
        if pid == 0:
            wait_by_an_own_epoll()
            sys.exit(0)
        os.waitpid(pid, 0)  # noqa: ASYNC222 - nothing else is to happen meanwhile
        async with session.lock("other"):
            say("holds", grant.token)
        await trio.lowlevel.wait_readable(sys.stdin)
    say("gave back")


async def fork_again(*where: str) -> None:
    def run() -> None:
        pid = os.fork()
        if pid == 0:
            try:
                trio.run(hold, *where)
            except RuntimeError as error:
                say(error)
            os._exit(0)
        os.waitpid(pid, 0)

    async with opens(*where) as session, session.lock("lock"):
        await trio.to_thread.run_sync(run)
    say("gave back")


async def count_no_lease(*where: str) -> None:
    # A server that has just started lets each who acquires wait, and anew if it hears of none meanwhile.
    async with opens(*where) as session, session.lock("past its grace period"):
        pass
    setattr(membership, "MARGIN", -1000)  # noqa: B010 - to a type checker it is a constant
    setattr(membership.Membership, "_renew", never)  # noqa: B010 - nor does it ask


async def tick(*where: str) -> None:
    if "COUNTS_NO_LEASE" in os.environ:
        await count_no_lease(*where)
    async with opens(*where) as session, session.lock("lock") as grant:
        say("holds", grant.token)
        while True:
            await trio.sleep(0.01)
            say("step", time.monotonic_ns())


async def storm(url: str, namespace: str, ttl: str, count: str) -> None:
    async with opens(url, namespace, ttl) as session:
        semaphore = session.semaphore("db", 2)
        for _ in range(int(count)):
            async with semaphore as grant:
                start = time.monotonic_ns()
                await trio.sleep(0.001)
                say("held", grant.token, start, time.monotonic_ns())


async def endure(url: str, namespace: str, ttl: str, longest: str) -> None:
    if "MARGIN" in os.environ:
        membership.MARGIN = float(os.environ["MARGIN"])
    permits = int(os.environ.get("PERMITS", "2"))
    asked: dict[Key, int] = {}
    setattr(Replica, "advance", noting(asked))  # noqa: B010 - to a type checker it is a constant
    while True:
        try:
            async with opens(url, namespace, ttl) as session:
                while True:
                    async with session.semaphore("db", permits) as grant:
                        place = asked[session.identity, grant._number]
                        say("in", grant.token, time.monotonic_ns(), place)
                        try:
                            await trio.sleep(random.uniform(0, float(longest)))
                        finally:
                            say("out", grant.token, time.monotonic_ns())
        except (LeaseLost, OSError):
            await trio.sleep(0.05)


async def enter(*where: str) -> None:
    async with opens(*where) as session:
        monitor = session.monitor("monitor")

        async def stay() -> None:
            say("inside", monitor.grant().token)
            await trio.sleep_forever()

        await monitor.entry(stay)()


async def host(*where: str) -> None:
    async with opens(*where) as session, session.host("counter", Counter(say)):
        say("hosts")
        await trio.sleep_forever()


async def never(*_: Any) -> None:
    await trio.sleep_forever()


async def serve(url: str, namespace: str, ttl: str, file: str) -> None:
    if "COUNTS_NO_LEASE" in os.environ:
        await count_no_lease(url, namespace, ttl)
    async with opens(url, namespace, ttl) as session:
        async with session.host("journal", Journal(Path(file), say)):
            if "DIE_BEFORE_ANSWER" in os.environ:
                setattr(session._engine, "send", die)  # noqa: B010 - the same
            say("hosts")
            await trio.sleep_forever()


async def call(*where: str) -> None:
    async with opens(*where) as session:
        await session.connect("counter", Counting).wait("tea")


async def switch(url: str, namespace: str, ttl: str, number: str) -> None:
    name = names(int(number) + 1)[-1]
    async with opens(url, namespace, ttl) as session:
        async with session.host(name, Switch(), ruled_by="radio", ruled=RULED):
            say("hosts")
            await trio.sleep_forever()


def noting_to(file: str) -> desks.Note:
    written = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def note(word: str, which: int) -> None:
        os.write(written, f"{word} {which}\n".encode())

    return note


async def desk(url: str, namespace: str, ttl: str, number: str, file: str) -> None:
    one = desks.Desk(noting_to(file))
    while True:
        with suppress(LeaseLost, OSError):
            async with (
                opens(url, namespace, ttl) as session,
                desks.hosted(session, int(number), one),
            ):
                say("hosts")
                await trio.sleep_forever()


async def rules(url: str, namespace: str, ttl: str, file: str) -> None:
    note = noting_to(file)
    while True:
        with suppress(LeaseLost, OSError):
            async with (
                opens(url, namespace, ttl) as session,
                session.synchronizer("rules") as stated,
            ):
                its = desks.Rules(stated, note)
                say("rules")
                await its.change(3600)


async def rule(*where: str) -> None:
    async with opens(*where) as session, session.synchronizer("radio") as radio:
        Lit(radio)
        say("rules")
        await trio.sleep_forever()


if __name__ == "__main__":
    programs: dict[str, Callable[..., Awaitable[None]]]
    programs = {
        "hold": hold,
        "replace": replace,
        "fork": fork,
        "fork again": fork_again,
        "tick": tick,
        "storm": storm,
        "endure": endure,
        "enter": enter,
        "host": host,
        "call": call,
        "switch": switch,
        "rule": rule,
        "desk": desk,
        "rules": rules,
        "serve": serve,
    }
    trio.run(programs[sys.argv[1]], *sys.argv[2:])
