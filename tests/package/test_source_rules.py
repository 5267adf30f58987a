"""What no source of the package may have: imports that its part forbids, private names of trio, empty docstrings.

Each rule is a function from source text to complaints, so that a planted fault can show that the rule
is able to complain.
"""

import ast
import re
import sys
from collections.abc import Iterator

import pytest

from tests.sources import PACKAGE, ROOT, sources

# The modules that may touch trio's scheduler; the first says for which versions of trio.
SCHEDULER = [PACKAGE / "testing" / "_execution" / f"{one}.py" for one in ("loop_engine", "runner")]


def imported_modules(tree: ast.AST) -> Iterator[str]:
    """Absolute names of everything imported; of ``from a import b`` both ``a`` and ``a.b``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


# ==== imports ====


def foreign_imports(source: str) -> list[str]:
    """What a module of the pure core imports beyond the standard library and the core itself."""
    tree = ast.parse(source)
    outside = [
        name
        for name in imported_modules(tree)
        if name.partition(".")[0] not in sys.stdlib_module_names
        and not name.startswith("structsync._core")
    ]
    # two dots leave the folder
    upward = [
        "." * node.level + (node.module or "")
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.level > 1
    ]
    return outside + upward


def test_the_core_imports_the_standard_library_alone() -> None:
    for path in sources(PACKAGE / "_core"):
        assert foreign_imports(path.read_text()) == [], path


@pytest.mark.parametrize(
    "source",
    [
        "import trio",
        "from trio import lowlevel",
        "from ... import _runtime",
        "import structsync._runtime.parking",
    ],
)
def test_a_foreign_import_in_the_core_is_found(source: str) -> None:
    assert foreign_imports("import math\nfrom .arbiter import Arbiter\n" + source)


def sleepers(name: str) -> set[str]:
    """Return the modules of the library proper that use a name of ``trio.lowlevel``."""
    return {
        path.stem
        for path in sources(PACKAGE)
        if "testing" not in path.relative_to(PACKAGE).parts and name in path.read_text()
    }


def test_six_modules_park_and_one_wakes() -> None:
    waits_in_queues = {"parking", "parking_together", "items"}
    waits_for_threads = {"deputy", "errand"}
    waits_for_logs = {"outcomes"}
    parking = waits_in_queues | waits_for_threads | waits_for_logs
    assert sleepers("wait_task_rescheduled") == parking
    assert sleepers("reschedule(") == {"waking"}


def private_names_of_trio(source: str) -> list[str]:
    """Imports of, and attribute chains to, names of trio that start with one underscore."""
    tree = ast.parse(source)
    bound: dict[str, str] = {}  # what a name of this module stands for
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            bound |= {alias.asname: alias.name for alias in node.names if alias.asname}
        elif isinstance(node, ast.ImportFrom):
            bound |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
    dotted = list(imported_modules(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            first, dot, rest = ast.unparse(node).partition(".")
            dotted.append(bound.get(first, first) + dot + rest)
    return [name for name in dotted if re.match(r"trio\.(\w+\.)*_(?!_)", name)]


def test_only_the_scheduler_uses_private_names_of_trio() -> None:
    for path in sources(PACKAGE):
        if path not in SCHEDULER:
            assert private_names_of_trio(path.read_text()) == [], path


@pytest.mark.parametrize(
    "source",
    [
        "import trio._core",
        "from trio import _core",
        "from trio._sync import Lock",
        "from trio.lowlevel import _thing",
        "trio._core.GLOBAL_RUN_CONTEXT.runner",
        "trio.lowlevel._thing()",
        "from trio import lowlevel as low\nlow._thing()",
    ],
)
def test_a_private_name_of_trio_is_found(source: str) -> None:
    assert private_names_of_trio(source)
    assert not private_names_of_trio("import trio\ntrio.__version__\ntrio.Lock()._x\nself._trio")


# Modules that Python has on some systems only.
OF_SOME_SYSTEMS = {
    "fcntl",
    "grp",
    "msvcrt",
    "posix",
    "pty",
    "pwd",
    "resource",
    "termios",
    "tty",
    "winreg",
}


def imports_of_some_systems(source: str) -> list[str]:
    """What a module imports when it is imported itself, and cannot be imported everywhere."""
    functions = ast.FunctionDef | ast.AsyncFunctionDef
    tree = ast.parse(source)
    later = {id(n) for one in ast.walk(tree) if isinstance(one, functions) for n in ast.walk(one)}
    return [
        name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom) and id(node) not in later
        for name in imported_modules(ast.Module([node], []))
        if name in OF_SOME_SYSTEMS
    ]


def test_the_package_can_be_imported_on_every_system() -> None:
    for path in sources(PACKAGE):
        assert imports_of_some_systems(path.read_text()) == [], path


def test_an_import_that_some_systems_do_not_have_is_found() -> None:
    assert imports_of_some_systems("if True:\n    from termios import x\nimport tty") == [
        "tty",
        "termios",
    ]
    assert not imports_of_some_systems("def f():\n    import tty\nimport signal")


# ==== docstrings ====


def placeholder_docstrings(source: str) -> list[str]:
    """Definitions whose docstring says nothing. No docstring at all is allowed."""
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    return [
        getattr(node, "name", "the module")
        for node in ast.walk(ast.parse(source))
        if isinstance(node, kinds)
        and (text := ast.get_docstring(node)) is not None
        and re.match(r"\W*$|\W*(todo|fixme|xxx|tbd|docstring|description)\b", text, re.IGNORECASE)
    ]


def test_no_docstring_is_a_placeholder() -> None:
    for path in [*sources(PACKAGE), *sources(ROOT / "tests")]:
        assert placeholder_docstrings(path.read_text()) == [], path


@pytest.mark.parametrize("text", ["", "...", "TODO", "TODO: later", "  .", "FIXME (see the issue)"])
def test_a_placeholder_docstring_is_found(text: str) -> None:
    assert placeholder_docstrings(f'def f():\n    """{text}"""') == ["f"]
    assert not placeholder_docstrings('def f():\n    """Wait."""\ndef g(): ...')
