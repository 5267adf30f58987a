"""The state of a running test as a few bytes: equal for two states only if all that follows is.

A state is everything that a task could still look at: the frames of its coroutine with the values
on their stacks, and every object that can be reached from there. It is walked from the tasks on and
written down as a list of marks and plain values from which the graph of objects could be rebuilt;
an object that was met before is written as its number. So addresses do not matter, and neither do
names, where ``symmetry`` is asked for: tasks are then numbered as they are met. Which of them is older is
left out, too, until it has decided something: then :exc:`AgeDecides` is raised, and each state tells it.

An object whose inside cannot be seen raises :exc:`Opaque`: states are never merged on a guess.
"""

from __future__ import annotations

import marshal
import re
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from types import CoroutineType
from typing import TYPE_CHECKING, Any

from trio.lowlevel import Task

from structsync.testing._execution.addresses import address_of
from structsync.testing._execution.current import age_decides, ticket_was_read
from structsync.testing._execution.names import MAIN

from . import afterlife, context_values, expanders, set_order
from .expanders import Opaque as Opaque
from .standing import Standing

if TYPE_CHECKING:
    from structsync.testing._execution.execution import Execution

# Marks are bytes, and nothing else is, so they cannot be taken for values.
_AGAIN, _TASK, _SET, _END, _GHOST = b"again", b"task", b"set", b"end", b"ghost"
_NEW, _TEXT, _AGES = b"new", b"text", b"ages"

#: An address in a text, as in the message of an error that names a task.
_ADDRESS = re.compile(r" at 0x([0-9a-fA-F]+)")

#: No object is below this, so a smaller number is one that the program has written. Large objects may stand
#: far below the others, right behind the interpreter.
_LEAST_ADDRESS = min(1 << 32, id((None,) * 1000) >> 4)

_expanders = expanders.EXPANDERS

#: A plain value is written as it is. bytes are not in it, because marks are bytes.
_PLAIN = frozenset({int, str, float, bool, type(None), complex})


class AgeDecides(Exception):
    """States were told that leave out which of several tasks is the oldest, and that has decided something."""


class Fingerprinter:
    """Writes down the states of one test.

    Args:
      heeds_age: do not go on without the ages of tasks where they decide.
    """

    def __init__(
        self,
        *,
        symmetry: bool,
        exact: bool,
        standing: Standing | None = None,
        heeds_age: bool = True,
    ) -> None:
        self._symmetry = symmetry
        self._exact = exact
        self._standing = standing or Standing(())
        self._heeds_age = heeds_age and symmetry
        self._tells_age = self._heeds_age and age_decides()

    def __call__(self, execution: Execution) -> bytes:
        """Return the fingerprint of the state between two steps.

        Raises:
          Opaque: a task can reach an object whose inside cannot be seen; or the program has read
              the ticket of a request, which is not written down because tickets only grow.
          Unsteady: what was to stand has changed.
          AgeDecides: and it is left out.
        """
        self.refuse_what_is_left_out()
        self._standing.check()
        walk = _Walk(execution, self._symmetry, self._standing)
        try:
            state = walk.state()
            if self._tells_age:
                state += walk.ages()
            data = marshal.dumps(state, 2)
        except Opaque:
            raise
        except Exception as error:
            # An object of the user that does not let itself be looked at, like a lazy proxy.
            raise Opaque(f"an object that raises {type(error).__name__}: {error}") from error
        return data if self._exact else blake2b(data, digest_size=16).digest()

    def refuse_what_is_left_out(self) -> None:
        """Raise if states may have been taken for equal that differ in what has decided something.

        Raises:
          Opaque: a ticket.
          AgeDecides: the ages of tasks.
        """
        if ticket_was_read():
            raise Opaque("the ticket of a request, which the program has read")
        if self._heeds_age and not self._tells_age and age_decides():
            raise AgeDecides


