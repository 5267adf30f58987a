"""The one list of public names, and what is written from it.

Public names are listed in ``structsync/__init__.py``, as imports that type checkers read. A program does
not carry them out: it takes a name's module from ``structsync/_homes.py``, which is written from the list::

    python -m tests.public_names        # after a name has come, gone, or moved
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import structsync

PACKAGE = Path(structsync.__file__).parent

#: ``structsync.__all__``, of which type checkers know nothing: they read the list.
PUBLIC: list[str] = vars(structsync)["__all__"]

_TEXT = '''\
"""Where each public name is. Written by ``python -m tests.public_names``; not for editing."""

HOMES = {{
{lines}
}}
'''


def listed(module: str) -> list[str]:
    """Return the names that a module has for its users: those that it says are public, or else that it shows."""
    found = importlib.import_module(module)
    names: list[str] = getattr(found, "__all__", None) or dir(found)
    # not what is private, nor what pytest adds to code whose asserts it rewrites
    return [name for name in names if name[0].isalpha()]


def homes_of(source: str, package: str) -> dict[str, str]:
    """Return the module of each name that a package imports for its users, in order of the names."""
    return dict(sorted(_homes_of(ast.parse(source), package)))


def _homes_of(tree: ast.AST, package: str) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            module = ".".join(filter(None, [package, node.module]))
            for alias in node.names:
                # only what is imported `as` is there for others
                if alias.asname:
                    is_module = node.module is None
                    yield alias.asname, f"{module}.{alias.name}" if is_module else module


def text_of(homes: dict[str, str]) -> str:
    return _TEXT.format(lines="\n".join(f'    "{name}": "{home}",' for name, home in homes.items()))


def should_be() -> str:
    """Return what must be in ``structsync/_homes.py``."""
    return text_of(homes_of((PACKAGE / "__init__.py").read_text(), "structsync"))


if __name__ == "__main__":
    (PACKAGE / "_homes.py").write_text(should_be())
