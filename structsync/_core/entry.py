"""The entries of a monitor: which invocations are permitted now."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from types import CoroutineType
from typing import Any, final

from .gate import ask


@final
class Invocation:
    """One call of an entry, as a guard sees it.

    Attributes:
      args: its positional arguments, without ``self``.
      kwargs: its keyword arguments.
      task: the task that calls.
      ticket: its place in line; a smaller number came earlier.
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

    __slots__ = ("function", "particular")

    def __init__(self, function: Callable[..., object], *, particular: bool = False) -> None:
        self.function: Callable[..., object] = function
        # Whether it looks at the invocation. If not, its answer is that of all who wait for the entry.
        self.particular: bool = particular

    def holds(self, invocation: Invocation) -> bool:
        """Ask it; what it raises is for the caller of this invocation."""
        answer = ask(self.function, invocation) if self.particular else ask(self.function)
        if answer is True or not answer:
            return answer is True
        if isinstance(answer, CoroutineType):
            answer.close()
            raise TypeError(
                f"a guard must be a sync function, but it returned a coroutine: {answer!r}"
            )
        return True


class EntryCore:
    """One entry: its guard, and why it is out of service."""

    __slots__ = ("cause", "guard", "name")

    def __init__(self, name: str, guard: Guard | None = None) -> None:
        self.name: str = name
        self.guard: Guard | None = guard
        self.cause: Hashable = None  # why it was taken out of its monitor; None while it is in

    @property
    def particular(self) -> bool:
        """Whether of two who wait here the older may be refused and the younger permitted."""
        return self.guard is not None and self.guard.particular

    def permits(self, invocation: Invocation) -> bool:
        """Return whether the state permits this invocation. Asked while the monitor is free only."""
        return self.guard is None or self.guard.holds(invocation)
