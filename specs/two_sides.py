"""What every buffer promises to those who put and to those who get: two queues, and items in their order.

Those who put wait for room and those who get for items, in a queue each. Each of the two is a queue that serves first
come, first served (`abstract_queue.py`); one step may grant on both sides.

A specification adds what each puts or wants, and a naive model of the items, which says what is *due*: what a get
is to be handed, in this order.
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
    """Return the temporal property of those who put and get, for their names."""

    @leads_to(who=names)
    def who_waits_is_served(spec: TwoSidesSpec, who: str) -> tuple[bool, bool]:
        """If others put, get, end windows and use up what they have in hand, no task waits forever."""
        waits = who in spec.in_queue()
        return waits, not waits

    return who_waits_is_served


class TwoSidesSpec(QueueSpec):
    """A buffer, and what the last action handed out."""

    abstract = True
    forgets: ClassVar[tuple[str, ...]] = ("handed", "due")

    puts: Mapping[str, tuple[str, ...]]  # the items that each puts, who puts
    gets: Mapping[str, Get]  # what each wants, who gets
    core: BufferCore
    handed: tuple[str, ...] = start(tuple)  # what the last action handed out, in this order
    due: tuple[str, ...] = start(tuple)  # what it was to hand out, by the model

    # ==== Words ====

    def note(self, ended: Any) -> None:
        self.handed = self.due = ()
        super().note(ended)

    def waiting_to(self, side: Collection[str]) -> list[str]:
        """Return who waits on one side, in the order of arrival."""
        return [who for who in self.in_queue() if who in side]

    def as_a_queue(self, side: Collection[str]) -> Mapping[str, object]:
        """Return one side as the abstract queue has it, which has names of its own."""
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
    def those_who_put_are_a_queue(self) -> Mapping[str, object]:
        """Of those who put each step is one of a queue: first come, first served (I2)."""
        return self.as_a_queue(self.puts)

    @refines(AbstractQueue)
    def those_who_get_are_a_queue(self) -> Mapping[str, object]:
        """Of those who get each step is one of a queue: first come, first served (I2)."""
        return self.as_a_queue(self.gets)

    @step
    def items_come_out_in_order(self, before: Any) -> bool:
        """Each get is handed what was next by the model, whole and once."""
        return self.handed == self.due
