"""What the plugin costs in a run of pytest that explores nothing: next to nothing."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

import structsync.testing

from .test_pytest_inside import Ran, run

TELL = """
    import sys

    def pytest_unconfigure(config):
        with open("notes", "w") as file:
            file.write("\\n".join(sys.modules))
"""
ORDINARY = """
    def test_ordinary():
        pass
"""
EXPLORED = """
    import trio
    from structsync.testing import explore

    @explore()
    async def test_explored():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.lowlevel.checkpoint)
            nursery.start_soon(trio.lowlevel.checkpoint)
"""
HEAVY = {
    "jinja2",
    "rich",
    "structsync.checking",
    "structsync.report",
    "structsync.testing._explore",
}


def loaded(ran: Ran) -> set[str]:
    """The modules that a run of pytest has imported; its conftest writes them down."""
    assert ran.outcomes == {"passed": 1}, ran.printed
    return {*ran.notes}


def test_the_explorer_is_not_imported_where_nothing_is_explored(tmp_path: Path) -> None:
    ran = run(tmp_path, ORDINARY, "--explore-seconds=5", head="", conftest=TELL, autoload=True)
    ours = {name for name in loaded(ran) if name.startswith("structsync.testing")}
    plugin = (
        "",
        "._pytest",
        "._pytest.all_summary",
        "._pytest.collect",
        "._pytest.hangs",
        "._pytest.plugin",
        "._pytest.summary_lines",
    )
    assert ours == {f"structsync.testing{name}" for name in plugin}
    assert not HEAVY & loaded(ran)


def test_the_explorer_is_imported_for_an_explored_test(tmp_path: Path) -> None:
    """Else the test above would be green because it does not look."""
    assert loaded(run(tmp_path, EXPLORED, head="", conftest=TELL, autoload=True)) >= HEAVY


def test_each_public_name_is_known_to_type_checkers_and_at_run_time() -> None:
    tree = ast.parse(inspect.getsource(structsync.testing))
    block = next(one for one in tree.body if isinstance(one, ast.If))
    typed = {
        alias.name: f"structsync.testing.{node.module}" if node.level else node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname == alias.name
    }
    assert typed == structsync.testing._HOMES
    assert {*typed} <= {*dir(structsync.testing)}
    for name in typed:
        assert getattr(structsync.testing, name).__name__ == name


def test_a_name_that_does_not_exist_is_an_error_for_every_caller() -> None:
    """For mypy too, as long as it finds something to ignore here."""
    with pytest.raises(AttributeError, match="has no attribute 'exlpore'"):
        structsync.testing.exlpore  # type: ignore[attr-defined]  # noqa: B018 - the mistake
