"""What a spec class must be before anything is made of it."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any, Generic

from ._declaration import Declaration, declaration_of
from ._errors import SpecError
from ._language import Spec, declared_in, fields_of

#: The built-in properties of every spec.
NO_ACTION_FAILS = "no_action_fails"
NO_DEADLOCK = "no_deadlock"
NO_HIDDEN_HISTORY = "no_hidden_history"
EVERY_ACTION_FIRES = "every_action_fires"

#: Those that a planted fault may be refuted by, and what each of them says.
BUILT_IN = {
    NO_ACTION_FAILS: "No action raises an exception.",
    NO_DEADLOCK: "Every state allows a step, or is declared terminal.",
    NO_HIDDEN_HISTORY: "What was never restored does the same as what was.",
}

#: Those of them that the search judges; the other is judged by walks.
OF_STATES = (NO_ACTION_FAILS, NO_DEADLOCK)

#: The kinds of properties that are judged of each step.
STEPS = ("step", "refines")

#: What is declared and is no property.
NO_PROPERTIES = ("action", "terminal")


def check_class(spec: type[Spec]) -> None:
    name, declared = spec.__name__, declared_in(spec)
    kinds = {word_of(function).kind for function in declared.values()}
    if sys.flags.optimize:
        raise SpecError(
            f"python -O and PYTHONOPTIMIZE take the assert statements out of {name} and of what "
            "it checks; run it without them"
        )
    if spec.__init__ is not Spec.__init__:
        raise SpecError(f"{name} defines __init__; declare its state by start(...) instead")
    _check_words(spec)
    actions = action_names(spec)
    for property_name, function in declared.items():
        for assumed in word_of(function).assuming:
            if assumed not in actions:
                raise SpecError(
                    f"{name}.{property_name} assumes something of {assumed!r}, which is no action of it; "
                    f"its actions are {', '.join(actions)}"
                )
    if not fields_of(spec):
        raise SpecError(f"{name} has no state; give it a field by start(factory, ...)")
    if "action" not in kinds:
        raise SpecError(f"{name} has no @action, so only its first state would be looked at")
    if not kinds - {*NO_PROPERTIES}:
        raise SpecError(
            f"{name} states no property, so its check cannot fail; "
            "add an @invariant, a @step, a @leads_to, an @eventually or an @always_eventually"
        )
    for reserved in (*BUILT_IN, EVERY_ACTION_FIRES):
        if reserved in declared:
            raise SpecError(f"{name}.{reserved} is the name of a built-in property; rename it")


def property_names(spec: type[Spec]) -> tuple[str, ...]:
    """Return the names that a planted fault may give as `refuted_by`."""
    own = (n for n, f in declared_in(spec).items() if word_of(f).kind not in NO_PROPERTIES)
    return (*BUILT_IN, *own)


def action_names(spec: type[Spec]) -> list[str]:
    """Return the names of a spec's actions."""
    return [n for n, f in declared_in(spec).items() if word_of(f).kind == "action"]


def word_of(function: Callable[..., Any]) -> Declaration:
    word = declaration_of(function)
    assert word is not None
    return word


def _check_words(spec: type[Spec]) -> None:
    """Raise if a spec changes what a class is, or what the words of the language mean."""
    for owner in spec.__mro__:
        if owner is Spec or owner is object or owner is Generic:
            continue
        for name, value in vars(owner).items():
            special = name.startswith("__") and name.endswith("__")
            if special and name not in _HARMLESS and (callable(value) or name == "__slots__"):
                raise SpecError(
                    f"{owner.__name__} defines {name}, with which a state could be kept or compared "
                    "in another way than the search does; leave it out"
                )
        for name in ("canonical", "describe", "explain", "observed", "renamed"):
            value = vars(owner).get(name)
            if value is not None and not inspect.isfunction(value):
                raise SpecError(
                    f"{owner.__name__}.{name} is {value!r}, and is a plain method; "
                    f"write def {name}(self, ...)"
                )


_HARMLESS = frozenset(
    [
        "__init__",
        "__repr__",
        "__str__",
        "__init_subclass__",
        "__class_getitem__",
        "__annotate__",
        "__annotate_func__",
        "__subclasshook__",
        "__set_name__",
        "__class__",
        "__orig_class__",
        "__annotations_cache__",
    ]
)
