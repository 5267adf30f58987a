"""A test on its way into another process, which imports it by its name."""

from __future__ import annotations

import importlib
import importlib.util
import io
import pickle
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

from structsync.testing._errors import ExploreUsageError
from structsync.testing._execution.execution import AsyncTest

#: Makes the function that takes the handle, in whichever process calls it.
Build = Callable[[], AsyncTest]


class NotPortable(ExploreUsageError):
    """A test that no other process can import."""


def packed(build: Build) -> bytes:
    """Return what makes the same test in another process.

    Raises:
      NotPortable: no other process can import it, or what it is called with cannot be sent.
    """
    into = io.BytesIO()
    try:
        _Packer(into, protocol=pickle.HIGHEST_PROTOCOL).dump(build)
    except NotPortable:
        raise
    except Exception as error:
        raise NotPortable(
            "workers= runs the test in other processes, and something that it is called with cannot "
            f"be sent there: {error}"
        ) from error
    return into.getvalue()


class _Packer(pickle.Pickler):
    def reducer_override(self, thing: Any) -> Any:
        if isinstance(thing, types.FunctionType):
            # Our own ones, which do the unpacking, are found without help.
            return NotImplemented if thing.__module__ == __name__ else _function(thing)
        if isinstance(thing, types.MethodType):
            return bound, (thing.__func__, thing.__self__)
        if isinstance(thing, type) and thing.__module__ == "__main__":
            raise _of_a_script(thing)
        return NotImplemented


def _function(function: types.FunctionType) -> tuple[Any, ...]:
    """Return how another process gets a function: also one that @explore() has wrapped."""
    if function.__module__ == "__main__":
        raise _of_a_script(function)
    if "<locals>" in function.__qualname__:
        raise NotPortable(
            f"workers= runs the test in other processes, which import it by its name, and "
            f"{function.__qualname__} is made inside of a function: put it into a module, and give what "
            "it takes from there with functools.partial"
        )
    file = getattr(sys.modules.get(function.__module__), "__file__", None)
    place = function.__module__, function.__qualname__, file
    try:
        found = named(*place)
    except (ImportError, AttributeError):
        found = None
    if found is not function:
        raise NotPortable(
            f"workers= runs the test in other processes, which import it by its name, and "
            f"{function.__module__}.{function.__qualname__} is not this function"
        )
    return named, place


def _of_a_script(thing: Any) -> NotPortable:
    return NotPortable(
        f"workers= runs the test in other processes, which import it by its name, and "
        f"{thing.__qualname__} belongs to a script or an interactive session (__main__): put it into a "
        "module, and import it from there"
    )


def named(module: str, path: str, file: str | None) -> object:
    """Return the function of that name; the inner one if @explore() has made a test of it."""
    found: Any = _module(module, file)
    for name in path.split("."):
        found = getattr(found, name)
    return getattr(found, "__structsync_explored__", (found,))[0]


def bound(function: Callable[..., Any], instance: object) -> types.MethodType:
    """Return a method of an instance; by its name it would be what @explore() has made of it."""
    return types.MethodType(function, instance)


def _module(name: str, file: str | None) -> types.ModuleType:
    """Import a module; by its file, if its name leads elsewhere (as pytest can import it)."""
    try:
        module = importlib.import_module(name)
    except ImportError:
        if file is None:
            raise
    else:
        there = getattr(module, "__file__", None)
        if file is None or there is None or Path(there) == Path(file):
            return module
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} cannot be imported as {name}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
