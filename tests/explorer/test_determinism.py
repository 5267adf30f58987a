"""What decides besides the schedule is refused, and named with the place where it is used."""

from __future__ import annotations

import _thread
import asyncio
import functools
import gc
import logging
import os
import random
import re
import secrets
import socket
import subprocess
import sys
import threading
import time
import uuid
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from time import time as wall_clock
from types import SimpleNamespace
from typing import Any

import pytest
import trio
from trio.lowlevel import checkpoint

from structsync.testing import NondeterminismError, ReplayError, Verdict, explore
from structsync.testing._execution import determinism

from .conftest import Program


def in_a_task(call: Callable[[], object]) -> Program:
    """A program of two tasks, one of which calls something."""

    async def calls() -> None:
        await checkpoint()
        call()

    async def program() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(calls)
            nursery.start_soon(checkpoint)

    return program


async def works_in_a_thread() -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.to_thread.run_sync, len, "a")
        nursery.start_soon(checkpoint)


async def waits_for_a_socket() -> None:
    left, right = OPEN
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.lowlevel.wait_readable, left)
        nursery.start_soon(checkpoint)
    del right


OPEN: list[socket.socket] = []


def _roll() -> int:
    return random.randint(1, 6)


def _reads_a_default(clock: Callable[[], float] = time.time) -> float:
    return clock()


def _reads_a_named_default(*, clock: Callable[[], int] = time.time_ns) -> int:
    return clock()


@dataclass
class Named:
    name: uuid.UUID = field(default_factory=uuid.uuid4)


class OfAClass:
    now = staticmethod(time.time)


def _closing_over(clock: Callable[[], float]) -> Callable[[], float]:
    return lambda: clock()


CLOSURE = _closing_over(time.time)


@dataclass(frozen=True)
class Frozen:
    clock: Callable[[], float]


class Proxy:
    @property
    def __dict__(self) -> dict[str, object]:  # type: ignore[override]
        raise RuntimeError("nothing is behind it yet")


class Pair:
    both = (time.time, len)


CLOCKS: dict[str, Any] = {
    "a": time.time,
    "b": [len, time.time],
    "c": (time.time, len),
    "d": SimpleNamespace(clock=time.time),
    "e": Frozen(time.time),
    "f": functools.partial(time.time),
    "g": functools.partial(map, random.random, ()),
    "h": _reads_a_default,
    "i": lambda clock=time.time: clock(),
    "harmless": functools.partial(len),
    "proxy": Proxy(),
    "a proxy of what is gone": weakref.proxy(Proxy()),
    "gone": time.time,
    "large": dict.fromkeys(range(2_000), time.time),
}
CLOCKS["itself"] = CLOCKS

