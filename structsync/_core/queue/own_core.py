"""What a core of a user's has to keep to: names of its own, and state that is declared.

A field that has the name of one of the arbiter's would be overwritten, or would overwrite; one that is
not declared is no part of a snapshot, so that the checker would forget it.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from typing import Any

from .annotations import annotations_of
from .policy import Policy
from .request import Queue

#: What the constructor of an arbiter sets, and what it is.
SET_AT_CREATION: dict[str, Any] = {"policy": Policy, "queue": Queue, "next_ticket": int}
ARBITERS_OWN = frozenset({*SET_AT_CREATION, "cause"})
#: Where it is written, and imported from.
OF_THE_QUEUE = (f"{__package__}.arbiter", f"{__package__}.state", "structsync")


def refuse_reserved_names(cls: type) -> None:
    """Raise TypeError if a class of cores uses a name of the arbiter's for something of its own."""
    arbiter: dict[str, Any] = {}
    for one in reversed(cls.__mro__[1:]):
        if is_of_the_queue(one):
            arbiter.update(vars(one))
    taken = {name for name in arbiter if not name.startswith("__")}
    for name, kind in annotations_of(cls).items():
        if name in ARBITERS_OWN or (name in taken and "ClassVar[" not in str(kind)):
            raise _reserved(cls, name)
    for name, value in vars(cls).items():
        if name in ARBITERS_OWN:
            raise _reserved(cls, name)
        method = arbiter.get(name)
        if name in taken and inspect.isfunction(method) and not _replaces(value, method):
            raise TypeError(
                f"{cls.__name__}.{name} must take {inspect.signature(method)}, because it overrides a "
                "method of Arbiter, which others call; if it is to be something else, rename it"
            )


def is_of_the_queue(cls: type) -> bool:
    """Return whether a class is the arbiter or what it is made of."""
    return cls.__module__ in OF_THE_QUEUE


def _reserved(cls: type, name: str) -> TypeError:
    return TypeError(
        f"{cls.__name__}.{name} must have another name: Arbiter has an attribute {name} of its own, "
        f"and they would be one; rename it, to own_{name} for example"
    )


def _replaces(value: object, method: Callable[..., object]) -> bool:
    """Return whether it can be called as the method is, as far as can be seen."""
    if not inspect.isfunction(value):
        return callable(value)
    parameters = inspect.signature(method).parameters.values()
    needed = [one for one in parameters if one.default is one.empty]
    for names in (needed, parameters):
        try:
            inspect.signature(value).bind(*names)
        except TypeError:
            return False
    return True


def fault_at_creation(core: Any) -> str | None:
    """Return what is wrong with a core that was made just now, and how it is mended."""
    own, name = vars(core), type(core).__name__
    for attribute, kind in SET_AT_CREATION.items():
        if attribute not in own:
            return f"{name}.__init__ must call super().__init__(), which sets {attribute}"
        if not isinstance(own[attribute], kind):
            return _overwritten(name, attribute, own[attribute])
    return None if core.cause is None else _overwritten(name, "cause", core.cause)


def _overwritten(name: str, attribute: str, value: object) -> str:
    return (
        f"{name}.__init__ must not assign {attribute}, which is an attribute of Arbiter's own, and "
        f"assigns {value!r}; rename yours, to own_{attribute} for example"
    )


def fault_of_declaration(core: Any) -> str | None:
    """Return which attribute is no part of the snapshots, or is but was never assigned."""
    kind, own = type(core), vars(core)
    declared = set(kind.state_fields)
    name = kind.__name__
    if missing := sorted(declared - own.keys()):
        return f"{name} declares {missing[0]}, and never assigns it; assign it in __init__"
    if not _rests_on_the_queue(kind):
        return None
    stray = sorted(own.keys() - declared - ARBITERS_OWN)
    where = "declare it in the class"
    if not is_told_by_its_fields(kind):
        stray = [one for one in stray if not _is_restored(core, one)]
        where = "set it in start_index() or restore(), or declare it in the class"
    if stray:
        return (
            f"{name} assigns {', '.join(stray)}, which is not part of its state, so the search would "
            f"forget it; {where}: `{stray[0]}: {type(own[stray[0]]).__name__}`"
        )
    return None


def _is_restored(core: Any, attribute: str) -> bool:
    """Return whether restoring a core sets an attribute: from the snapshot, or as a part of an index."""
    twin, mark = copy.copy(core), object()
    before = core.snapshot()
    vars(twin)[attribute] = mark
    try:
        twin.restore(before)
    except Exception:  # noqa: BLE001 - it was looked at, so it is known there
        return True
    return vars(twin).get(attribute) is not mark


def is_told_by_its_fields(kind: Any) -> bool:
    """Return whether the snapshot of a core is made of its declared fields alone.

    An index is derived from the queue; and a class with a snapshot of its own decides what is in it.
    """
    own = _own_classes(kind)
    return (
        not kind.has_index
        and all("snapshot" not in vars(one) and "restore" not in vars(one) for one in own)
        and _rests_on_the_queue(kind)
    )


def _own_classes(kind: Any) -> list[type]:
    return [one for one in kind.__mro__ if getattr(one, "user_written", False)]


def _rests_on_the_queue(kind: Any) -> bool:
    """Return whether all but the arbiter is the user's: of a core that ships, what it assigns is known."""
    own = _own_classes(kind)
    return is_of_the_queue(next(one for one in kind.__mro__ if one not in own))
