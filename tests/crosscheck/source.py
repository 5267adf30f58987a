"""A program as Python source, and the function that this source defines.

The source is what runs. So each value of a program is where Python itself keeps it: in a frame, on
a frame's stack, in a cell, in a suspended generator, or in an object that one of them refers to.
"""

from __future__ import annotations

import itertools
import linecache
import re
import textwrap
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Any

from . import waits
from .program import CONSTRUCTS, Op, Program

_MODULES = """
    array collections contextlib contextvars datetime decimal enum fractions functools heapq
    itertools math operator re sys types weakref trio structsync
"""

HELPERS = {
    "Oops": "class Oops(Exception):\n    pass",
    "Slotted": (
        "class Slotted:\n    __slots__ = ('held', 'other')\n\n"
        "    def __repr__(self):\n        return 'slotted'"
    ),
    "Pair": (
        "class Pair:\n    def __init__(self, left, right):\n"
        "        self.left, self.right = left, right\n\n"
        "    def total(self):\n        return self.left + self.right"
    ),
    "Triple": "class Triple(Pair):\n    def total(self):\n        return 3",
    "Number": "class Number(int):\n    pass",
    "Line": "class Line(list):\n    pass",
    "checkpoint": "checkpoint = trio.lowlevel.checkpoint",
    "setting": "setting = contextvars.ContextVar('setting', default=0)",
    "upwards": "def upwards(start):\n    while True:\n        yield start\n        start += 1",
    "delegating": "def delegating(start):\n    yield from (start, start + 1, start + 2)",
    "summing": "def summing():\n    total = 0\n    while True:\n        total += (yield total) or 0",
    "later": "async def later(value):\n    await trio.lowlevel.checkpoint()\n    return value",
    "several": (
        "async def several(start):\n    for i in range(2):\n"
        "        await trio.lowlevel.checkpoint()\n        yield start + i"
    ),
    "holding": (
        "@contextlib.asynccontextmanager\nasync def holding(value):\n"
        "    await trio.lowlevel.checkpoint()\n    yield value"
    ),
}
NEEDS = {"Triple": "Pair"}  # helpers of helpers

#: What the tasks share: how it begins, and what the outcome tells of it.
SHARED = {
    "a": ("0", "a"),
    "b": ("0", "b"),
    "odd": ("None", "odd"),
    "log": ("[]", "log"),
    "line": ("collections.deque()", "list(line)"),
    "table": ("collections.OrderedDict()", "list(table.items())"),
    "bag": ("set()", "sorted(bag)"),
    "heap": ("[]", "heap"),
    "tree": ("{}", "tree"),
    "event": ("trio.Event()", "event.is_set()"),
    "lock": ("trio.Lock()", "lock.locked()"),
    "semaphore": ("trio.Semaphore(1)", "semaphore.value"),
    "limiter": ("trio.CapacityLimiter(1)", "limiter.available_tokens"),
    "condition": ("trio.Condition()", "condition.locked()"),
    "sender": ("", "sender.statistics().current_buffer_used"),
    "receiver": ("", "receiver.statistics().current_buffer_used"),
    "lot": ("trio.lowlevel.ParkingLot()", "len(lot)"),
    "permits": ("structsync.Semaphore(2)", "permits.value"),
    "mutex": ("structsync.Lock()", "mutex.locked()"),
    "notified": ("structsync.Condition()", "notified.locked()"),
    "queue": ("structsync.WaitQueue()", "queue.statistics().tasks_waiting"),
    "parker": ("structsync.Parker()", "parker.statistics()"),
    "opened": ("[]", "len(opened)"),
    "nurseries": ("[]", "len(nurseries)"),
    "started": ("trio.current_time()", "None"),
}
REBOUND = ("a", "b", "odd")  # assigned by the tasks; the others are changed in place


def mentioned(names: Iterable[str], text: str) -> list[str]:
    """Those of the names that occur in the text, in their own order."""
    words = set(re.findall(r"\w+", text))
    return [name for name in names if name in words]


def render(ops: tuple[Op, ...], numbers: Iterator[int]) -> str:
    """The lines of some constructs in a row."""
    return "\n".join(line for op in ops for line in lines(op, numbers)) or "pass"


def lines(op: Op, numbers: Iterator[int]) -> Iterator[str]:
    """The lines of a construct."""
    values = {
        "x": op.x,
        "y": "b" if op.x == "a" else "a",
        "k": str(op.k),
        "n": str(next(numbers)),
        "pause": waits.PAUSES[op.pause],
    }
    for line in CONSTRUCTS[op.kind].splitlines():
        if line.strip() == "$body":
            yield textwrap.indent(render(op.body, numbers), line[: line.index("$")])
        else:
            yield re.sub(r"\$([xykn]|pause)\b", lambda at: values[at[1]], line)


def body_of_test(program: Program) -> str:
    """The source of the test function's body, with ``$nonlocal`` still in it."""
    numbers = itertools.count()
    parts = []
    inside = []
    for index, worker in enumerate(program.workers):
        text = render(worker.ops, numbers)
        me = ""
        if worker.numbered:
            me, text = "me", f"{text}\na = a * 2 + me"
        text = textwrap.indent(f"$nonlocal\n{text}", "    ")
        parts.append(f"async def worker{index}({me}):\n{text}")
        inside += [
            f"nursery.start_soon(worker{index}{f', {copy}' if me else ''})"
            for copy in range(worker.copies)
        ]
    if program.main:
        inside.append(render(program.main, numbers))
    block = textwrap.indent("\n".join(inside), "    ")
    return "\n".join([*parts, f"async with trio.open_nursery() as nursery:\n{block}"])


def source(program: Program) -> str:
    """The program as a Python module with one function, ``test``, which returns the outcome."""
    body = body_of_test(program)
    shared = mentioned(SHARED, body) or ["a"]
    rebound = mentioned(REBOUND, body)
    body = re.sub(r"\$nonlocal", f"nonlocal {', '.join(rebound)}" if rebound else "pass", body)
    begin = [f"{name} = {SHARED[name][0]}" for name in shared if SHARED[name][0]]
    if {"sender", "receiver"} & set(shared):
        begin.append(f"sender, receiver = trio.open_memory_channel({program.capacity})")
    told = ", ".join(SHARED[name][1] for name in shared)
    test = "\n".join([*begin, body, f"return ({told},)"])
    text = "async def test(x):\n" + textwrap.indent(test, "    ")
    helpers = mentioned(HELPERS, text)
    helpers += [need for one, need in NEEDS.items() if one in helpers and need not in helpers]
    parts = [HELPERS[name] for name in HELPERS if name in helpers]
    whole = "\n\n\n".join([*parts, text]) + "\n"
    imports = [f"import {name}" for name in mentioned(_MODULES.split(), whole)]
    return "\n".join(imports) + "\n\n\n" + whole


Test = Callable[[Any], Awaitable[Any]]
_files = itertools.count()


def compiled(text: str) -> Test:
    """The function ``test`` of the source; tracebacks and reports see its lines."""
    name = f"<program {next(_files)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {"__name__": "program"}
    exec(compile(text, name, "exec"), namespace)
    test: Test = namespace["test"]
    return test
