"""The entries of a monitor: which invocations are permitted now."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, final

from structsync._core.queue.request import Group, Request, ToSettle
from structsync._core.queue.user_code import UserCodeFailed, refuse_coroutine


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
        # Whether it looks at the invocation. If not, its value is that of all that wait for the entry.
        self.reads_request: bool = reads_request

    def holds(self, invocation: Invocation) -> bool:
        """Evaluate it.

        Raises:
          UserCodeFailed: if it raises; that is for the caller of this invocation.
        """
        try:
            answer = self.function(invocation) if self.reads_request else self.function()
            if answer is True or not answer:
                return answer is True
            refuse_coroutine(answer, "guard")
        except BaseException as error:  # noqa: BLE001 - raised again as what it is
            raise UserCodeFailed(error) from None
        return True


class Trigger:
    """What a synchronizer does when a call starts."""

    __slots__ = ("function", "reads_request")

    def __init__(self, function: Callable[..., object], *, reads_request: bool = False) -> None:
        self.function: Callable[..., object] = function
        self.reads_request: bool = reads_request  # whether it is given the invocation

    def run(self, invocation: Invocation) -> None:
        """Run it.

        Raises:
          UserCodeFailed: if it raises; that is for the caller of this invocation.
        """
        try:
            done = self.function(invocation) if self.reads_request else self.function()
            refuse_coroutine(done, "trigger")
        except BaseException as error:  # noqa: BLE001 - raised again as what it is
            raise UserCodeFailed(error) from None


class EntryRules(Group):
    """What synchronizers state of one entry, as the entry sees it."""

    __slots__ = ()

    @property
    @abstractmethod
    def reads_request(self) -> bool:
        """Whether a call is disabled for what it is, and not by the state alone."""

    @abstractmethod
    def permit(self, invocation: Invocation) -> bool:
        """Return whether no synchronizer disables the invocation now."""

    @abstractmethod
    def refuse(self) -> None:
        """Raise EndedForGood if one of those that would have to start too never will."""


class EntryCore:
    """One entry: its guard, what synchronizers state of it, and why it was closed."""

    __slots__ = ("cause", "guard", "name", "rules")

    def __init__(self, name: str, guard: Guard | None = None) -> None:
        self.name: str = name
        self.guard: Guard | None = guard
        self.cause: Hashable = None  # why it was taken out of its monitor; None while it is in
        self.rules: EntryRules | None = None  # None while no synchronizer concerns it

    @property
    def reads_request(self) -> bool:
        """Whether of two that wait here the older may be refused and the younger permitted."""
        if self.guard is not None and self.guard.reads_request:
            return True
        return self.rules is not None and self.rules.reads_request

    def permits(self, invocation: Invocation) -> bool:
        """Return whether the state permits this invocation; evaluated only while the monitor is free."""
        if self.guard is not None and not self.guard.holds(invocation):
            return False
        return self.rules is None or self.rules.permit(invocation)


class Call(Request[Invocation]):
    """An invocation in the queue of a monitor."""

    __slots__ = ("partners", "to_settle")

    # Set by the rules of its entry: the calls that start with it, itself first, once they consented;
    # and what is to be settled in other queues, once it has ended.
    partners: Sequence[Call]
    to_settle: Sequence[ToSettle]

    @property
    def group(self) -> EntryRules | None:  # type: ignore[override]  # those that hold now: they come and go while it waits
        return self.claim.entry.rules
