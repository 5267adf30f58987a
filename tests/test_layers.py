"""The modules of structsync import one way: down the floors of its folders, and never in a circle.

Every import counts: one inside of a function, and one for types only, because a reader follows them
too. The rules are functions from a tree of files to complaints, each of which names two modules, so
that a planted fault can show that the rule is able to complain.
"""

import ast
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

import structsync

PACKAGE = Path(structsync.__file__).parent
SPECS = Path(__file__).parents[1] / "specs"

Floors = Sequence[Sequence[str]]

# From the bottom to the top. A room is a folder or a single file. An import from one room into another
# goes to a lower floor, so the rooms of one floor know nothing of each other.
FLOORS: Floors = (
    ("_homes.py",),
    ("_naming.py",),
    ("_core/queue/", "report/", "_lazy.py", "_processes.py"),
    ("_core/primitives/", "checking/"),
    ("_core/monitors/", "_core/shared/"),
    ("_core/__init__.py",),
    ("_runtime/",),
    ("_primitives/",),
    ("lowlevel.py", "observing/"),
    ("__init__.py", "otel.py", "threads.py"),
    ("distributed/",),
    ("testing/_errors.py", "testing/_settings.py"),
    ("testing/_execution/", "testing/_result.py"),
    ("testing/_state/",),
    ("testing/_search/",),
    ("testing/_parallel/", "testing/_report/", "testing/_stateful/"),
    ("testing/_exploration.py",),
    ("testing/_existing.py",),
    ("testing/_runner.py",),
    ("testing/_explore.py", "testing/_pytest/", "testing/_command/"),
    ("testing/__init__.py",),
    # The rest of it is below: it also offers what holds programs against specs.
    ("checking/__init__.py",),
    ("_doctor.py", "_examples.py"),
    ("cli.py", "specs/"),
    ("__main__.py",),
)

# ==== reading ====

Arrows = dict[str, set[str]]
"""Which modules each module imports; all are called by their paths inside of the package."""


def files_of(package: Path, specs: Path | None = None) -> dict[str, Path]:
    """The modules of a package. The specifications are a part of it that stands elsewhere."""
    places = {"": package} if specs is None else {"": package, "specs/": specs}
    found = {
        prefix + path.relative_to(folder).as_posix(): path
        for prefix, folder in places.items()
        for path in sorted(folder.rglob("*.py"))
        if prefix or specs is None or not path.is_relative_to(package / "specs")
    }
    assert found, f"no Python file in {package}: this test would be green by emptiness"
    return found


def arrows_of(files: Mapping[str, Path], package: str) -> Arrows:
    names = {dotted(path, package): path for path in files}
    return {
        path: {names[one] for one in imported(path, file.read_text(), package, names)} - {path}
        for path, file in files.items()
    }


def dotted(path: str, package: str) -> str:
    return f"{package}/{path}".removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def imported(path: str, source: str, package: str, names: Mapping[str, str]) -> Iterator[str]:
    """The modules of the package that one of them imports, anywhere in its text."""
    here = f"{package}/{path}".split("/")[:-1]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in names)
        elif isinstance(node, ast.ImportFrom):
            above = here[: len(here) - node.level + 1] if node.level else []
            base = ".".join(filter(None, [*above, node.module]))
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                if inner in names or base in names:
                    yield inner if inner in names else base


# ==== the rules ====


def circles(arrows: Arrows) -> list[str]:
    """For each import from which imports lead back, the shortest circle; each circle once."""
    found: dict[frozenset[str], str] = {}
    for module, targets in sorted(arrows.items()):
        for target in sorted(targets):
            way = shortest_way(arrows, target, module)
            if way:
                found.setdefault(frozenset(way), " -> ".join([module, *way]))
    return sorted(found.values())


def shortest_way(arrows: Arrows, start: str, goal: str) -> list[str]:
    """The modules from one to another, both included; none if imports do not lead there."""
    ways = deque([[start]])
    seen = {start}
    while ways:
        way = ways.popleft()
        if way[-1] == goal:
            return way
        new = sorted(arrows[way[-1]] - seen)
        seen.update(new)
        ways += [[*way, one] for one in new]
    return []


