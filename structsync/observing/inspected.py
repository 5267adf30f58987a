"""What an inspector tells of the program: plain data of bounded size, made in a bounded share of its time."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Hashable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any
from weakref import ref

import trio
from trio.lowlevel import Task

from structsync._core.primitives.rwlock import Access
from structsync._core.queue.request import Request
from structsync._runtime.live import Live

from .metrics import open_metrics
from .places import is_task, line_of, names_of, state_for_people, title_of, unseen
from .snapshot import holders_with_units, is_waited_for, live_primitives
from .trace import traces

#: How many there are at most in one answer, and how long texts are.
MOST_PRIMITIVES, MOST_OF_EACH, MOST_EDGES, MOST_FRAMES, MOST_TEXT = 50, 20, 200, 100, 200
#: How many of these may be there although their queue is short, because a holder waits for something, too.
MOST_CHAINED = 20
#: How many waiters are described in all, besides the first few of each primitive.
MOST_WAITERS, FEW = 200, 3
#: A look takes at most one in so many parts of the program's time; so does the search for primitives.
PARTS, LEAST_SECONDS = 100, 0.2


class Inspected:
    """Looks at the program; a look is used again until its share of the time has passed."""

    def __init__(self) -> None:
        self._found: list[ref[Live[Any]]] = []
        self._search_at = self._look_at = -1.0
        self._answer = b""
        self._tasks: dict[int, ref[Task]] = {}
        self._left = 0  # how many waiters may still be described
        self._heads: dict[int, tuple[Request[Any], float]] = {}

    def state(self) -> bytes:
        """Return what every primitive looks like, as a line of JSON; perhaps as it was a moment ago."""
        start = time.perf_counter()
        if start >= self._look_at:
            self._answer = _line(self._look())
            end = time.perf_counter()
            self._look_at = end + max(PARTS * (end - start), LEAST_SECONDS)
        return self._answer

    def task(self, number: object) -> bytes:
        """Return where a task stands that the last answer named, as a line of JSON."""
        reference = self._tasks.get(number) if type(number) is int else None
        task = None if reference is None else reference()
        if task is None:
            return _line({"task": None})
        stack = [
            f"{Path(frame.f_code.co_filename).name}:{number} in {frame.f_code.co_name}"
            for frame, number in islice(task.iter_await_frames(), MOST_FRAMES)
        ]
        return _line({"task": task.name[:MOST_TEXT], "stack": [_text(one) for one in stack]})

    def _look(self) -> dict[str, Any]:
        alive = sorted(self._primitives(), key=lambda one: -len(one._core.queue))
        self._tasks, self._left = {}, MOST_WAITERS
        heads, self._heads = self._heads, {}
        shown = [self._primitive(one, heads) for one in _chosen(alive)]
        _name_all(shown)
        return {
            "program": _text(Path(sys.argv[0]).name or "python"),
            "pid": os.getpid(),
            "at": time.perf_counter(),
            "tasks": trio.lowlevel.current_statistics().tasks_living,
            "primitives": shown,
            "left_out": len(alive) - len(shown),
            "edges": [*islice(_edges(shown), MOST_EDGES)],
        }

    def _primitives(self) -> list[Live[Any]]:
        """Return the live primitives, as they were found last: the search goes through all objects."""
        start = time.perf_counter()
        if start >= self._search_at:
            self._found = [ref(one) for one in live_primitives()]
            end = time.perf_counter()
            self._search_at = end + max(PARTS * (end - start), LEAST_SECONDS)
        return [one for each in self._found if (one := each()) is not None]

    def _primitive(self, live: Live[Any], heads: dict[int, Any]) -> dict[str, Any]:
        try:
            return self._described(live, heads)
        except Exception as error:  # noqa: BLE001 - of a borrower of the user's, whose hash may do anything
            title = _text(type(live).__name__)
            return {**_NOTHING, "id": id(live), "title": title, "state": unseen(error)}

    def _described(self, live: Live[Any], heads: dict[int, Any]) -> dict[str, Any]:
        core, now = live._core, trio.current_time()
        waiting = core.waiting()
        shown = waiting[: min(max(self._left, FEW), MOST_OF_EACH)]
        self._left -= len(shown)
        held = dict(islice(holders_with_units(live).items(), MOST_OF_EACH))
        longest, is_exact = self._longest(live, waiting, heads, now)
        return {
            **_NOTHING,
            "id": id(live),
            "title": _text(title_of(live, live._name)),
            "state": _text(state_for_people(live._describe_plainly())),
            "waiting": len(waiting),
            "queued": core.next_ticket,
            "longest": longest,
            "exact": is_exact,
            "holders": [
                {"task": self._number(who), "who": who, "units": units}
                | self._noted([trace.hold_of(live, who) for trace in traces], now)
                for who, units in held.items()
            ],
            "waiters": [
                {"task": self._number(one.waiter), "who": one.waiter, "claim": _claim(one.claim)}
                | {"parked": (parks := is_waited_for(one))}
                | {"line": line_of(one.waiter) if parks else None}
                | self._noted([trace.wait_of(live, one) for trace in traces], now)
                for one in shown
            ],
        } | _numbers(live)

    def _longest(
        self, live: Live[Any], waiting: list[Request[Any]], heads: dict[int, Any], now: float
    ) -> tuple[float | None, bool]:
        """Return how long the head of the queue waits; without a trace, since when it was seen there."""
        if not waiting:
            return None, True
        head = waiting[0]
        for trace in traces:
            noted = trace.wait_of(live, head)
            if noted is not None and noted.since is not None:
                return now - noted.since, True
        seen = self._heads[id(head)] = heads.get(id(head), (head, now))
        return now - seen[1], False

    def _noted(self, notes: list[Any], now: float) -> dict[str, Any]:
        for one in notes:
            if one is not None and one.since is not None:
                return {"for": now - one.since, "line": one.line}
        return {"for": None}

    def _number(self, who: Hashable) -> int | None:
        if not is_task(who):
            return None
        self._tasks[id(who)] = ref(who)
        return id(who)


_NOTHING: dict[str, Any] = {
    "waiting": 0,
    "queued": 0,
    "granted": None,
    "p99": None,
    "longest": None,
    "exact": True,
    "holders": [],
    "waiters": [],
}


def _chosen(alive: list[Live[Any]]) -> list[Live[Any]]:
    """Return those with the longest queues, and of the others some whose holders wait: as in a deadlock."""
    left_out = [one for one in alive[MOST_PRIMITIVES:] if one._core.waiting()]
    if not left_out:
        return alive[:MOST_PRIMITIVES]
    waiting = {request.waiter for one in alive for request in one._core.waiting()}
    chained = [one for one in left_out if not waiting.isdisjoint(holders_with_units(one))]
    chained = chained[:MOST_CHAINED]
    return [*alive[: MOST_PRIMITIVES - len(chained)], *chained]


def _numbers(live: Live[Any]) -> dict[str, Any]:
    """Return what is counted of a primitive, where ``observe.metrics()`` is on."""
    row = open_metrics[-1].row(live) if open_metrics else None
    if row is None:
        return {}
    return {"granted": row.granted, "p99": row.waits.quantile(0.99)}


def _name_all(shown: list[dict[str, Any]]) -> None:
    """Put names in the places of all holders and waiters: at once, so that no two have one name anywhere."""
    people = [each for one in shown for each in (*one["holders"], *one["waiters"])]
    names = names_of((each["who"] for each in people), call_others=_type_of)
    for each in people:
        each["name"] = _text(names[each.pop("who")])


def _edges(shown: list[dict[str, Any]]) -> Iterator[tuple[str, str, str]]:
    for one in shown:
        for waiter in (each for each in one["waiters"] if each["parked"]):
            for holder in one["holders"]:
                yield waiter["name"], one["title"], holder["name"]


def _claim(claim: object) -> str:
    """Return what is claimed, where that is short and ours to print: not a repr of the user's."""
    if type(claim) is Access:
        return claim.mode
    return str(claim) if type(claim) is int else ""


def _type_of(who: object) -> str:
    """Return how a holder is called that is no task: not by a repr of the user's."""
    return type(who).__name__


def _text(text: str) -> str:
    return text if len(text) <= MOST_TEXT else f"{text[: MOST_TEXT - 1]}…"


def _line(answer: dict[str, Any]) -> bytes:
    return json.dumps(answer).encode() + b"\n"