FORBIDDEN: tuple[tuple[Callable[[], object], str], ...] = (
    (lambda: time.time(), r"time\.time\(\) at .*use trio\.current_time\(\)"),
    (lambda: wall_clock(), r"time\.time\(\) at "),  # as it was imported, by another name
    (_reads_a_default, r"time\.time\(\) at .*use trio\.current_time\(\)"),
    (_reads_a_named_default, r"time\.time_ns\(\) at "),
    (lambda: Named(), r"uuid\.uuid4\(\) at "),
    (lambda: OfAClass().now(), r"time\.time\(\) at "),
    (lambda: CLOSURE(), r"time\.time\(\) at "),
    (lambda: CLOCKS["a"](), r"time\.time\(\) at "),
    (lambda: CLOCKS["b"][1](), r"time\.time\(\) at "),
    (lambda: CLOCKS["c"][0](), r"time\.time\(\) at "),
    (lambda: CLOCKS["d"].clock(), r"time\.time\(\) at "),
    (lambda: CLOCKS["e"].clock(), r"time\.time\(\) at "),
    (lambda: CLOCKS["f"](), r"time\.time\(\) at "),
    (lambda: CLOCKS["g"].args[0](), r"random\.random\(\) at "),
    (lambda: CLOCKS["i"](), r"time\.time\(\) at "),
    (lambda: Pair.both[0](), r"time\.time\(\) at "),
    (lambda: time.localtime(), r"time\.localtime\(\) at "),
    (lambda: time.strftime("%H"), r"time\.strftime\(\) at "),
    (lambda: secrets.token_hex(), r"(os|posix)\.urandom\(\) at "),
    (lambda: random.SystemRandom(1).random(), r"(os|posix)\.urandom\(\) at "),
    (lambda: os.system("true"), "the test starts a process"),
    (lambda: random.Random(), r"random\.Random\(\) at .*give it a seed"),
    (_roll, r"random\.randint\(\) at .*make a random\.Random\(seed\) in the test"),
    (lambda: random.shuffle([1]), r"random\.shuffle\(\) at "),
    (lambda: random.random(), r"random\.random\(\) at "),
    (lambda: os.urandom(1), r"(os|posix)\.urandom\(\) at "),
    (lambda: uuid.uuid4(), r"uuid\.uuid4\(\) at "),
    (lambda: threading.Thread(target=len).start(), "the test starts a thread"),
    (lambda: socket.socket(), r"the test uses a socket \(at .*:\d+\), and "),
    (
        lambda: subprocess.run([sys.executable, "-c", ""], check=True),
        r"the test starts a process \(at .*:\d+\), and ",
    ),
)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="no audit hook is told of it")
def test_a_thread_is_refused_below_the_module_threading_too() -> None:
    with pytest.raises(NondeterminismError, match="the test starts a thread"):
        explore(in_a_task(lambda: _thread.start_new_thread(len, ("a",))))


@pytest.mark.parametrize(
    ("call", "text"),
    FORBIDDEN,
    ids=[f"{number} {text}" for number, (_, text) in enumerate(FORBIDDEN)],
)
def test_what_no_schedule_decides_is_refused(call: Callable[[], object], text: str) -> None:
    with pytest.raises(NondeterminismError, match=text):
        explore(in_a_task(call))


def test_what_was_captured_is_itself_again_afterwards() -> None:
    with pytest.raises(NondeterminismError):
        explore(in_a_task(_reads_a_default))
    assert _reads_a_default.__defaults__ == (time.time,)
    assert _reads_a_named_default.__kwdefaults__ == {"clock": time.time_ns}
    assert OfAClass.now is time.time
    assert _reads_a_default() > 0
    assert Named().name != Named().name
    assert CLOSURE() > 0
    assert CLOCKS["a"] is CLOCKS["b"][1] is CLOCKS["c"][0] is CLOCKS["d"].clock is time.time
    assert CLOCKS["e"].clock is CLOCKS["f"].func is Pair.both[0] is time.time
    assert CLOCKS["g"].args[0] == random.random
    assert random.Random().random() < 1


def test_a_clock_in_data_that_the_test_closes_over_is_refused() -> None:
    clocks = {"now": time.time}

    def now() -> float:
        return clocks["now"]()

    def again() -> float:
        return now()

    async def program() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(checkpoint)
            nursery.start_soon(checkpoint)
        assert now() == again()

    with pytest.raises(NondeterminismError, match=r"time\.time\(\) at "):
        explore(program)
    assert clocks == {"now": time.time}


def test_what_the_program_has_changed_meanwhile_is_left_as_it_is() -> None:
    clocks: dict[str, Any] = dict.fromkeys(("kept", "changed", "gone"), time.time)

    def changes() -> None:
        clocks["changed"] = len
        clocks.pop("gone", None)

    async def program() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(checkpoint)
            nursery.start_soon(checkpoint)
        changes()
        assert clocks["kept"] is not len

    assert explore(program, cancels=0).failure is None
    assert clocks == {"kept": time.time, "changed": len}


def test_a_time_that_is_given_is_no_reason_to_refuse() -> None:
    assert (
        explore(in_a_task(lambda: time.strftime("%H", time.gmtime(0))), cancels=0).failure is None
    )