def against_the_order(arrows: Arrows, floors: Floors) -> list[str]:
    """The imports from one room into another that do not go to a lower floor."""
    height = {room: number for number, floor in enumerate(floors) for room in floor}
    found = []
    for module, targets in sorted(arrows.items()):
        here = room_of(module, floors)
        for target in sorted(targets):
            there = room_of(target, floors)
            if here != there and height[here] <= height[there]:
                found.append(f"{module} -> {target}")
    return found


def room_of(module: str, floors: Floors) -> str:
    rooms = [room for floor in floors for room in floor if module.startswith(room)]
    rooms = [module] if module in rooms else rooms  # a file with a room of its own in a folder
    assert len(rooms) == 1, f"{module} is in the rooms {rooms}: give it one in FLOORS"
    return rooms[0]


def test_no_imports_run_in_a_circle() -> None:
    found = circles(arrows_of(files_of(PACKAGE, SPECS), "structsync"))
    assert not found, "\n".join(["these import each other:", *found])


def test_every_import_goes_to_a_lower_floor() -> None:
    found = against_the_order(arrows_of(files_of(PACKAGE, SPECS), "structsync"), FLOORS)
    assert not found, "\n".join(["these go to a floor that is not lower:", *found])


# ==== planted faults ====

LOW_AND_HIGH = (("low/",), ("high/", "beside/"))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A package that keeps the order; each test adds what does not."""
    for folder in ("low", "high", "beside"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "__init__.py").touch()
    (tmp_path / "low" / "a.py").write_text("import math\n")
    (tmp_path / "low" / "b.py").write_text("from .a import name\n")
    (tmp_path / "high" / "c.py").write_text("from pack.low import a, b\nimport pack.low.a\n")
    (tmp_path / "beside" / "d.py").write_text("from ..low.b import name\n")
    return tmp_path


def complaints(tree: Path) -> list[str]:
    arrows = arrows_of(files_of(tree), "pack")
    return circles(arrows) + against_the_order(arrows, LOW_AND_HIGH)


def test_a_tree_that_keeps_the_order_is_not_complained_about(tree: Path) -> None:
    assert complaints(tree) == []
    assert arrows_of(files_of(tree), "pack")["high/c.py"] == {"low/a.py", "low/b.py"}


TYPES_ONLY = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    "
LATE = "def function():\n    "


@pytest.mark.parametrize("when", ["", TYPES_ONLY, LATE], ids=["at once", "for types", "late"])
@pytest.mark.parametrize(
    "line",
    ["from .b import name", "from . import b", "import pack.low.b", "from pack.low import b"],
)
def test_a_circle_is_found(tree: Path, when: str, line: str) -> None:
    (tree / "low" / "a.py").write_text(when + line + "\n")
    assert complaints(tree) == ["low/a.py -> low/b.py -> low/a.py"]


def test_a_long_circle_is_found_once(tree: Path) -> None:
    (tree / "low" / "a.py").write_text("from .e import name\n")
    (tree / "low" / "e.py").write_text("from .b import name\n")
    assert complaints(tree) == ["low/a.py -> low/e.py -> low/b.py -> low/a.py"]


@pytest.mark.parametrize("when", ["", TYPES_ONLY, LATE], ids=["at once", "for types", "late"])
@pytest.mark.parametrize(
    "line",
    ["from ..high.e import name", "from pack.high import e", "import pack.high.e as e"],
)
def test_an_import_from_a_higher_floor_is_found(tree: Path, when: str, line: str) -> None:
    (tree / "high" / "e.py").touch()
    (tree / "low" / "a.py").write_text(when + line + "\n")
    assert complaints(tree) == ["low/a.py -> high/e.py"]


def test_an_import_from_a_folder_as_a_whole_is_found(tree: Path) -> None:
    (tree / "low" / "a.py").write_text("from ..high import name\n")
    assert complaints(tree) == ["low/a.py -> high/__init__.py"]


def test_an_import_from_another_room_of_the_same_floor_is_found(tree: Path) -> None:
    (tree / "beside" / "d.py").write_text("from pack.high.c import name\n")
    assert complaints(tree) == ["beside/d.py -> high/c.py"]


def test_a_module_without_a_room_is_found(tree: Path) -> None:
    (tree / "cellar.py").write_text("import pack.low.a\n")
    with pytest.raises(AssertionError, match=r"cellar\.py is in the rooms \[\]"):
        complaints(tree)


def test_no_package_is_not_green(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="green by emptiness"):
        files_of(tmp_path)
