"""How a changed file gets into a process: it is compiled in place of the one on the disk.

To patch a module after its import is not enough, because ``from module import name`` has bound the old
function elsewhere by then. So the process forks *before* the package is imported, and imports it through
this finder.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType


class _Loader(SourceFileLoader):
    """Compiles one file as it is told to."""

    def __init__(
        self, fullname: str, path: str, code: Callable[[CodeType | None], CodeType]
    ) -> None:
        super().__init__(fullname, path)
        self._code = code

    def get_code(self, fullname: str) -> CodeType | None:
        return self._code(super().get_code(fullname))


class Finder(MetaPathFinder):
    """Finds the modules of a package where they are, and lets ``change`` have their code first."""

    def __init__(self, package: str, change: Callable[[Path, CodeType], CodeType]) -> None:
        self._package = package
        self._change = change

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] != self._package:
            return None
        found = PathFinder.find_spec(fullname, path, target)
        if found is None or not isinstance(found.loader, SourceFileLoader):
            return None
        file = Path(found.loader.path)

        def code(unchanged: CodeType | None) -> CodeType:
            assert unchanged is not None
            return self._change(file, unchanged)

        found.loader = _Loader(fullname, str(file), code)
        return found


def install(package: str, change: Callable[[Path, CodeType], CodeType]) -> None:
    """Let ``change`` have the code of each module of the package that is imported from now on."""
    loaded = [one for one in sys.modules if one.partition(".")[0] == package]
    assert not loaded, f"too late for {loaded}"
    sys.meta_path.insert(0, Finder(package, change))


class WithChanged:
    """Compiles this source for this file, and leaves the others alone."""

    def __init__(self, file: Path, source: bytes) -> None:
        self._file = file.resolve()
        self._source = source
        self.was_imported = False

    def __call__(self, path: Path, code: CodeType) -> CodeType:
        if path.resolve() != self._file:
            return code
        self.was_imported = True
        changed = compile(self._source, str(path), "exec", dont_inherit=True)
        assert isinstance(changed, CodeType)
        return changed
