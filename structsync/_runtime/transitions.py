"""One transition at a time in each thread.

A transition decides, wakes and informs observers in one step, and other code can run in the middle of
it: a guard, a predicate, an observer; an instrument of trio; and, at any allocation, a finalizer, which
may leave a block that holds a permit. None of these may find or change a state that is half way. So,
while a transition runs in this thread,

* what acquires, resizes, closes or notifies is refused (I6);
* what releases or withdraws, and what trio aborts, is carried out right after it, in order: it may come
  from a finalizer, whose permit would be lost if it were refused.

Trio has one run per thread at most, so the thread stands for the run.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn, Protocol, cast
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from trio.lowlevel import Task

_log = logging.getLogger("structsync")

# How often what is carried out may itself leave something to carry out. A finalizer does so once; a
# guard that releases whenever it is evaluated would go on forever.
GENERATIONS = 1000


class Mark(Protocol):
    """A reentrant lock, of which only the owner is looked up."""

    def _is_owned(self) -> bool: ...


class Transitions:
    """The transitions of one thread.

    A context manager around one transition. ``acquire`` and ``release``, which are hot, write the
    same out: a block costs as much as their decision.
    """

    __slots__ = ("__weakref__", "carrying_out", "later", "mark", "parking", "running", "thread")

    thread: int
    #: Held by the thread forever, so that ``mark._is_owned()`` says whether that is the current one. It is
    #: how threading.Condition checks it, and costs an eighth of a comparison with get_ident().
    mark: Mark
    #: None: the last one only looked, and none has begun since.
    running: bool | None
    #: What is to be done once the one that runs is over.
    later: list[Callable[[], object]]
    carrying_out: bool
    #: The task that decided last to park, until it is woken: before it has parked, trio cannot do that.
    parking: Task | None

    def __init__(self, thread: int = 0) -> None:
        self.thread = thread
        lock = threading.RLock()
        if thread:
            lock.acquire()
        self.mark = cast(Mark, lock)
        self.running = self.carrying_out = False
        self.later = []
        self.parking = None

    def __enter__(self) -> None:
        if self.running:
            self.refuse()
        self.running = True

    def __exit__(self, *exc_info: object) -> None:
        self.running = False
        if self.later:
            self.carry_out()

    def wakes(self, task: Task | None) -> None:
        """Note that a task that has parked is being woken."""
        if self.parking is task:
            self.parking = None

    def refuse(self) -> NoReturn:
        """Refuse to change anything in the middle of a transition.

        Raises:
          RuntimeError: always.
        """
        raise RuntimeError(
            "a guard, predicate, trigger or observer must not change a structsync primitive; "
            "note what is to be done and do it after the call that ran it"
        )

    def carry_out(self) -> None:
        """Do what came in the middle of a transition; each of it is a transition of its own."""
        if self.carrying_out:  # further out in this thread
            return
        self.carrying_out = True
        try:
            for _ in range(GENERATIONS):
                operations, self.later = self.later, []
                for operation in operations:
                    _carry_out(operation)
                if not self.later:
                    break
            else:
                _log.error(
                    "%d releases or withdrawals were dropped: a guard or an observer makes one each "
                    "time that it runs, and each of them makes it run again",
                    len(self.later),
                )
                self.later.clear()
        finally:
            self.carrying_out = False


def _carry_out(operation: Callable[[], object]) -> None:
    try:
        operation()
    except BaseException:  # noqa: BLE001 - the caller has returned long ago
        _log.exception("a release or withdrawal in the middle of another transition failed")


#: By the idents of their threads. A thread may get the ident of one that has ended, which is then the
#: owner of both marks: a primitive that the ended one used would have other transitions than the rest.
_by_ident: WeakValueDictionary[int, Transitions] = WeakValueDictionary()


class _Local(threading.local):
    def __init__(self) -> None:
        thread = threading.get_ident()
        found = _by_ident.get(thread)
        if found is None:
            found = _by_ident[thread] = Transitions(thread)
        self.transitions = found


_local = _Local()

#: Of a primitive that no task has used yet, or that is told apart by the root task of its run.
NOBODYS = Transitions()


def at_once_or_after_this_step(operation: Callable[[], object]) -> None:
    """Do what ends a block: it may come from a finalizer, in the middle of a transition."""
    transitions = of_this_thread()
    if transitions.running:
        transitions.later.append(operation)
    else:
        operation()


def of_this_thread() -> Transitions:
    """Return the transitions of this thread."""
    return _local.transitions
