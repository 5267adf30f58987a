"""What the package promises as a whole: where it comes from, what its parts import, what it exports.

Each rule is a function from source text to complaints, so that a planted fault can show that the rule
is able to complain.
"""

import ast
import enum
import importlib
import importlib.metadata
import inspect
import os
import pickle
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import structsync

from .public_names import PUBLIC

ROOT = Path(__file__).parents[1]
PACKAGE = Path(structsync.__file__).parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())

# The modules that may touch trio's scheduler; the first says for which versions of trio.
SCHEDULER = [PACKAGE / "testing" / "_execution" / f"{one}.py" for one in ("loop_engine", "runner")]
# Classes that users are meant to subclass.
BASES = {
    *("Arbiter", "CoreRequest", "EntryDecorator", "Primitive", "PrimitiveStatistics", "Monitor"),
    "WithoutArguments",
}

in_tox = pytest.mark.skipif("TOX_ENV_NAME" not in os.environ, reason="tox installs the wheel")


def sources(folder: Path) -> list[Path]:
    found = sorted(folder.rglob("*.py"))
    assert found, f"no Python file in {folder}: this test would be green by emptiness"
    return found


def imported_modules(tree: ast.AST) -> Iterator[str]:
    """Absolute names of everything imported; of ``from a import b`` both ``a`` and ``a.b``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


# ==== the installed package is what is tested ====


@in_tox
def test_the_installed_wheel_is_tested() -> None:
    assert "site-packages" in PACKAGE.parts
    assert ROOT / "structsync" != PACKAGE
    assert str(ROOT) not in sys.path


@in_tox
def test_the_wheel_carries_the_specifications_and_the_type_marker() -> None:
    shipped = PACKAGE / "specs"
    for source in [*sources(ROOT / "specs"), ROOT / "specs" / "manifest.toml"]:
        copy = shipped / source.relative_to(ROOT / "specs")
        assert copy.read_bytes() == source.read_bytes()
    assert (PACKAGE / "py.typed").is_file()


@in_tox
def test_the_version_has_a_single_home() -> None:
    version = PYPROJECT["project"]["version"]
    assert importlib.metadata.version("structsync") == version
    others = [ROOT / "README.md", ROOT / "tox.ini", ROOT / "docs" / "conf.py"]
    for path in [*sources(PACKAGE), *others]:
        assert version not in path.read_text(), f"{path} repeats the version"


def test_the_version_can_be_read_from_the_package() -> None:
    assert structsync.__version__ == importlib.metadata.version("structsync")
    with pytest.raises(AttributeError, match=r"^module 'structsync' has no attribute 'versoin'$"):
        structsync.versoin  # type: ignore[attr-defined]  # noqa: B018 - the mistake is the test


def test_the_package_is_the_command() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "structsync", "--version"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert ran.stdout == f"python -m structsync, version {structsync.__version__}\n"


def test_importing_the_library_imports_no_tool() -> None:
    """What the command line, the reports and the tests need is loaded by those alone."""
    program = "import sys, structsync; print(*sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    tools = {"click", "hypothesis", "importlib.metadata", "jinja2", "pytest", "rich", "unittest"}
    assert tools & {*ran.stdout.split()} == set()


def test_the_oldest_environment_pins_each_declared_lower_bound() -> None:
    declared = {d.replace(">=", "==") for d in PYPROJECT["project"]["dependencies"]}
    oldest = (ROOT / "tox.ini").read_text().partition("[testenv:oldest]")[2].partition("\n[")[0]
    assert declared == set(re.findall(r"^ +(\S+==\S+)$", oldest, re.MULTILINE))


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


# ==== exports ====


def test_every_export_exists_once_and_nothing_private_is_exported() -> None:
    exports = list(PUBLIC)
    assert len(exports) == len(set(exports))
    for name in exports:
        assert not name.startswith("_")
        getattr(structsync, name)


def test_what_is_public_says_where_it_is_imported_from() -> None:
    for name in PUBLIC:
        thing = getattr(structsync, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert (thing.__module__, thing.__qualname__) == ("structsync", name)
            assert pickle.loads(pickle.dumps(thing)) is thing
    assert str(structsync.Lock) == "<class 'structsync.Lock'>"


def meant_as_a_base(cls: type) -> bool:
    # Enums with members are final by themselves; exceptions are caught by their bases.
    return cls.__name__ in BASES or issubclass(cls, BaseException | enum.Enum)


def test_every_public_class_is_final_unless_meant_as_a_base() -> None:
    classes = [c for name in PUBLIC if inspect.isclass(c := getattr(structsync, name))]
    extendable = [c for c in classes if not meant_as_a_base(c)]
    assert [c.__name__ for c in extendable if not getattr(c, "__final__", False)] == []


# ==== the README ====


def relative_targets(text: str) -> list[str]:
    """Return what a page in Markdown links to, or shows, in the place where it stands."""
    return re.findall(r'(?:\]\(|(?:src|srcset)=")(?!https?://)([^)"]+)', text)


@in_tox
def test_an_index_shows_the_readme_without_links_that_lead_nowhere_there() -> None:
    assert relative_targets((ROOT / "README.md").read_text()) != []
    shown = importlib.metadata.metadata("structsync").json["description"]
    assert isinstance(shown, str)
    assert "## A first program" in shown
    assert relative_targets(shown) == []


def test_the_readme_and_the_ci_run_the_same_test_command() -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("the CI script needs bash")
    shown = subprocess.run(
        [bash, ROOT / ".ci" / "run", "--show"], check=True, capture_output=True, text=True
    )
    blocks = re.findall(
        r"^```sh\n(.*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL
    )
    assert [block for block in blocks if "tox" in block] == [shown.stdout]
    assert re.search(r"tox run-parallel$", shown.stdout)


def test_the_workflow_runs_the_same_on_each_declared_python() -> None:
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    assert re.findall(r"^ +- run: (.*)$", text, re.MULTILINE) == [".ci/run"]
    declared = re.findall(
        r":: (3\.\d+)$", "\n".join(PYPROJECT["project"]["classifiers"]), re.MULTILINE
    )
    installed = re.findall(r"^ +(3\.\d+)$", text, re.MULTILINE)
    assert sorted(installed) == sorted(declared)


def test_the_first_program_of_the_readme_runs() -> None:
    if not PUBLIC:
        pytest.skip("nothing is exported yet")
    readme = (ROOT / "README.md").read_text()
    program, *_ = re.findall(r"^```python\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], check=True, capture_output=True, text=True
    )
    lines = ran.stdout.splitlines()
    assert lines == ["small has 1", "large has 3", "late has 1"]
    assert "It prints " + ", ".join(f"`{line}`" for line in lines) in readme
