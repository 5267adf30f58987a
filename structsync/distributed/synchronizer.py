"""Rules over objects of several processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast, final

from structsync import Monitor, Synchronizer

from .membership import Grant

M = TypeVar("M", bound=Monitor)


@final
class SharedSynchronizer:
    """Rules of this process over objects that other sessions host; :meth:`Session.synchronizer` yields it.

    At most one of the buttons of three processes is on::

        async with session.synchronizer("radio") as radio:
            for name in ("button/1", "button/2", "button/3"):
                button = radio.stand_in(name, Button)
                radio.rules.disable(button.on, when=lambda: len(lit) > 0)
                radio.rules.trigger(button.on, lambda name=name: lit.append(name))
                radio.rules.trigger(button.off, lambda: lit.pop())
            await trio.sleep_forever()

    Each of the three processes hosts its button with ``session.host("button/1", Button(),
    ruled_by="radio")``.

    A call of a ruled entry waits until the object itself permits it, and then for this process. Meanwhile
    nothing is reserved: calls without rules overtake it. When the rules permit it, its host reserves the
    object. Once all the objects that it needs are reserved, the triggers run and the calls start, all in
    one step.

    Fairness: as in :class:`structsync.Synchronizer`, in the order in which calls arrive here. Calls without
    rules cannot starve a call that needs no partner; they can starve calls that start together, if an
    object of theirs is never free. Cancellation: a call that is cancelled while it waits has run no
    trigger. If a host dies, its calls are withdrawn, and the objects reserved for their partners are
    released. If this process dies, waiting calls wait for the next ruling process; a call whose object was
    reserved at that moment raises :exc:`CallOutcomeUnknown`, because its partners may have started. The
    facts that the rules used are lost: the next ruling process has to query the objects.

    Attributes:
      name: the name by which hosts find it.
      grant: the grant of the name to this session.
      rules: states what is disabled, which triggers run, and what starts together, of stand-ins and of
          monitors of this process.

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
        """Return a stand-in for a hosted object, over whose entries rules can be stated.

        Calls of the object wait until there is one. State its rules before the next checkpoint. Do not call
        its methods or entries here; :meth:`structsync.Monitor.changed` evaluates its rules again.

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
