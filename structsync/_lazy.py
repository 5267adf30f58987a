"""Names of a package that are imported when they are asked for, and not before."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping


def importing(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """Return a package's ``__getattr__`` for public names and the modules in which they are."""

    def __getattr__(name: str) -> object:  # noqa: N807 - what it becomes there
        """Import what stands behind a public name."""
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(importlib.import_module(homes[name]), name)
        setattr(sys.modules[package], name, found)
        return found

    return __getattr__
