"""Names of a package that are imported when they are asked for, and not before."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from types import ModuleType

from ._naming import name_after

#: Packages that some names need, under which name an extra installs them.
EXTRAS = frozenset({"hypothesis"})


def importing(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """Return a package's ``__getattr__`` for public names.

    Args:
      package: the package that has the names.
      homes: for each name the module in which it is; a module of the package may be a public name itself.
    """

    def __getattr__(name: str) -> object:  # noqa: N807 - what it becomes there
        """Import what stands behind a public name."""
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        try:
            found: object = importlib.import_module(home)
        except ModuleNotFoundError as error:
            if error.name in EXTRAS:
                error.add_note(f"{package}.{name} needs it: pip install 'structsync[{error.name}]'")
            raise
        if home != f"{package}.{name}":
            found = getattr(found, name)
        # All that is there by now: an error is raised without being wanted by its name.
        for public, its_home in homes.items():
            name_after(package, public, getattr(sys.modules.get(its_home), public, None))
        setattr(sys.modules[package], name, found)
        return found

    return __getattr__


def load(package: ModuleType) -> None:
    """Import every name of a package, for code to which a name must not appear while it looks on."""
    for name in dir(package):
        getattr(package, name)
