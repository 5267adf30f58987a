"""What every buffer promises to tasks that put and to tasks that get: two queues, and items in their order.

Tasks that put wait for room, tasks that get wait for items, each side in a queue of its own. Each of the two serves
first come, first served (`abstract_queue.py`); one step may grant on both sides.

The state is the buffer that ships, and a naive model of its items, which a specification adds. Of the last action it
also has what was *handed* to those that get, and what was *due* by the model: the items that were to be handed out, in
this order. A specification says what each task puts or wants, which actions there are, and the bounds; here a task that
waits may withdraw, and the buffer may be completed: no more will be put.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, ClassVar

from structsync._core.primitives.buffer import BufferCore
from structsync._core.primitives.sides import Get
from structsync.checking import action, leads_to, refines, start, step

from .abstract_queue import NAMES, AbstractQueue
from .common import QueueSpec


def waiters_are_served(names: tuple[str, ...]) -> Callable[[Any, str], tuple[bool, bool]]:
    """Return the temporal property of the tasks with these names."""

    @leads_to(who=names)
    def every_waiter_is_served(spec: TwoSidesSpec, who: str) -> tuple[bool, bool]:
        """If others put, get, end windows and use up what they have in hand, no task waits forever."""
        waits = who in spec.in_queue()
        return waits, not waits

    return every_waiter_is_served


class TwoSidesSpec(QueueSpec):
    """A buffer, what the last action handed out, and what it was to hand out."""

    abstract = True
    forgets: ClassVar[tuple[str, ...]] = ("handed", "due")

    puts: Mapping[str, tuple[str, ...]]  # the tasks that put, and which items
    gets: Mapping[str, Get]  # the tasks that get, and what they want
    core: BufferCore
    handed: tuple[str, ...] = start(tuple)  # what the last action handed out, in this order
    due: tuple[str, ...] = start(tuple)  # what it was to hand out, by the model

    # ==== Words that actions and properties use ====

    def note(self, ended: Any) -> None:
        self.handed = self.due = ()
        super().note(ended)

    def waiting_to(self, side: Collection[str]) -> list[str]:
        """Return which tasks wait on one side, in the order of their arrival."""
        return [who for who in self.in_queue() if who in side]

    def as_a_queue(self, side: Collection[str]) -> Mapping[str, object]:
        """Return the state of the abstract queue that one side stands for; it has names of its own."""
        name = dict(zip(side, NAMES, strict=False))
        return {
            "waiting": tuple([name[who] for who in self.waiting_to(side)]),
            "granted": tuple([name[who] for who in self.granted() if who in side]),
        }

    # ==== Actions ====

    @action(who=lambda spec: spec.in_queue())
    def withdraw(self, who: str) -> None:
        self.note(self.withdrawn(who))

    @action(when=lambda spec: spec.core.completed is None)
    def complete(self) -> None:
        self.note(self.core.complete("no more", "drained"))

    # ==== Step properties ====

    @refines(AbstractQueue)
    def putters_are_a_queue(self) -> Mapping[str, object]:
        """Among tasks that put, each step is one of the abstract queue: first come, first served (I2)."""
        return self.as_a_queue(self.puts)

    @refines(AbstractQueue)
    def getters_are_a_queue(self) -> Mapping[str, object]:
        """Among tasks that get, each step is one of the abstract queue: first come, first served (I2)."""
        return self.as_a_queue(self.gets)

    @step
    def items_come_out_in_order(self, before: Any) -> bool:
        """The items handed out are those that were next by the model, in its order, each once."""
        return self.handed == self.due
