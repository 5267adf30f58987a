"""Faults of what is looked at in a user's core, each for one claim."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from structsync._core.queue import own_core, state

from ._planting import fault


@fault(
    state,
    "refuse_reserved_names",
    refuted_by="own_core.a_field_with_a_name_of_the_arbiters_is_refused",
)
def only_what_is_declared_is_looked_at(cls: type) -> None:
    for name in vars(cls).get("__annotations__", ()):
        if name in own_core.ARBITERS_OWN:
            raise own_core._reserved(cls, name)


@fault(state, "refuse_reserved_names", refuted_by="own_core.a_method_of_the_arbiters_is_no_field")
def a_field_may_have_the_name_of_a_method(cls: type) -> None:
    for name in (*vars(cls), *vars(cls).get("__annotations__", ())):
        if name in own_core.ARBITERS_OWN:
            raise own_core._reserved(cls, name)


@fault(own_core, "is_of_the_queue", refuted_by="own_core.what_is_the_users_own_is_not_refused")
def whatever_is_inherited_is_the_arbiters(cls: type) -> bool:
    return cls is not object


@fault(own_core, "_replaces", refuted_by="own_core.what_overrides_a_method_can_be_called_as_it_is")
def whatever_can_be_called_overrides(value: object, method: Callable[..., object]) -> bool:
    return callable(value)


@fault(
    own_core,
    "fault_at_creation",
    refuted_by="own_core.what_a_constructor_forgets_or_overwrites_is_named",
)
def what_is_overwritten_goes_unnoticed(core: Any) -> str | None:
    missing = [one for one in own_core.SET_AT_CREATION if one not in vars(core)]
    name = type(core).__name__
    return (
        f"{name}.__init__ must call super().__init__(), which sets {missing[0]}"
        if missing
        else None
    )


@fault(own_core, "_is_restored", refuted_by="own_core.state_that_no_snapshot_has_is_named")
def any_restore_is_believed(core: Any, attribute: str) -> bool:
    return True


def any_type(cls: type, item: object) -> type:
    return cls


every_core_takes_a_type = fault(
    state.PrimitiveState,
    "__class_getitem__",
    refuted_by="own_core.a_core_takes_as_many_types_as_it_says",
)(classmethod(any_type))
