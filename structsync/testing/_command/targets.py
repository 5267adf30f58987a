"""What the arguments of `structsync explore` name: functions, by their module or their file."""

from __future__ import annotations

import importlib
import inspect
import sys
import traceback
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from structsync.testing._exploration import HANDLE, required_parameters
from structsync.testing._result import EXPLORED_AT_ONCE, Exploration
from structsync.testing._settings import Settings


@dataclass(frozen=True, slots=True)
class Target:
    """A function to explore, and what its decorator asks for.

    Attributes:
      name: as one can give it to the command again.
      fn: the async function.
      settings: those of its decorator; the defaults if it has none.
      missing: what only a test runner gives it, in words; empty if it needs none.
    """

    name: str
    fn: Callable[..., Any]
    settings: Settings
    missing: str

    @classmethod
    def of(cls, name: str, found: Any) -> Target:
        """Return what a name stands for.

        Raises:
          click.UsageError: it is no async function.
        """
        explored: tuple[Any, Settings] = (found, Settings())
        fn, settings = found.__structsync_explored__ if _is_decorated(found) else explored
        if inspect.ismethod(found) and fn is not found:
            fn = fn.__get__(found.__self__)
        if isinstance(found, Exploration):
            raise click.UsageError(f"{name} {EXPLORED_AT_ONCE}")
        if not inspect.iscoroutinefunction(fn):
            raise click.UsageError(
                f"{name} is no async function but {type(fn).__name__}: give module:function, or a "
                "module with functions that @explore() decorates"
            )
        needs = [one.name for one in required_parameters(fn) if one.name != HANDLE]
        if needs:
            missing = f"takes {', '.join(map(repr, needs))}, which pytest has a value for"
        else:
            missing = _set_up(getattr(fn, "__self__", None))
        return cls(name, fn, settings, missing)


def targets(given: str) -> list[Target]:
    """Return what one argument of the command names.

    ``module:function`` and ``path/to/file.py:Class.method`` name one function, decorated or not, and
    so do the names of pytest, ``path/to/file.py::Class::method``; a module or file alone names the
    functions and methods in it that are decorated.

    Raises:
      click.UsageError: there is no such module or function, or nothing decorated in it.
    """
    if "::" in given:
        place, colon, path = given.partition("::")
        path = path.replace("::", ".")
        if "[" in path:
            raise click.UsageError(f"{given} has parameters, which only pytest has values for")
    else:
        place, colon, path = given.rpartition(":")
    if not colon or path.endswith(".py"):
        place, path = given, ""
    module = _import(place)
    known = list(_decorated(module))
    if path:
        found = _found(module, path)
        if found is None:
            names = ", ".join(known) or "nothing"
            raise click.UsageError(f"{place} has no {path!r}; decorated in it: {names}")
        target = Target.of(given, found)
        if target.missing and not _is_decorated(found):
            raise click.UsageError(
                f"{given} {target.missing}, if at all: run it there, as a test that @explore() decorates, or "
                f"name a function that takes no more than the handle {HANDLE!r}"
            )
        return [target]
    if not known:
        raise click.UsageError(
            f"nothing in {place} is decorated with @explore(); to explore a plain async function, "
            f"name it: {place}:function"
        )
    return [Target.of(f"{place}:{name}", _found(module, name)) for name in known]


#: By these names pytest calls what sets up an instance, or its class.
_SETTING_UP = ("setup_method", "setup_class")


def _set_up(instance: object) -> str:
    """Return what sets up the instance of a method where a test runner runs it; empty if nothing does."""
    unittest: Any = sys.modules.get("unittest")
    if unittest is not None and isinstance(instance, unittest.TestCase):
        return "is a test of unittest, which sets it up"
    found = next((one for one in _SETTING_UP if hasattr(instance, one)), None)
    return "" if found is None else f"is set up by {found}(), which pytest calls"


def _found(module: types.ModuleType, path: str) -> object:
    """Return what a path of names leads to; None if that is nothing."""
    found: object = module
    for name in path.split("."):
        found = _member(found, name)
    return found


def _member(owner: Any, name: str) -> object:
    """Return an attribute, of an instance where the owner is a class; None if there is none.

    Raises:
      click.UsageError: the class does not make an instance.
    """
    if isinstance(owner, type):
        try:
            owner = owner()
        except Exception as error:
            raise click.UsageError(
                f"no instance of {owner.__qualname__} for its method {name!r}: {owner.__qualname__}() "
                f"raises {type(error).__name__}: {error}; give it no parameters, or explore a function"
            ) from error
    return getattr(owner, name, None)


def _decorated(module: types.ModuleType) -> Iterator[str]:
    for name, one in list(vars(module).items()):
        if _is_decorated(one):
            yield name
        elif isinstance(one, type) and one.__module__ == module.__name__:
            yield from (f"{name}.{inner}" for inner, it in vars(one).items() if _is_decorated(it))


def _is_decorated(one: Any) -> bool:
    """Return whether @explore() has decorated it; what has any attribute, such as mock.call, is none."""
    function = getattr(one, "__func__", None) if isinstance(one, _WRAPPERS) else one
    return isinstance(function, types.FunctionType) and "__structsync_explored__" in vars(function)


_WRAPPERS = (types.MethodType, staticmethod, classmethod)


def _import(place: str) -> types.ModuleType:
    """Import a module by its name or its file, as if Python ran in the working directory."""
    sys.path.insert(0, str(Path.cwd()))
    name, file = place, Path(place).resolve()
    is_file = place.endswith(".py")
    if is_file and not file.is_file():
        raise click.UsageError(f"there is no file {place}")
    if file.is_dir() and not (file / "__init__.py").exists():
        raise click.UsageError(
            f"{place} is a folder: name files in it, such as {Path(place, '*.py')}"
        )
    if is_file:
        top = file.parent
        while (top / "__init__.py").exists():
            top = top.parent
        sys.path.insert(0, str(top))
        name = ".".join(file.relative_to(top).with_suffix("").parts)
    try:
        module = importlib.import_module(name)
    except (Exception, SystemExit) as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        # Where the module itself is missing, the last frame is one of Python's own.
        where = (
            f" (raised in {frame.filename}, line {frame.lineno})"
            if Path(frame.filename).exists()
            else ""
        )
        raise click.UsageError(
            f"{place} cannot be imported: {type(error).__name__}: {error}{where}"
        ) from error
    if is_file and Path(module.__file__ or "").resolve() != file:
        raise click.UsageError(
            f"{place} would be imported as {name}, which is already {module.__file__}: rename the "
            "file, or give the name of a module"
        )
    return module