class _Walk:
    """One walk through everything that the tasks can reach."""

    def __init__(self, execution: Execution, symmetry: bool, standing: Standing) -> None:
        self.execution = execution
        self.symmetry = symmetry
        self.out: list[Any] = []
        self.numbers = standing.numbers.copy()
        self.always = standing.always
        self.kept: list[Any] = []
        """What was made for the walk: an address must not be used twice while it lasts."""
        # Of tasks, by their addresses: they are kept, and to hash one takes longer.
        self.names = {address_of(task): name for task, name in execution.names.of.items()}
        self.alive = {address_of(task) for task in execution.names.of if execution.is_alive(task)}
        self.met: dict[int, int] = {}
        self.queue: list[Task] = []
        self.sets: list[Any] = []
        self.addresses: dict[str, int] = {}
        """Those that stand in texts, in the order in which they were met."""
        self.ghosts = execution.ghosts()

    def state(self) -> list[Any]:
        """Return all that matters of the state."""
        context_values.start()
        self.live = live = [
            task for task in self.execution.names.of if address_of(task) in self.alive
        ]
        self.out += (self.execution.clock.now, len(live))
        if not self.symmetry:
            for task in live:
                self.content(task)
            self.walk(self.always)
        else:
            self.meet(live[0])
            self._drain_queue()
            self.walk(self.always)
            self._drain_queue()
            for task in self._ordered([one for one in live if address_of(one) not in self.met]):
                if address_of(task) not in self.met:
                    self.meet(task)
                    self._drain_queue()
        self.walk([self.execution.handle_state(), self.execution.run_variables()])
        self._drain_queue()
        self._write_sets()
        self._write_what_is_behind()
        return self.out

    def ages(self) -> list[Any]:
        """Return the tasks, the oldest first, by the numbers that they have now."""
        return [_AGES, *[self.meet(task) for task in self.live]]

    def _write_what_is_behind(self) -> None:
        """Write what no object that was met refers to, although code can come there."""
        base = self.execution.context
        parts = context_values.of_decimal(base)
        met = 0
        while parts or met < context_values.met():
            parts += context_values.found_there(base, met)
            met = context_values.met()
            self.walk(parts)
            self._drain_queue()
            self._write_sets()
            parts = []
        if behind := afterlife.finalizers(self.numbers):
            self.walk(behind)
            self._drain_queue()
            self._write_sets()

    def _drain_queue(self) -> None:
        while self.queue:
            task = self.queue.pop(0)
            if address_of(task) in self.alive:
                self.content(task)

    def meet(self, task: Task) -> int:
        """Return the number of a task, which it gets the first time."""
        if (number := self.met.get(address_of(task))) is None:
            number = self.met[address_of(task)] = len(self.met)
            self.queue.append(task)
        return number

    def content(self, task: Task) -> None:
        """Write down what a task is about to do."""
        execution = self.execution
        runnable = task in execution.pool
        name, extra = self.names[address_of(task)], execution.extra_of(task)
        label = self.meet(task) if self.symmetry else name
        when = task in execution.batch, task in execution.roused
        self.out += (_TASK, label, task.name, runnable, *when, len(extra))
        # The task that has the test function is in no nursery of the program; what can be cancelled of it is.
        around = execution.whole if name == MAIN else task.parent_nursery
        parts = [execution.coroutine_of(task), *extra, task.custom_sleep_data, around]
        if runnable:
            parts.append(execution.pending_of(task))
        if guard := execution.guard_of(task):
            parts.append(guard.cancel_called)
        parts += expanders.changed_context(task.context, execution.context)
        self.walk(parts)
        self.out.append(_END)

    def _ordered(self, tasks: list[Task]) -> Iterable[Task]:
        """Return tasks that nothing refers to, sorted by what they are about to do.

        Most differ in where they stand; only where that is equal is more looked at.
        """
        if len(tasks) < 2:
            return tasks
        places: dict[tuple[int, ...], list[Task]] = {}
        for task in tasks:
            places.setdefault(self._place_in_code(task), []).append(task)
        return [
            task
            for _, alike in sorted(places.items())
            for task in (sorted(alike, key=self._signature) if len(alike) > 1 else alike)
        ]

    def _place_in_code(self, task: Task) -> tuple[int, ...]:
        """Return where a task is: those in few functions come first, as they lead to their parents."""
        place, inner = [int(task in self.execution.pool)], self.execution.coroutine_of(task)
        while type(inner) is CoroutineType and (frame := inner.cr_frame) is not None:
            place += (expanders.number_of(frame.f_code), frame.f_lasti)
            inner = inner.cr_await
        return len(place), *place

    def _signature(self, task: Task) -> bytes:
        """Return what a task is about to do, as far as it can be said without numbers."""
        return self._aside(lambda: self.content(task))

    def _aside(self, write: Callable[[], None]) -> bytes:
        """Return what would be written, without a trace."""
        before = self.out, self.numbers, self.met, self.queue, self.sets, self.addresses
        self.out, self.numbers, self.met = [], dict(self.numbers), dict(self.met)
        self.queue, self.sets, self.addresses = [], [], dict(self.addresses)
        try:
            write()
            return marshal.dumps(self.out, 2)
        finally:
            self.out, self.numbers, self.met, self.queue, self.sets, self.addresses = before

    def walk(self, parts: Sequence[Any]) -> None:
        """Write down objects and everything that can be reached from them.

        Of each object are written its kind and its children: a plain value as it is, an object that
        was met before as its number. One that is new has the next number, and its turn comes.
        """
        out, numbers, ghosts = self.out, self.numbers, self.ghosts
        write, keep, known = out.append, self.kept.append, numbers.get
        children, new = parts, list[Any]()
        while True:
            keep(children)
            for child in children:
                kind = type(child)
                if kind in _PLAIN:
                    if kind is str and " at 0x" in child:
                        self._write_text(child)
                    else:
                        write(child)
                elif kind is Task:
                    write(_TASK)
                    self._refer(child)
                elif (number := known(address := address_of(child))) is not None:
                    out += (_AGAIN, number)
                elif address in ghosts:
                    write(_GHOST)
                else:
                    numbers[address] = len(numbers)
                    write(_NEW)
                    new.append(child)
            if not new:
                return
            thing = new.pop()
            kind = type(thing)
            expand = _expanders.get(kind) or expanders.expander(kind)
            if expand is expanders.SET:
                self._meet_set(thing)
                children = ()
            else:
                head, children = expand(thing)
                out += (head, len(children))

    def _write_text(self, text: str) -> None:
        """Write a text with addresses in it: of which tasks they are, or which of them are equal.

        They are others in each execution. A task is kept until the execution is over, so its address
        is its own; that of another object may have been used before.
        """
        tasks = {id(task): task for task in self.execution.names.of}
        *parts, end = _ADDRESS.split(text)
        for before, address in zip(parts[::2], parts[1::2], strict=True):
            self.out += (_TEXT, before)
            if task := tasks.get(int(address, 16)):
                self.out.append(_TASK)
                self._refer(task)
            elif int(address, 16) < _LEAST_ADDRESS:
                self.out.append(address)
            else:
                self.out.append(self.addresses.setdefault(address, len(self.addresses)))
        self.out.append(end)

    def _refer(self, task: Task) -> None:
        address = address_of(task)
        if (
            name := self.names.get(address)
        ) is None:  # of trio itself: there is one of each, and it is always the same
            self.out.append(task.name)
            return
        label = self.meet(task) if self.symmetry else name
        self.out += (label, task.name, address in self.alive)

    def _meet_set(self, thing: Any) -> None:
        """Write a set of plain values at once; others last, when their items have numbers."""
        self.out += [_SET, type(thing).__qualname__, len(thing)]
        if all(type(one) in _PLAIN for one in thing):
            self.out += set_order.of_values(thing)
        else:
            self.out.append(_END)
            self.sets.append(thing)

    def _write_sets(self) -> None:
        for thing in self.sets:  # walking an item may add another set
            self.out.append(_SET)
            items = list(thing)
            self.kept.append(items)
            if set_order.has_an_order(items):
                self.walk(items)
            else:
                alike = sorted(items, key=self._place)
                self.walk(alike)
                self.out += set_order.of_equal_hashes(items, alike)
            self._drain_queue()
        self.sets.clear()

    def _place(self, item: Any) -> tuple[int, int, bytes]:
        if isinstance(item, Task):
            return 0, self.meet(item), b""
        if type(item) in _PLAIN:
            return 1, 0, f"{type(item).__name__} {item!r}".encode()
        number = self.numbers.get(address_of(item))
        if number is not None:
            return 2, number, b""
        return 3, 0, self._aside(lambda: self.walk([item]))
