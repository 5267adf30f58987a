"""Every test runs somewhere: no file is forgotten by the tiers, and no tier by tox."""

import re
from pathlib import Path

import pytest

from .tiers import LATE, TIERS, UNMEASURED, rows_of, tier_of

TESTS = Path(__file__).parent
FILES = sorted(TESTS.rglob("test_*.py"))
TOX = (TESTS.parent / "tox.ini").read_text()


def test_each_file_has_a_tier() -> None:
    assert len(FILES) > 100
    assert {tier_of(file) for file in FILES} == {"everywhere", "once", "slow"}


@pytest.mark.parametrize("name", ["pools/test_pool.py", "test_pools.py"])
def test_a_file_that_no_row_is_meant_for_is_refused(name: str) -> None:
    with pytest.raises(pytest.UsageError, match="does not say where it runs"):
        tier_of(TESTS / name)


def test_each_row_is_meant_for_a_test() -> None:
    meant_for = {file.relative_to(TESTS).as_posix() for file in FILES}
    meant_for |= {name.partition("/")[0] for name in meant_for}
    assert TIERS.keys() | UNMEASURED <= meant_for


def test_the_row_of_a_file_goes_before_that_of_its_folder() -> None:
    assert tier_of(TESTS / "explorer" / "test_engines.py") == "everywhere"
    assert tier_of(TESTS / "explorer" / "test_search.py") == "once"


def test_a_test_has_the_mark_of_its_tier(request: pytest.FixtureRequest) -> None:
    marks = {mark.name for mark in request.node.iter_markers()}
    assert marks & {"everywhere", "once", "slow", "unmeasured"} == {"once", "unmeasured"}


@pytest.mark.parametrize(
    ("expression", "rows"),
    [
        ("everywhere", {"everywhere"}),
        ("everywhere or once", {"everywhere", "once"}),
        ("(everywhere or once) and not unmeasured", {"everywhere", "once"}),
        ("", set()),
        ("everywhere or smoke", set()),
        ("(slow or unmeasured) and not late and not nightly", set()),
        ("nightly or late", set()),
        ("not everywhere", set()),
        ("everywhere and smoke", set()),
    ],
)
def test_a_file_is_passed_over_only_where_its_tier_decides(expression: str, rows: set[str]) -> None:
    assert rows_of(expression) == rows


def test_only_the_row_of_a_file_puts_its_tests_into_these_tiers() -> None:
    """Or a file that is passed over could hold a test that was asked for."""
    marked = re.compile(r"mark\.(everywhere|once)\b")
    assert [
        str(file) for file in TESTS.rglob("*.py") if marked.search(file.read_text(encoding="utf-8"))
    ] == []


def test_what_is_late_is_there_and_has_shorter_ones_beside_it() -> None:
    """That each one is there is seen by whoever runs them; here it is seen of their files and functions."""
    late = {one.partition("[")[0] for one in LATE}
    for name in late:
        file, _, function = name.partition("::")
        assert f"def {function}(" in (TESTS / file).read_text(encoding="utf-8"), name
    for file in {name.partition("::")[0] for name in late}:
        here = re.findall(
            r"^(?:async )?def (test_\w+)", (TESTS / file).read_text("utf-8"), re.MULTILINE
        )
        whole = {name.partition("::")[2] for name in LATE if name.startswith(f"{file}::")}
        assert set(here) - whole, f"no test of {file} is left for the gate"


def test_tox_runs_each_tier() -> None:
    chosen = re.findall(r"\{posargs:-m (\w+|\"[\w ()]+\") ", TOX)
    assert sorted(chosen) == [
        '"(everywhere or once) and not unmeasured"',
        '"(slow or unmeasured) and not late and not nightly"',
        '"everywhere or once"',
        '"everywhere or smoke"',
        '"nightly or late"',
        '"slow and not late and not nightly"',
        "everywhere",
    ]


def test_what_waits_runs_in_environments_of_its_own() -> None:
    """Where faults strike processes tests mostly wait, and several run at a time."""
    here, not_here = (
        re.findall(r"tests\{/\}(\w+)", line)
        for name in ("here", "not_here")
        for line in re.findall(rf"^{name} = (.*)$", TOX, re.MULTILINE)
    )
    assert here == not_here == ["distributed", "soak"]
    for name in ("here", "not_here"):
        chosen = re.findall(rf"posargs:-m (\"[^\"]*\"|\w+) [^\n]*faults\]{name}\}}", TOX)
        (measured,) = [one for one in chosen if "everywhere or once" in one]
        (beside,) = [one for one in chosen if "slow" in one]
        assert ("unmeasured" in measured) is ("unmeasured" in beside) is (name == "not_here")


def test_what_is_measured_is_counted() -> None:
    measured = re.findall(r"^ +(?:py313: )?coverage run ", TOX, re.MULTILINE)
    (counted,) = re.findall(r"^ +coverage combine --quiet (.*)$", TOX, re.MULTILINE)
    assert len(measured) == 2
    assert counted == "{work_dir}{/}py313 {work_dir}{/}distributed"
