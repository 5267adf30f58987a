"""What ``import structsync`` loads, and when the rest is loaded: with the first use of each name."""

from __future__ import annotations

import importlib
import subprocess
import sys
from dataclasses import fields, is_dataclass
from inspect import isclass, isfunction
from typing import get_type_hints

import pytest

import structsync
from structsync import _lazy, _naming
from structsync._homes import HOMES
from tests.public_names import PACKAGE, PUBLIC, homes_of, listed, should_be


def printed(program: str) -> list[str]:
    """Run a program in a Python of its own, and return its last line as words."""
    ran = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    return ran.stdout.splitlines()[-1].split()


def loaded_by(program: str) -> set[str]:
    """Return the modules that a program loads and trio does not."""
    before = "import sys, trio; before = {*sys.modules}"
    return {*printed(f"{before}\n{program}\nprint(*{{*sys.modules}} - before)")}


# ==== what is loaded ====


def test_importing_the_library_loads_four_small_modules() -> None:
    expected = {"structsync", *(f"structsync.{name}" for name in ("_homes", "_lazy", "_naming"))}
    assert loaded_by("import structsync") == expected


def test_importing_the_library_does_not_load_trio() -> None:
    assert printed("import sys, structsync; print('trio' in sys.modules)") == ["False"]


def test_all_names_of_the_library_load_nothing_else_than_trio() -> None:
    loaded = {name.partition(".")[0] for name in loaded_by("from structsync import *")}
    others = loaded - sys.stdlib_module_names
    assert {name for name in others if not name.startswith("_sysconfig")} == {"structsync"}


def test_a_semaphore_loads_what_a_semaphore_needs() -> None:
    loaded = loaded_by("from structsync import Semaphore")
    parts = ("_core.primitives.", "_core.monitors.", "_primitives.", "observing", "testing")
    own = {m for m in loaded if m.startswith(tuple(f"structsync.{part}" for part in parts))}
    assert own == {"structsync._core.primitives.semaphore", "structsync._primitives.semaphore"}
    assert {m for m in loaded if not m.startswith("structsync")} <= {"dataclasses"}


# ==== the list of names ====


def test_the_homes_are_written_from_the_list() -> None:
    written = (PACKAGE / "_homes.py").read_text()
    assert written == should_be(), "write it again with: python -m tests.public_names"


def test_a_name_that_is_not_for_others_has_no_home() -> None:
    source = "from ._lazy import a\nfrom .x.y import b as b\nfrom . import c as c\nimport d as d"
    assert homes_of(source, "pack") == {"b": "pack.x.y", "c": "pack.c"}


def test_every_name_is_there_before_it_is_loaded() -> None:
    assert {*HOMES} <= {*dir(structsync)}
    found = printed("from structsync import *; print(*{*dir()} - {*__builtins__.__dict__})")
    assert {*PUBLIC} <= {*found}
    assert "lowlevel" not in found


@pytest.mark.parametrize("module", ["", ".checking", ".testing"])
def test_no_name_that_is_shown_is_only_there_for_the_module_itself(module: str) -> None:
    program = f"import structsync{module} as it; print(*dir(it))"
    shown = {name for name in printed(program) if not name.startswith("_")}
    assert {"Verdict", "Lock"} & shown
    assert not {"HOMES", "TYPE_CHECKING", "importing"} & shown


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"^module 'structsync' has no attribute 'Semaphor'$"):
        structsync.Semaphor  # type: ignore[attr-defined]  # noqa: B018 - the mistake is the test


def test_a_module_can_be_a_public_name() -> None:
    find = _lazy.importing("structsync", HOMES)
    assert find("lowlevel") is importlib.import_module("structsync.lowlevel")
    assert find("Semaphore") is structsync.Semaphore


@pytest.mark.parametrize(
    ("missing", "extra"), [("hypothesis", "'structsync[hypothesis]'"), ("outcome", "none")]
)
def test_a_name_whose_package_is_missing_says_which_extra_installs_it(
    missing: str, extra: str
) -> None:
    program = f"""if True:
        import sys
        sys.modules[{missing!r}] = None
        import structsync.checking
        try:
            structsync.checking.Adapter
        except ModuleNotFoundError as error:
            print(*getattr(error, "__notes__", ["none"]))
    """
    assert printed(program)[-1] == extra


# ==== what is loaded says where users import it from ====

DOORS = ("lowlevel", "otel", "threads", "distributed", "testing._execution.oracles")


