"""Methods marked as entries, and what a class of monitors with such methods has to keep to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Generic,
    ParamSpec,
    Protocol,
    TypeVar,
    cast,
    final,
    overload,
)

from structsync._core.monitors.entry import Guard, Invocation
from structsync._core.queue.annotations import annotations_of
from structsync._runtime.arguments import check_sync
from structsync._runtime.live import READ_ONLY
from structsync._runtime.primitive import Primitive

from .entries import Entry, check_body, name_of
from .guard_names import check_names
from .guards import ByArguments, GuardFunction, read_guard

if TYPE_CHECKING:
    from typing import Self


P = ParamSpec("P")
T = TypeVar("T")
R = TypeVar("R")
M = TypeVar("M", bound=Primitive[Invocation])  # a Monitor


@final
class EntryMethod(Generic[M, P, T, R]):
    """A method marked with :func:`entry`; on an object of the class it is an :class:`Entry`.

    On the class it is this object, and the method itself is ``__wrapped__``, with its types; so an
    overriding entry runs what it overrides, without entering a second time, as
    ``Base.method.__wrapped__(self)``, awaited if that one is async.
    """

    __slots__ = ("__isabstractmethod__", "__wrapped__", "_owner", "_when")
    __isabstractmethod__: bool  # as of a property: asked where an object of the class is made

    def __init__(self, method: Callable[Concatenate[M, P], R], when: GuardFunction | None) -> None:
        check_body(method)
        if not hasattr(method, "__get__"):
            raise TypeError(
                f"an entry must be a function, because {method!r} would not get self; wrap it in one"
            )
        self.__wrapped__: Callable[Concatenate[M, P], R] = method
        self.__isabstractmethod__ = getattr(method, "__isabstractmethod__", False)
        self._when = None if when is None else read_guard(when, of=method, first="self")
        self._owner: type | None = None  # once the class is made

    def __set_name__(self, owner: type, name: str) -> None:
        self._owner = owner

    # The first, because mypy reports a typo in a lambda against the first only; a function whose
    # parameters have defaults comes here, too, and keeps them.
    @overload
    def when(self, guard: Callable[[M], bool], /) -> Callable[..., bool]: ...
    @overload  # which is reached all the same: mypy compares them as if P were always empty
    def when(  # type: ignore[overload-cannot-match]
        self, guard: Callable[Concatenate[M, P], bool], /
    ) -> Callable[Concatenate[M, P], bool]: ...
    @overload
    def when(
        self, guard: Callable[[M, Invocation], bool], /
    ) -> Callable[[M, Invocation], bool]: ...
    def when(self, guard: GuardFunction, /) -> GuardFunction:
        """Set the guard of the entry, below it in the class: the form whose types are checked::

            @entry
            def withdraw(self, amount: int) -> None: ...

            @withdraw.when
            def withdraw_when(self, amount: int) -> bool:
                return amount <= self.balance

        Or with a lambda, whose ``self`` and parameters mypy and pyright know here::

            withdraw.when(lambda self: self.balance > 0)

        Args:
          guard: ``(self)``, ``(self, request)`` with an :class:`Invocation`, or ``self`` and the
              parameters of the entry.

        Returns:
          The function, as it was.

        Raises:
          TypeError: as :func:`entry`; or if the entry has a guard, its class is made already, or the
              guard has the name of the entry, whose place in the class it would take.
        """
        name, where = name_of(guard), getattr(guard, "__qualname__", None)
        if name.isidentifier() and where == getattr(self.__wrapped__, "__qualname__", guard):
            raise TypeError(
                f"the guard of {name} must have another name, because it would take the entry's place in "
                f"the class; call it {name}_when, for example"
            )
        if self._when is not None:
            raise TypeError(f"{name_of(self.__wrapped__)} has a guard already; write them as one")
        if self._owner is not None:
            raise TypeError(
                f"{self._owner.__name__}.{name_of(self.__wrapped__)} is an entry of a class that is "
                "made already; override the entry, or constrain() it in an object"
            )
        self._when = read_guard(guard, of=self.__wrapped__, first="self")
        return guard

    @overload
    def __get__(self, monitor: None, owner: type) -> Self: ...
    @overload
    def __get__(self, monitor: M, owner: type | None = None) -> Entry[P, T]: ...
    def __get__(self, monitor: M | None, owner: type | None = None) -> Self | Entry[P, T]:
        if monitor is None:
            return self
        entries: dict[object, Entry[..., Any]] | None = getattr(monitor, "_entries", None)
        if entries is None:
            raise RuntimeError(
                f"{name_of(self.__wrapped__)} is an entry, but {type(monitor).__name__} is not a Monitor, "
                "or its __init__ has not called super().__init__() yet"
            )
        found = entries.get(self)
        if found is None:
            method: Any = self.__wrapped__
            guard = self._when and Guard(
                partial(self._when.function, monitor), reads_request=self._when.reads_request
            )
            found = entries[self] = Entry(monitor, method.__get__(monitor), guard)
        return cast("Entry[P, T]", found)


class EntryDecorator(Protocol):
    """What ``entry(when=...)`` returns: it marks a method."""

    @overload
    def __call__(
        self, method: Callable[Concatenate[M, P], Coroutine[Any, Any, T]], /
    ) -> EntryMethod[M, P, T, Coroutine[Any, Any, T]]: ...
    @overload
    def __call__(
        self, method: Callable[Concatenate[M, P], Awaitable[T]], /
    ) -> EntryMethod[M, P, T, Awaitable[T]]: ...
    @overload
    def __call__(self, method: Callable[Concatenate[M, P], T], /) -> EntryMethod[M, P, T, T]: ...


@overload
def entry(
    method: Callable[Concatenate[M, P], Coroutine[Any, Any, T]], /
) -> EntryMethod[M, P, T, Coroutine[Any, Any, T]]: ...
@overload
def entry(
    method: Callable[Concatenate[M, P], Awaitable[T]], /
) -> EntryMethod[M, P, T, Awaitable[T]]: ...
@overload
def entry(method: Callable[Concatenate[M, P], T], /) -> EntryMethod[M, P, T, T]: ...
# A strict pyright takes the parameters of a lambda for Any by these three; by the last one they are unknown to it.
@overload
def entry(*, when: Callable[[Any], bool] | None = None) -> EntryDecorator: ...
@overload
def entry(*, when: Callable[[Any, Any], bool]) -> EntryDecorator: ...
@overload
def entry(*, when: Callable[[Any, Any, Any], bool]) -> EntryDecorator: ...
@overload  # which is reached all the same: by functions with more parameters
def entry(*, when: GuardFunction) -> EntryDecorator: ...  # type: ignore[overload-cannot-match]
def entry(method: Any = None, /, *, when: GuardFunction | None = None) -> Any:
    """Mark a method of a :class:`Monitor`, sync or async, as an entry; it is awaited then.

    Args:
      when: the guard: ``(self)``, ``(self, request)`` with an :class:`Invocation`, or ``self`` and
          parameters of the method's own, by their names. The method runs only when it holds. No type
          checker knows what ``self`` is in a lambda here, where the class does not exist yet; for a
          lambda below the method, :meth:`EntryMethod.when`, both mypy and pyright do.

    Raises:
      TypeError: if the method or the guard is not callable, the method is a generator function, or
          the guard is ``async def`` or has other parameters. When the class is made: if the guard reads
          an attribute of ``self`` that the class neither has nor sets nor declares.
    """
    if method is not None:
        return EntryMethod(method, when)
    if when is not None:
        check_sync(when, "guard")
    return lambda method: EntryMethod(method, when)


def check_entries(cls: type, base: type) -> None:
    """Raise TypeError if a class of monitors has an entry that ``base`` or a subclass would hide.

    Or one whose guard reads an attribute that there is not.

    Looked at are all classes that it inherits from: what hides an entry may stand beside it.
    """
    own = {name for one in base.__mro__ for name in vars(one)}
    seen: dict[str, tuple[type, object]] = {}
    for one in cls.__mro__:
        for name, value in vars(one).items():
            where, first = seen.setdefault(name, (one, value))
            if type(value) is not EntryMethod:  # isinstance() would ask a proxy what it stands for
                continue
            if name in own:
                raise TypeError(
                    f"{one.__name__}.{name} must not be an entry: {name} is a name of "
                    f"{base.__name__}'s own, which others call and do not await; choose another one"
                )
            if type(first) is not EntryMethod:
                raise TypeError(
                    f"{where.__name__}.{name} must be an entry, because {one.__name__}.{name} is one "
                    "and it would run without the monitor: mark it with @entry; its body may call "
                    f"{one.__name__}.{name}.__wrapped__(self, ...)"
                )
            if value._when is not None:
                guard = value._when.function
                if isinstance(guard, ByArguments):
                    guard = guard.__wrapped__
                check_names(cls, base, name, guard)


def check_attributes(cls: type) -> None:
    """Raise TypeError if a class of monitors has an attribute where a primitive reports its state."""
    for name in READ_ONLY:
        value = vars(cls).get(name)
        if name in annotations_of(cls) or not (value is None or hasattr(value, "__get__")):
            raise TypeError(
                f"{cls.__name__}.{name} must have another name: {name} says whether the monitor itself "
                f"is {name}; rename it, to own_{name} for example"
            )
