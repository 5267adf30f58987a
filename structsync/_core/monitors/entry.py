"""The entries of a monitor: which invocations are permitted now."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from types import CoroutineType
from typing import TYPE_CHECKING, Any, final

from structsync._core.queue.request import Request
from structsync._core.queue.user_code import ask

if TYPE_CHECKING:
    from structsync._core.queue.arbiter import ToSettle

    from .synchronizer import Rules


@final
class Invocation:
    """One call of an entry, as a guard sees it.

    Attributes:
      args: its positional arguments, without ``self``.
      kwargs: its keyword arguments.
      task: the task that calls.
      ticket: its position in the queue; a smaller number came earlier.
    """

    __slots__ = ("args", "entry", "kwargs", "task", "ticket")

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    task: Any
    ticket: int

    def __init__(
        self, entry: EntryCore, task: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> None:
        self.entry: EntryCore = entry
        self.task = task
        self.args = args
        self.kwargs = {} if kwargs is None else kwargs
        self.ticket = -1

    def __repr__(self) -> str:
        words = [*map(repr, self.args), *(f"{key}={one!r}" for key, one in self.kwargs.items())]
        return f"<call {self.entry.name}({', '.join(words)}) of {self.task!r}>"


class Guard:
    """A condition on the state, and perhaps on the invocation too."""

    __slots__ = ("function", "reads_request")

    def __init__(self, function: Callable[..., object], *, reads_request: bool = False) -> None:
        self.function: Callable[..., object] = function
        # Whether it looks at the invocation. If not, its answer is that of all who wait for the entry.
        self.reads_request: bool = reads_request

    def holds(self, invocation: Invocation) -> bool:
        """Ask it; what it raises is for the caller of this invocation."""
        answer = ask(self.function, invocation) if self.reads_request else ask(self.function)
        if answer is True or not answer:
            return answer is True
        refuse_coroutine(answer, "guard")
        return True


class Trigger:
    """What a synchronizer does when a call starts."""

    __slots__ = ("function", "reads_request")

    def __init__(self, function: Callable[..., object], *, reads_request: bool = False) -> None:
        self.function: Callable[..., object] = function
        self.reads_request: bool = reads_request  # whether it is given the invocation

    def run(self, invocation: Invocation) -> None:
        """Run it; what it raises is for those who start with this invocation."""
        refuse_coroutine(
            ask(self.function, invocation) if self.reads_request else ask(self.function), "trigger"
        )


def refuse_coroutine(answer: object, what: str) -> None:
    """Raise TypeError if a function that should have been sync returned a coroutine."""
    if isinstance(answer, CoroutineType):
        answer.close()
        raise TypeError(
            f"a {what} must be a sync function, but it returned a coroutine: {answer!r}"
        )


class EntryCore:
    """One entry: its guard, what synchronizers say of it, and why it is out of service."""

    __slots__ = ("cause", "guard", "name", "rules")

    def __init__(self, name: str, guard: Guard | None = None) -> None:
        self.name: str = name
        self.guard: Guard | None = guard
        self.cause: Hashable = None  # why it was taken out of its monitor; None while it is in
        self.rules: Rules | None = None  # None while no synchronizer concerns it

    @property
    def reads_request(self) -> bool:
        """Whether of two who wait here the older may be refused and the younger permitted."""
        if self.guard is not None and self.guard.reads_request:
            return True
        return self.rules is not None and self.rules.reads_request

    def permits(self, invocation: Invocation) -> bool:
        """Return whether the state permits this invocation. Asked while the monitor is free only."""
        if self.guard is not None and not self.guard.holds(invocation):
            return False
        return self.rules is None or self.rules.permit(invocation)


class Call(Request[Invocation]):
    """An invocation in the queue of a monitor."""

    __slots__ = ("left",)

    left: list[
        ToSettle
    ]  # what is to be settled elsewhere, once it has ended by the rules of its entry

    @property
    def group(self) -> Rules | None:  # type: ignore[override]  # those that hold now: they come and go while it waits
        return self.claim.entry.rules
