"""What the package promises as a whole: where it comes from, what it exports, what its README shows."""

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
from types import ModuleType

import pytest

import structsync
from structsync._naming import name_after

from .public_names import PUBLIC
from .sources import PACKAGE, ROOT, sources

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())

# Classes that users are meant to subclass.
BASES = {
    *("Arbiter", "CoreRequest", "EntryDecorator", "Primitive", "PrimitiveStatistics", "Monitor"),
    "WithoutArguments",
}

in_tox = pytest.mark.skipif("TOX_ENV_NAME" not in os.environ, reason="tox installs the wheel")


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


def test_a_dataclass_whose_module_another_thread_still_imports_is_named_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = ModuleType("structsync._half")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    beginning = """if True:
        from dataclasses import dataclass

        @dataclass
        class Half:
            rest: "Rest"
    """
    exec(beginning, vars(module))
    half = vars(module)["Half"]
    assert not name_after("structsync", "Half", half)
    assert half.__module__ == "structsync._half"
    vars(module)["Rest"] = int
    assert name_after("structsync", "Half", half)
    assert half.__module__ == "structsync"
    assert half.__annotations__ == {"rest": int}


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
