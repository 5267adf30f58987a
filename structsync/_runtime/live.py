"""A core in a trio program: what parking, events and ownership know of a primitive."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, NoReturn

import trio

from structsync._core.queue.arbiter import Arbiter, releaser_of, taker_of
from structsync._core.queue.request import ClaimT, Request, Status

from .arguments import check_name
from .causes import Closed
from .transitions import NOBODYS, Transitions

# The observers of every primitive. A primitive with observers of its own has a list of its own.
everywhere: list[Callable[..., object]] = []
#: To one of these that is alone, kind, primitive and task are passed as they are: the event that they would
#: make takes longer than all that the explorer does with it.
without_event: dict[Callable[..., object], Callable[..., object]] = {}


def name_of_claimant(who: object) -> str:
    """Return how an event calls a task or a borrower, in plain text."""
    return who.name if isinstance(who, trio.lowlevel.Task) else repr(who)


@dataclass(frozen=True, slots=True)
class PrimitiveStatistics:
    """The state of a primitive, for debugging.

    Attributes:
      tasks_waiting: how many requests are pending.
    """

    tasks_waiting: int


class _ReadOnly(property):
    """A property that says, where it is assigned, whose it is and how to name one of one's own."""

    def __set__(self, live: object, value: object) -> NoReturn:
        raise _reserved(type(live), self.fget.__name__)  # type: ignore[union-attr]


def _reserved(cls: type, name: str) -> AttributeError:
    return AttributeError(
        f"{cls.__name__}.{name} cannot be assigned: {name} is the state of the primitive itself; "
        f"give your attribute another name, own_{name} for example"
    )


class Live(Generic[ClaimT]):
    """What observers see of every primitive and pool: its state, its name, its statistics.

    The type of ``PrimitiveEvent.primitive``, for annotations. :class:`structsync.Primitive` is more.
    """

    __slots__ = (
        "__weakref__",
        "_core",
        "_name",
        "_observers",
        "_release_claim",
        "_root",
        "_skips",
        "_skips_left",
        "_take_claim",
        "_touched_by",
        "_transitions",
    )
    _take_claim: Callable[[ClaimT], object]
    _release_claim: Callable[[ClaimT], list[Request[ClaimT]] | None]
    _owned: ClassVar[bool] = False  # whether it breaks when a task ends that holds it (C5)

    def __init__(self, core: Arbiter[ClaimT], skips: int, name: str | None = None) -> None:
        self._core = core
        decide_by(self, core)
        # A subclass may have set it before, as a dataclass with a field of that name does.
        self._name: str | None = getattr(self, "_name", None) if name is None else check_name(name)
        self._observers: list[Callable[..., object]] = everywhere
        # The run that uses it while it is not quiescent (C6): that of its transitions' thread; or, where
        # a Request may outlive its run and the thread start another one, that of the root task.
        self._transitions: Transitions = NOBODYS
        self._root: trio.lowlevel.Task | None = None
        # How many uncontended acquires may go without a schedule point, in a row and from now on.
        self._skips = self._skips_left = skips
        # The claims of live tasks that hold it, queue for it, or once did; None if it is not owned.
        self._touched_by: set[ClaimT] | frozenset[ClaimT] | None = (
            frozenset() if self._owned else None
        )

    @property
    def name(self) -> str | None:
        """Its name in ``repr``, errors, leaks, events and reports; may be assigned."""
        return self._name

    @name.setter
    def name(self, name: str | None) -> None:
        self._name = check_name(name)

    @property
    def closed(self) -> bool:
        """Whether it is closed, so that acquires get :exc:`trio.ClosedResourceError`."""
        return isinstance(self._core.cause, Closed)

    @property
    def broken(self) -> bool:
        """Whether it is broken, so that acquires get :exc:`trio.BrokenResourceError`."""
        return self._core.cause is not None and not isinstance(self._core.cause, Closed)

    def statistics(self) -> PrimitiveStatistics:
        """Return the state of this primitive, for debugging."""
        return PrimitiveStatistics(tasks_waiting=len(self._core.queue))

    def _describe(self) -> str:
        """Return the state as shown in ``repr``; by default the fields of the core."""
        core = self._core
        return ", ".join(f"{name}={getattr(core, name, 'unset')!r}" for name in core.state_fields)

    def _describe_plainly(self) -> str:
        """Return the same without a value or a repr of the program's own, and without running its code."""
        return "" if self._core.user_written else self._describe()

    def _details_of(self, claim: ClaimT) -> dict[str, object]:
        """Return the facts of a claim for events, in plain values; by default the claim itself."""
        return {"claim": claim}

    def __repr__(self) -> str:
        core = self._core
        words = [self._describe(), f"{core.count_waiting()} waiting"]
        if core.policy.name != "fifo":
            words.append(f"policy={core.policy.name!r}")
        if core.cause is not None:
            words.append("closed" if isinstance(core.cause, Closed) else "broken")
        details = ", ".join(word for word in words if word)
        return f"<{self._title()} at {id(self):#x}: {details}>"

    def _title(self) -> str:
        """Return its class, and its name if it has one."""
        name = "" if self._name is None else f" {self._name!r}"
        return type(self).__name__ + name

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(
            f"a {type(self).__name__} cannot be copied or pickled: tasks wait in this one; "
            "share the object itself"
        )

    def _status_of(self, request: Request[ClaimT]) -> Status:
        """Return how a request stands now: time alone may have granted it."""
        return request.status

    def _units(self, claim: ClaimT) -> int:
        """Return how many units of :meth:`_balance` a claim takes."""
        return 1

    def _balance(self) -> int | None:
        """Return a number that falls by one for each unit lent out.

        Scopes use it to find leaks. None: they count what was granted and released, which is right for a
        primitive whose every claim has to be released.
        """
        return None

    def _parts_held(self) -> Mapping[tuple[Hashable, Hashable], Live[Any]]:
        """Return the primitives inside of this one that are held, by key and owner: their events are not its own."""
        return {}


def decide_by(live: Live[ClaimT], core: Arbiter[ClaimT]) -> None:
    """Let the core make the decisions of a primitive from now on."""
    live._core = core
    live._take_claim, live._release_claim = taker_of(core), releaser_of(core)


#: What only a primitive itself decides. Its properties are made here, because a decorator that is no
#: ``property`` to the type checkers would let them accept an assignment.
READ_ONLY = ("closed", "broken")
for _name in READ_ONLY:
    setattr(Live, _name, _ReadOnly(vars(Live)[_name].fget))
