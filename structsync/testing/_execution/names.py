"""Names of tasks and scopes that mean the same in every execution of a test."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from math import inf
from types import FrameType

import trio
from trio.lowlevel import Task

from .addresses import address_of
from .places import place_of, program_frame

MAIN = "main"

#: How trio writes a task, and Python an object.
_TASK = re.compile(
    r"<Task (?P<quote>['\"])(?P<quoted>.*?)(?P=quote) at 0x(?P<address>[0-9a-fA-F]+)>"
)
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+| id='\d+'")  # the second as unittest.mock writes it


class Names:
    """Names the tasks of one execution by their parents: ``worker#1``, ``worker#1/child#0``.

    The number counts what one parent spawned under one name, so it does not depend on what other
    tasks did in the meantime.
    """

    def __init__(self) -> None:
        self.of: dict[Task, str] = {}
        self.tasks: dict[str, Task] = {}
        self._counts: dict[tuple[str, str], int] = {}

    def add(self, task: Task) -> str:
        """Name a task that was just spawned."""
        if not self.of:
            name = MAIN
        else:
            nursery = task.parent_nursery
            parent = "system" if nursery is None else self.of.get(nursery.parent_task, "system")
            spawned = parent, _base(task.name)
            number = self._counts.get(spawned, 0)
            self._counts[spawned] = number + 1
            name = _numbered(spawned, number)
        self.of[task] = name
        self.tasks[name] = task
        return name

    def for_report(self, holder: object) -> str:
        """Return what a report calls the holder of something: a task, or any other object."""
        if isinstance(holder, Task):
            return self.of.get(holder, holder.name)
        return self.readable(str(holder))

    def readable(self, text: str) -> str:
        """Return a text with the names of its tasks, and without addresses, as they stand in a report."""
        by_address = {id(task): name for task, name in self.of.items()}

        def named(found: re.Match[str]) -> str:
            return by_address.get(int(found["address"], 16), found["quoted"])

        return _ADDRESS.sub("", _TASK.sub(named, text))


@functools.lru_cache(maxsize=1024)
def _numbered(spawned: tuple[str, str], number: int) -> str:
    parent, base = spawned
    return f"{base}#{number}" if parent == MAIN else f"{parent}/{base}#{number}"


@functools.lru_cache(maxsize=1024)
def _base(name: str) -> str:
    """Return the last part of a task's name, with nothing in it that a token could not hold."""
    name = _ADDRESS.sub("", name)  # an object that is called: its repr()
    last = name.rpartition(".")[2] or name
    return re.sub(r"[^\w-]", "_", last).strip("_") or "task"


@dataclass(slots=True)
class _OpenScope:
    name: str
    scope: trio.CancelScope
    task: Task
    raises: bool
    """Whether it fails by itself if it is cancelled, as ``fail_after()`` does."""
    of_nursery: bool = False


#: What refers to a scope that the program has not kept: the ``with`` statement that is to leave it, trio (for
#: a deadline once more), the list of open scopes, and the argument of the function that counts.
_ONLY_ENTERED = 4


def _is_kept(one: _OpenScope) -> bool:
    """Return whether something in the program refers to a scope, and so could cancel it."""
    return sys.getrefcount(one.scope) > _ONLY_ENTERED + (one.scope.deadline != inf)


def _is_cancelled(scope: trio.CancelScope) -> bool:
    return scope.cancel_called


def _could_be_cancelled(one: _OpenScope) -> bool:
    """Return whether something in the program, its clock or its caller could cancel a scope.

    The cancellation of a scope that the program has not kept stands for its caller's, which a shield keeps out.
    """
    if one.of_nursery or not one.scope.shield or one.scope.deadline != inf:
        return True
    return _is_kept(one)


def _stands_for_the_test(one: _OpenScope) -> bool:
    """Return whether to cancel a scope that is the outermost of the test is to cancel the test.

    It is a nursery, or a guard: nothing looks at what has become of it, and all it does is to end the test in
    time.
    """
    return one.of_nursery or (not one.scope.shield and (one.raises or not _is_kept(one)))