@pytest.mark.parametrize("door", DOORS)
def test_whatever_is_loaded_first_all_classes_have_their_public_names(door: str) -> None:
    program = f"""if True:
        import inspect, sys, structsync.{door}
        from structsync._homes import HOMES
        things = [(name, getattr(sys.modules.get(home), name, None)) for name, home in HOMES.items()]
        ours = [(n, t) for n, t in things if inspect.isclass(t) or inspect.isfunction(t)]
        print(len(ours), *(n for n, t in ours if (t.__module__, t.__qualname__) != ("structsync", n)))
    """
    number, *unnamed = printed(program)
    assert int(number) > 0
    assert unnamed == []


def test_a_class_that_comes_with_another_has_its_public_name_too() -> None:
    assert printed(
        "import structsync; print(structsync.open_pool.__globals__['TaskPool'].__module__)"
    ) == ["structsync"]


def test_naming_twice_changes_nothing() -> None:
    _lazy.load(structsync)
    before = {name: repr(getattr(structsync, name)) for name in PUBLIC}
    _naming.name_what_is_loaded()
    assert before == {name: repr(getattr(structsync, name)) for name in PUBLIC}
    named = [getattr(structsync, name) for name in PUBLIC]
    assert {one.__module__ for one in named if isclass(one) or isfunction(one)} == {"structsync"}


@pytest.mark.parametrize("package", sorted(_naming.PUBLIC))
def test_what_a_public_module_lists_is_called_after_one(package: str) -> None:
    module = importlib.import_module(package)
    things = [getattr(module, name) for name in listed(package)]
    named = [one for one in things if isclass(one) or isfunction(one)]
    ours = [one for one in named if one.__module__.partition(".")[0] == "structsync"]
    assert ours
    assert [one for one in ours if one.__module__ not in _naming.PUBLIC] == []


@pytest.mark.parametrize("package", sorted(_naming.PUBLIC))
def test_the_types_of_the_fields_of_a_public_dataclass_can_be_read(package: str) -> None:
    module = importlib.import_module(package)
    for name in listed(package):
        if isclass(data := getattr(module, name)) and is_dataclass(data):
            types = get_type_hints(data)
            assert {field.name for field in fields(data)} <= types.keys()


@pytest.mark.parametrize(
    "package", ["structsync", "structsync.checking", "structsync.distributed", "structsync.testing"]
)
def test_a_traceback_names_the_package_that_has_the_error(package: str) -> None:
    module = importlib.import_module(package)
    errors = [
        one
        for one in (getattr(module, name) for name in dir(module))
        if isclass(one) and issubclass(one, Exception)
    ]
    assert errors
    assert [str(one) for one in errors] == [f"<class '{package}.{one.__name__}'>" for one in errors]


# ==== at awkward moments ====


def test_threads_that_want_the_same_name_at_once_get_the_same_class() -> None:
    program = """if True:
        import sys, threading, structsync
        sys.setswitchinterval(1e-6)
        start, found = threading.Barrier(8), []
        def want(names):
            start.wait()
            found.append({name: getattr(structsync, name) for name in names})
        names = [*structsync.__all__]
        orders = [names, names[::-1]] * 4
        threads = [threading.Thread(target=want, args=(order,)) for order in orders]
        [t.start() for t in threads]
        [t.join() for t in threads]
        same = all(one == found[0] for one in found) and len(found) == 8
        classes = [c for c in found[0].values() if isinstance(c, type)]
        print(same, *{c.__module__ for c in classes})
    """
    assert printed(program) == ["True", "structsync"]


def test_a_name_whose_import_was_interrupted_can_be_imported_again() -> None:
    program = """if True:
        import sys, structsync
        class Interrupting:
            wanted = "structsync._core.primitives.semaphore"
            def find_spec(self, name, path, target=None):
                if name == self.wanted:
                    self.wanted = None
                    raise KeyboardInterrupt
        sys.meta_path.insert(0, Interrupting())
        try:
            structsync.Semaphore
        except KeyboardInterrupt:
            print("interrupted", structsync.Semaphore(2).value, structsync.Semaphore.__module__)
    """
    assert printed(program) == ["interrupted", "2", "structsync"]


def test_a_program_that_imports_while_it_is_explored_is_deterministic() -> None:
    """The explorer has loaded every name before, so that none appears between two executions."""
    program = """if True:
        from structsync.testing import explore
        import structsync, trio

        absent = []

        async def two(x):
            absent[:] = [name for name in dir(structsync) if name not in vars(structsync)]
            semaphore = structsync.Semaphore(1)
            gate = structsync.Lock()
            async def worker():
                async with semaphore, gate:
                    await trio.lowlevel.checkpoint()
            async with trio.open_nursery() as nursery:
                nursery.start_soon(worker)
                nursery.start_soon(worker)

        print(explore(two, search="states").verdict.name, *absent)
    """
    assert printed(program) == ["CONFIRMED"]