def test_a_default_of_the_test_itself_is_refused() -> None:
    async def program(clock: Callable[[], float] = time.time) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(checkpoint)
            nursery.start_soon(checkpoint)
        clock()

    with pytest.raises(NondeterminismError, match=r"time\.time\(\) at "):
        explore(program)


def test_a_generator_with_a_seed_is_allowed() -> None:
    assert explore(in_a_task(lambda: random.Random(1).random())).verdict is Verdict.CONFIRMED


def test_the_place_where_the_time_is_read_is_named() -> None:
    line = _roll.__code__.co_firstlineno + 1
    with pytest.raises(NondeterminismError, match=rf"{re.escape(__file__)}:{line}: "):
        explore(in_a_task(_roll))


def test_a_thread_of_trio_is_refused() -> None:
    with pytest.raises(NondeterminismError, match="the test starts a thread"):
        explore(works_in_a_thread)


def test_waiting_for_a_socket_is_refused() -> None:
    OPEN[:] = socket.socketpair()
    try:
        with pytest.raises(NondeterminismError, match=r"waits for input or output \(wait_read"):
            explore(waits_for_a_socket)
    finally:
        for one in OPEN:
            one.close()
        OPEN.clear()


def test_a_refusal_that_the_test_swallows_is_no_freedom() -> None:
    """Who catches it still has no time: nothing was returned that differs."""

    def swallows() -> None:
        try:
            time.time()
        except NondeterminismError:
            return
        raise AssertionError("it was answered")

    assert explore(in_a_task(swallows)).verdict is Verdict.CONFIRMED


ALLOWED: dict[str, Callable[[], object]] = {
    "a seeded generator": lambda: random.Random(3).random(),
    "the time of the schedule": lambda: trio.current_time(),
    "logging": lambda: logging.getLogger("explored").warning("a record bears the real time"),
    "a name's uuid": lambda: uuid.uuid5(uuid.NAMESPACE_DNS, "a"),
    "a thread's lock": lambda: threading.Lock().acquire(),
    "a sorted set": lambda: sorted({"b", "a"}),
}


@pytest.mark.parametrize("name", ALLOWED)
def test_what_is_the_same_each_time_is_allowed(name: str) -> None:
    assert explore(in_a_task(ALLOWED[name])).failure is None


def test_after_a_search_everything_is_as_it_was() -> None:
    before = (
        time.time,
        random.random,
        trio.to_thread.run_sync,
        trio.CancelScope.__enter__,
        wall_clock,
    )
    explore(in_a_task(lambda: None))
    after = (
        time.time,
        random.random,
        trio.to_thread.run_sync,
        trio.CancelScope.__enter__,
        wall_clock,
    )
    assert before == after
    assert time.time() > 0
    assert random.random() < 1
    with socket.socket():
        pass
    assert trio.run(trio.to_thread.run_sync, len, "abc") == 3


def test_other_threads_may_do_what_they_want_meanwhile() -> None:
    found = list[float]()

    def asks() -> None:
        thread_may_go.wait()
        found.append(time.time())
        with socket.socket():
            pass
        thread_is_done.set()

    thread_may_go, thread_is_done = threading.Event(), threading.Event()
    thread = threading.Thread(target=asks)
    thread.start()

    def lets_it_go() -> None:
        thread_may_go.set()
        thread_is_done.wait()

    try:
        explore(in_a_task(lets_it_go))
    finally:
        thread_may_go.set()
        thread.join()
    assert len(found) == 1


def test_between_executions_the_searching_thread_may_do_what_it_wants() -> None:
    with determinism.controlled():
        assert time.time() > 0
        assert trio.run(trio.to_thread.run_sync, len, "abc") == 3
        with socket.socket():
            pass