class Scopes:
    """The cancel scopes that the program itself opened and has not left yet, in that order.

    ``main~0`` is the first one that the test function opened.
    """

    def __init__(self, names: Names) -> None:
        self._names = names
        self._counts: dict[str, int] = {}
        self._open: dict[int, _OpenScope] = {}
        self._sleeps: dict[int, trio.CancelScope] = {}
        """Scopes with a deadline that the program did not open itself: a task that sleeps is in one."""
        self.is_cancelled: Callable[[trio.CancelScope], bool] = _is_cancelled
        """What an engine may know a shorter way to."""
        self._places: dict[str, str] | None = None

    def entered(
        self,
        scope: trio.CancelScope,
        task: Task,
        *,
        raises: bool = False,
        caller: FrameType | None = None,
    ) -> None:
        """Note that a task opened a scope, if it is a task of the program."""
        owner = self._names.of.get(task)
        if owner is not None:
            number = self._counts.get(owner, 0)
            name = f"{owner}~{number}"
            self._open[address_of(scope)] = _OpenScope(name, scope, task, raises)
            self._counts[owner] = number + 1
            if self._places is not None and (frame := program_frame(caller)) is not None:
                self._places[name] = place_of(frame.f_code, frame.f_lineno)

    def write_down_places(self) -> None:
        """From now on, note where scopes are opened: for a report, as it takes time."""
        if self._places is None:
            self._places = {}

    def opened_at(self, name: str) -> str:
        """Return where a scope was opened, if that was written down."""
        return (self._places or {}).get(name, "")

    def round(self, task: Task) -> Iterator[tuple[str, trio.CancelScope]]:
        """Yield name and scope of the program's open scopes that a task is in."""
        for key in self._round(task):
            yield self._open[key].name, self._open[key].scope

    def _round(self, task: Task) -> Iterator[int]:
        """Yield the keys of the scopes that a task is in.

        Its own; and of its parent those that were opened up to the nursery that the task is in.
        """
        nursery = None
        while True:
            for key, one in self._open.items():
                if one.task is task:
                    yield key
                    if nursery is not None and one.scope is nursery.cancel_scope:
                        break
            nursery = task.parent_nursery
            if nursery is None:
                return
            task = nursery.parent_task

    def sleeps(self, scope: trio.CancelScope) -> None:
        """Note that a function of trio has opened a scope for itself."""
        if scope.deadline != inf:
            self._sleeps[address_of(scope)] = scope

    def left(self, scope: trio.CancelScope) -> None:
        """Note that the block of a scope ended."""
        self._open.pop(address_of(scope), None)
        self._sleeps.pop(address_of(scope), None)

    def _all_open(self) -> list[tuple[int, _OpenScope, bool]]:
        """Return the open scopes with their keys, and whether each one stands for the whole test."""
        found: list[tuple[int, _OpenScope, bool]] = []
        gone: list[int] = []
        main, is_outermost = self._names.tasks[MAIN], True
        for key, one in self._open.items():
            # A nursery leaves its scope by a way that cannot be watched, so ask its task.
            for nursery in one.task.child_nurseries:
                if nursery.cancel_scope is one.scope:
                    one.of_nursery = is_nurserys = True
                    break
            else:
                is_nurserys = False
                if one.of_nursery:
                    gone.append(key)
                    continue
            if is_outermost and one.task is main:
                is_outermost = not is_nurserys
                found.append((key, one, _stands_for_the_test(one)))
            else:
                found.append((key, one, False))
        for key in gone:
            del self._open[key]
        return found

    def deadlines(self) -> set[float]:
        """Return the deadlines that are still to come, without those of the guards of the test."""
        asked = [*self._sleeps.values()]
        asked += [one.scope for _, one, is_whole in self._all_open() if not is_whole]
        return {scope.deadline for scope in asked if not scope.cancel_called} - {inf}

    def cancellable(
        self, exempt: Collection[Task], whole: trio.CancelScope
    ) -> dict[str, trio.CancelScope]:
        """Return the open scopes by name that are not cancelled yet and could be.

        Without those round a task that is exempt. Nothing in the program calls the test: in place of
        its outermost nursery, and of the guards round that, ``whole`` is cancelled, which is round
        the test function and has its name.
        """
        found, is_cancelled = {}, self.is_cancelled
        spared = {key for task in exempt for key in self._round(task)} if exempt else ()
        for key, one, is_whole in self._all_open():
            if is_cancelled(one.scope) or key in spared or not _could_be_cancelled(one):
                continue
            if not is_whole:
                found[one.name] = one.scope
            elif not is_cancelled(whole):
                found[MAIN] = whole
        return found
