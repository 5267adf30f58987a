"""Specs and faults from a file or a folder of Python modules.

A folder is loaded as a package, so that its modules can import each other; a file is loaded as a
module of its folder. The folder of structsync's own specs is the package `structsync.specs`
wherever it lies: beside the modules when installed, beside the package in a source tree.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

from ._check import spec_name
from ._errors import SpecError, where_raised
from ._faults import Fault, faults_of
from ._language import Spec
from ._noticed import check_module, keeping

SHIPPED = "structsync.specs"


@dataclass(frozen=True, slots=True)
class Loaded:
    """The specifications and faults of one path."""

    folder: Path
    whole: bool
    """True if all modules of the folder were loaded, not one file of it."""
    specs: dict[str, type[Spec]]
    faults: dict[str, Fault]


def shipped_specs() -> Loaded:
    """Load structsync's own specs, from the installed package or from the source tree.

    Raises:
        SpecError: this copy of structsync comes without them.
    """
    folder = _shipped_folder()
    if folder is None:
        raise SpecError(
            "this copy of structsync comes without its specs; give the path of a spec module"
        )
    return load(folder)


def load(path: Path) -> Loaded:
    """Load all specs and faults that a file or folder defines.

    Classes that a module only imports belong to the module that defines them. Not run: spec
    classes that are private or `abstract = True`, modules whose name starts with an underscore.

    Raises:
        SpecError: the path has no Python module, one of them cannot be imported, or there is
            nothing in it to run.
    """
    path = path.resolve()
    folder = path if path.is_dir() else path.parent
    if not (path.is_dir() or (path.is_file() and path.suffix == ".py")):
        raise SpecError(f"there is no Python file or folder {path}")
    with _importing_from(folder):
        root = _package(folder)
        files = [path] if path.is_file() else _modules(folder)
        with keeping() as made:
            modules = [_import(root, folder, file) for file in files]
    specs: dict[str, type[Spec]] = {}
    for module in modules:
        specs.update(_specs_of(module, root))
    _check_none_lost(modules, made)
    faults = _named([one for module in modules for one in faults_of(module)], root)
    if not specs and not faults:
        raise SpecError(f"{path} defines no subclass of Spec and no fault; nothing to check")
    return Loaded(folder, path.is_dir(), specs, faults)


def _named(faults: list[Fault], root: str) -> dict[str, Fault]:
    """Name the faults; one bug planted several times has the property in its name, or the spec too."""
    planted = Counter(one.factory for one in faults)
    alike = Counter((one.factory, one.refuted_by) for one in faults)
    named: dict[str, Fault] = {}
    for one in faults:
        name = spec_name(one.factory, root)
        found_by = one.refuted_by
        if alike[one.factory, found_by] > 1:
            found_by = f"{one.spec.__name__}.{found_by}"
        name += f"[{found_by}]" if planted[one.factory] > 1 else ""
        if name in named:
            raise SpecError(
                f"two faults have the name {name}, and one of them would be lost; rename one"
            )
        named[name] = one
    return named


def _specs_of(module: ModuleType, root: str) -> dict[str, type[Spec]]:
    """Return the specs that a module defines; of two with one name, each by its variable."""
    found = {
        variable: one
        for variable, one in vars(module).items()
        if isinstance(one, type)
        and issubclass(one, Spec)
        and one.__module__ == module.__name__
        and is_run(one)
    }
    names = Counter(
        spec_name(one, root) for one in {id(one): one for one in found.values()}.values()
    )
    named: dict[str, type[Spec]] = {}
    for variable, one in found.items():
        name = spec_name(one, root)
        if names[name] > 1:
            name = f"{name.rpartition('.')[0]}.{variable}"
        named.setdefault(name, one)
    return named


def is_run(spec: type[Spec]) -> bool:
    """Return whether a spec is to be run: not private, and not a base for others."""
    abstract = vars(spec).get("abstract", False)
    if type(abstract) is not bool:
        raise SpecError(
            f"{spec.__name__}.abstract is {abstract!r}; a base for other specs says abstract = True"
        )
    return not (spec.__name__.startswith("_") or abstract)


def _check_none_lost(modules: Sequence[ModuleType], made: Sequence[object]) -> None:
    """Raise if a module made a spec, a property or a field that nothing would look at."""
    names = {module.__name__ for module in modules}
    specs = [one for one in made if isinstance(one, type) and issubclass(one, Spec)]
    bound = {id(value) for module in modules for value in vars(module).values()}
    bases = {id(base) for one in specs for base in one.__mro__[1:]}
    for one in specs:
        if one.__module__ in names and is_run(one) and id(one) not in bound | bases:
            raise SpecError(
                f"{one.__module__} makes a spec {one.__qualname__} that no name of the module stands "
                "for, so it would not be run: it is defined twice, or made by a function; give each "
                "a name of its own in the module, or abstract = True"
            )
    others = [one for one in made if not isinstance(one, type)]
    holders = [*specs, *(type_ for module in modules for type_ in _classes(module))]
    used = [value for one in holders for owner in one.__mro__ for value in vars(owner).values()]
    check_module(names, others, used)


def _classes(module: ModuleType) -> list[type]:
    return [one for one in vars(module).values() if isinstance(one, type) and issubclass(one, Spec)]


def _shipped_folder() -> Path | None:
    found = importlib.util.find_spec(SHIPPED)
    if found and found.submodule_search_locations:
        return Path(next(iter(found.submodule_search_locations))).resolve()
    return _beside() if _beside().is_dir() else None


def _beside() -> Path:
    """Where the specs lie in a source tree."""
    return Path(__file__).resolve().parents[2] / "specs"  # pragma: no cover - the tests run a wheel


def _modules(folder: Path) -> list[Path]:
    return [
        file
        for file in sorted(folder.rglob("*.py"))
        if not any(
            part.startswith((".", "_")) and part != "__init__.py"
            for part in file.relative_to(folder).parts
        )
    ]


@contextmanager
def _importing_from(folder: Path) -> Iterator[None]:
    """Let spec modules import what lies in the working directory or beside them."""
    before, writes_bytecode = sys.path[:], sys.dont_write_bytecode
    sys.path[:0] = [str(Path.cwd()), str(folder)]
    # A cached spec would answer for one that was edited within the same second and kept its size.
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        sys.path[:], sys.dont_write_bytecode = before, writes_bytecode


def _package(folder: Path) -> str:
    """Return the name under which a folder is imported, and make it importable."""
    if folder == _shipped_folder():
        if importlib.util.find_spec(SHIPPED) is None:
            _make_package(SHIPPED, folder)
        return SHIPPED
    if (folder / "__init__.py").exists():
        top = folder
        while (top.parent / "__init__.py").exists():
            top = top.parent
        name = ".".join([top.name, *folder.relative_to(top).parts])
        sys.path.insert(0, str(top.parent))
        return name
    digest = hashlib.sha256(str(folder).encode()).hexdigest()[:8]
    name = f"_specs_in_{folder.name.replace('.', '_')}_{digest}"
    for old in [one for one in sys.modules if one == name or one.startswith(f"{name}.")]:
        del sys.modules[old]
    _make_package(name, folder)
    return name


def _make_package(name: str, folder: Path) -> None:
    init = folder / "__init__.py"
    places = [str(folder)]
    if init.exists():
        found = importlib.util.spec_from_file_location(
            name, init, submodule_search_locations=places
        )
    else:
        found = ModuleSpec(name, None, is_package=True)
        found.submodule_search_locations = places
    assert found is not None
    module = sys.modules[name] = importlib.util.module_from_spec(found)
    assert found.loader is not None  # without __init__.py it is importlib's namespace loader
    found.loader.exec_module(module)


def _import(root: str, folder: Path, file: Path) -> ModuleType:
    inside = file.relative_to(folder).with_suffix("").parts
    name = ".".join([root, *(part for part in inside if part != "__init__")])
    try:
        module = importlib.import_module(name)
    except (Exception, SystemExit, GeneratorExit) as error:
        raise SpecError(
            f"{file} cannot be imported: {type(error).__name__}: {error} "
            f"(raised in {where_raised(error)})"
        ) from error
    if Path(module.__file__ or "").resolve() != file:
        raise SpecError(
            f"{file} would be imported as {name}, which is already {module.__file__}; "
            "rename the folder, or remove its __init__.py"
        )
    return module
