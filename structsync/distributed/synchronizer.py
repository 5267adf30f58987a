"""Rules over objects of several processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast, final

from structsync import Monitor, Synchronizer

from .membership import Grant

M = TypeVar("M", bound=Monitor)


@final
class SharedSynchronizer:
    """Rules of this process over objects that others host; :meth:`Session.synchronizer` yields it.

    At most one of the buttons of three processes is on::

        async with session.synchronizer("radio") as radio:
            for name in ("button/1", "button/2", "button/3"):
                button = radio.stand_in(name, Button)
                radio.rules.disable(button.on, when=lambda: len(lit) > 0)
                radio.rules.trigger(button.on, lambda name=name: lit.append(name))
                radio.rules.trigger(button.off, lambda: lit.pop())
            await trio.sleep_forever()

    and each of these hosts its button with ``session.host("button/1", Button(), ruled_by="radio")``.

    A call of a ruled entry waits until the object itself would let it in, and then for this process, which reserves
    nothing: calls that no rule concerns overtake it. When it could start, its host is asked to reserve the object. Once all
    objects are reserved that it takes, the triggers run and the calls start, all in one step.

    Fairness: as of :class:`structsync.Synchronizer`, in the order in which calls arrive here. A call that needs no other
    is not kept out by those that no rule concerns; several that are to start together are, if some
    object of theirs is always occupied. Cancellation: a call that is cancelled while it waits has run no trigger. If a
    host dies, its calls are withdrawn, and what was reserved for their partners is let go. If this process dies, calls
    that wait do so for the next one that rules; one that had its object reserved at that moment raises
    :exc:`CallOutcomeUnknown`, because others may have started with it. What the rules knew is lost with them: the
    next process that rules has to ask the objects.

    Attributes:
      name: under which hosts find it.
      grant: under which this session has the name.
      rules: to state what is disabled, what triggers there are, and what starts together.

    Source: Frølund and Agha 1993; Silvestre and others 2010, on calls that overtake the wait for a remote answer.
    """

    name: str
    grant: Grant
    rules: Synchronizer

    def __init__(
        self,
        name: str,
        grant: Grant,
        rules: Synchronizer,
        make: Callable[[str, type[Monitor]], Monitor],
    ) -> None:
        self.name = name
        self.grant = grant
        self.rules = rules
        self._make = make

    def __repr__(self) -> str:
        return f"<shared synchronizer {self.name!r}>"

    def stand_in(self, name: str, interface: Callable[..., M]) -> M:
        """Return what stands for an object here: its entries are those to state rules of.

        The calls of the object wait for this. State its rules before the next checkpoint. Its methods are not
        called here, nor its entries; :meth:`structsync.Monitor.changed` has its rules evaluated again.

        Args:
          name: under which it is hosted.
          interface: its class, or one with the same entries.

        Raises:
          TypeError: if that is not a class of monitors, or has an entry that cannot be called from another process.
          ValueError: if there is a stand-in of that name already.
          trio.ClosedResourceError: outside the block.
        """
        found: Any = self._make(name, cast("type[Monitor]", interface))
        return cast(M, found)