@pytest.mark.parametrize("enabled", [True, False])
def test_no_finalizer_runs_because_the_collector_happens_to_run(enabled: bool) -> None:
    class InACycle:
        def __init__(self, event: trio.Event) -> None:
            self.me, self.event = self, event

        def __del__(self) -> None:
            self.event.set()

    async def program() -> None:
        collected = trio.Event()
        InACycle(collected)
        made: list[object] = []
        async with trio.open_nursery() as nursery:
            for _ in range(2):
                nursery.start_soon(checkpoint)
            made += [[] for _ in range(10_000)]
        assert not collected.is_set()

    was_enabled = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        assert explore(program, cancels=0).verdict is Verdict.CONFIRMED
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if was_enabled else gc.disable)()


# ==== what nothing refuses shows when a schedule is repeated ====


def test_a_global_that_outlives_an_execution_is_noticed_at_once() -> None:
    calls = list[int]()

    async def program() -> None:
        calls.append(1)
        if len(calls) == 2:
            raise ValueError("only the second time")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(checkpoint)
            nursery.start_soon(checkpoint)

    with pytest.raises(
        NondeterminismError,
        match="ended differently the second time: passed , then error ValueError: only the second "
        "time; something outlives an execution",
    ):
        explore(program)


def test_other_steps_in_a_later_execution_are_noticed() -> None:
    calls = list[int]()

    async def program() -> None:
        calls.append(1)
        async with trio.open_nursery() as nursery:
            for _ in range(2 if len(calls) < 5 else 3):
                nursery.start_soon(checkpoint)

    with pytest.raises(NondeterminismError, match=r"at step \d+ the test does not do what it did"):
        explore(program, cancels=0, search="plain")


def test_a_failure_that_does_not_come_again_is_noticed() -> None:
    calls = list[int]()

    async def program() -> None:
        calls.append(1)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(checkpoint)
            nursery.start_soon(checkpoint)
        assert len(calls) != 5

    with pytest.raises(NondeterminismError, match=r"ended as .* once and as .* when repeated"):
        explore(program, cancels=0, search="plain")


def test_the_order_of_a_set_of_strings_is_the_same_within_a_process() -> None:
    async def program() -> None:
        async with trio.open_nursery() as nursery:
            for name in {"a", "b", "c"}:
                nursery.start_soon(checkpoint, name=name)

    assert explore(program, cancels=0).verdict is Verdict.CONFIRMED


def test_another_library_is_not_explored() -> None:
    async def program() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(asyncio.sleep, 0)
            nursery.start_soon(checkpoint)

    failure = explore(program, cancels=0).failure
    assert failure is not None
    assert failure.kind == "error"
    assert "TypeError" in failure.message


# ==== what differs from one process to the next ====


def test_a_token_from_a_process_with_other_hashes_is_not_said_to_pass(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = {"a", "b", "c"}

    async def program() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(checkpoint)
            nursery.start_soon(checkpoint)
        assert next(iter(names)) != wrong

    wrong = next(iter(names))
    failure = explore(program, cancels=0).failure
    assert failure is not None
    wrong = "is first where texts hash in another way"
    monkeypatch.delenv("PYTHONHASHSEED", raising=False)
    with pytest.raises(ReplayError, match="PYTHONHASHSEED"):
        explore(program, cancels=0, replay=failure.token)
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    assert explore(program, cancels=0, replay=failure.token).failure is None


def test_a_set_that_is_gone_through_where_it_stands_is_a_set_of_texts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def program() -> None:
        async with trio.open_nursery() as nursery:
            for name in {"a", "b"}:
                nursery.start_soon(checkpoint, name=name)
        assert MENDED

    global MENDED
    MENDED = False
    failure = explore(program, cancels=0).failure
    assert failure is not None
    MENDED = True
    monkeypatch.delenv("PYTHONHASHSEED", raising=False)
    with pytest.raises(ReplayError, match="PYTHONHASHSEED"):
        explore(program, cancels=0, replay=failure.token)


MENDED = True
