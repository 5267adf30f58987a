"""Which changes are offered, and what is left alone."""

from __future__ import annotations

import ast
import sys
import textwrap
from pathlib import Path
from types import CodeType

import pytest

from .equivalents import equivalents
from .lines import TOOL, Recorder
from .mutants import Mutant, mutants_of
from .project import structsync


def mutants(source: str, folder: Path) -> list[Mutant]:
    file = folder / "module.py"
    file.write_text(textwrap.dedent(source))
    return mutants_of(file, "module.py")


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        ("if a == b: pass", {"if (a != b): pass", "if False: pass"}),
        ("if a and b: pass", {"if (a or b): pass", "if a: pass", "if b: pass"}),
        ("return not a", {"return a", "return None"}),
        ("return a < 1", {"return (a <= 1)", "return a < 2", "return a < 0"}),
        ("a.b = True", {"a.b = False", "pass"}),
        ("a.b += 1", {"a.b -= 1", "a.b += 2", "a.b += 0", "pass"}),
        ("a(b, c)", {"a(c, b)", "pass"}),
        ("raise ValueError(a, 1)", {"pass"}),
        ("return a if b else c", {"return a if (not (b)) else c"}),
        ("return [x for x in a if x]", {"return [x for x in a if True]"}),
    ],
)
def test_each_kind_of_change_is_offered(line: str, changed: set[str], tmp_path: Path) -> None:
    found = mutants(f"def f(a, b, c):\n    {line}\n", tmp_path)
    after = {one.apply((tmp_path / "module.py").read_bytes()).decode() for one in found}
    assert {f"def f(a, b, c):\n    {one}\n" for one in changed} <= after


def test_a_jump_becomes_the_other_jump(tmp_path: Path) -> None:
    found = mutants("def f(a):\n    for b in a:\n        break\n", tmp_path)
    assert {one.operator for one in found} == {"break to continue", "no break"}


def test_a_decorator_that_protects_is_taken_away(tmp_path: Path) -> None:
    found = mutants("@enable_ki_protection\ndef f(a):\n    return a\n", tmp_path)
    assert "no enable_ki_protection" in {one.operator for one in found}


@pytest.mark.parametrize(
    "source",
    [
        '"""A docstring, 1 of 2."""',
        "if TYPE_CHECKING:\n    x = 1",
        "T = TypeVar('T', bound=int | None)",
        "__slots__ = ('a', 1)",
        "def f(a: Literal[1] | None) -> Literal[True]: ...",
        "def __repr__(self):\n    return str(1 + 2)",
        "@abstractmethod\ndef f(self):\n    return 1",
        "def f(a):\n    x = f'{a + 1}'",
        "def f(a):\n    assert a > 1",
        "def f(a):\n    x = 1  # pragma: no cover",
    ],
)
def test_what_only_people_and_type_checkers_read_is_left_alone(source: str, tmp_path: Path) -> None:
    assert mutants(source, tmp_path) == []


def test_the_message_of_an_error_is_left_alone(tmp_path: Path) -> None:
    found = mutants("def f(a):\n    raise ValueError(a + 1, not a)\n", tmp_path)
    assert [one.operator for one in found] == ["no raise"]


def test_a_change_of_a_call_over_several_lines_is_told_on_one(tmp_path: Path) -> None:
    found = mutants("def f(a):\n    a(\n        1,\n        not a,\n    )\n", tmp_path)
    (one,) = (one for one in found if one.operator == "no not")
    assert one.diff == "a( 1, not a, )  =>  a( 1, a, )"
    assert one.lines == (2, 3, 4, 5)


def test_comments_are_no_part_of_what_is_changed(tmp_path: Path) -> None:
    source = "def f(a):\n    if a(  # 'ä' 1\n        not a,\n    ):  # 2\n        return a\n"
    (one,) = (one for one in mutants(source, tmp_path) if one.operator == "no not")
    assert one.diff == "if a( not a, ):  =>  if a( a, ):"
    assert "# 'ä' 1" in one.apply((tmp_path / "module.py").read_bytes()).decode()


def test_a_default_is_run_by_the_task_that_runs_the_body(tmp_path: Path) -> None:
    found = mutants("def f(a=1):\n    b = a\n    return b\n", tmp_path)
    assert {one.lines for one in found if "def" in one.before} == {(2, 3)}


def test_columns_after_letters_of_several_bytes_are_right(tmp_path: Path) -> None:
    found = mutants("def f(a):\n    return g('ä', a == 1)\n", tmp_path)
    (one,) = (one for one in found if one.operator == "== to !=")
    assert one.after == "return g('ä', (a != 1))"


def test_every_mutant_of_the_package_is_python_has_an_id_of_its_own_and_differs() -> None:
    project = structsync()
    found = project.mutants()
    assert len(found) > 1000
    assert len({one.id for one in found}) == len(found)
    # to parse each takes minutes; one of each kind is enough
    some = {one.operator: one for one in found}.values()
    for one in some:
        source = (project.package / one.file).read_bytes()
        changed = one.apply(source)
        ast.parse(changed)
        assert changed != source, one.id


def test_each_entry_of_the_list_of_equivalent_mutants_matches_one() -> None:
    project = structsync()
    equivalents(project.equivalents, project.mutants())


@pytest.mark.skipif(sys.version_info < (3, 12), reason="lines are found with sys.monitoring")
@pytest.mark.parametrize("once", [True, False])
def test_a_line_is_looked_at_once_or_as_often_as_it_runs(tmp_path: Path, once: bool) -> None:
    seen: list[int] = []

    class Counting(Recorder):
        def _line(self, code: CodeType, line: int) -> object:
            seen.append(line)
            return super()._line(code, line)

    recorder = Counting(tmp_path, ("core/",), once=once)
    try:
        file = tmp_path / "core" / "maths.py"
        code = compile("for number in range(3):\n    double = 2 * number\n", file, "exec")
        exec(recorder.watch(file, code), {})
        assert recorder.take() == {("core/maths.py", 1), ("core/maths.py", 2)}
        assert seen.count(2) == (1 if once else 3)
    finally:
        sys.monitoring.free_tool_id(TOOL)
