"""The package loaded a second time, with its source changed on the way.

So the variant without hooks for observers is made from the source that ships, and there is no second
copy of any decision. A copy keeps its module names, because the package relies on them; only
``sys.modules`` tells which copy an import finds, and afterwards it finds the original again.
"""

from __future__ import annotations

import ast
import importlib
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from pathlib import Path
from types import CodeType, ModuleType

import structsync

PACKAGE = structsync.__name__
Transform = Callable[[ast.Module], ast.Module]


class DropHooks(ast.NodeTransformer):
    """Removes everything that runs only if an observer is there, or a watcher of parking tasks."""

    def __init__(self) -> None:
        self.dropped = 0

    def visit_If(self, node: ast.If) -> ast.AST:
        test = ast.unparse(node.test).partition(" ")[0]
        if test == "watchers" or test.endswith("._observers"):
            assert not node.orelse, "a hook without an observer does nothing"
            self.dropped += 1
            return ast.copy_location(ast.Pass(), node)
        return self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        if ast.unparse(node.test) == "watchers":
            self.dropped += 1
            return node.orelse
        return self.generic_visit(node)


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, transform: Transform) -> None:
        super().__init__(name, path)
        self.transform = transform

    def get_code(self, fullname: str) -> CodeType:
        tree = self.transform(ast.parse(self.get_data(self.path)))
        code = compile(ast.fix_missing_locations(tree), self.path, "exec")
        assert isinstance(code, CodeType)
        return code


class _Finder(MetaPathFinder):
    def __init__(self, transform: Transform) -> None:
        self.transform = transform

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name.partition(".")[0] != PACKAGE:
            return None
        found = importlib.machinery.PathFinder.find_spec(name, path)
        if found is None or found.origin is None:
            return None
        loader = _Loader(name, found.origin, self.transform)
        inside = [str(Path(found.origin).parent)] if found.submodule_search_locations else None
        return importlib.util.spec_from_file_location(
            name, found.origin, loader=loader, submodule_search_locations=inside
        )


def load(transform: Transform) -> ModuleType:
    """Return a copy of the package whose modules went through the transform."""
    original = _take_modules()
    finder = _Finder(transform)
    sys.meta_path.insert(0, finder)
    try:
        package = importlib.import_module(PACKAGE)
        # Now: a name that is looked up later would be found in the original.
        for name in package.__all__:
            getattr(package, name)
        return package
    finally:
        sys.meta_path.remove(finder)
        _take_modules()
        sys.modules.update(original)


def with_hooks() -> ModuleType:
    """Return a copy of the package as it is, made in the same way as the one without hooks."""
    return load(lambda tree: tree)


def without_hooks() -> ModuleType:
    """Return a copy of the package that cannot be observed."""
    drop = DropHooks()
    copy = load(drop.visit)
    assert drop.dropped > 5, "the hooks of the shell were not recognized"
    return copy


def _take_modules() -> dict[str, ModuleType]:
    names = [name for name in sys.modules if name.partition(".")[0] == PACKAGE]
    return {name: sys.modules.pop(name) for name in names}
