"""The pages hold together: their code runs, their files exist, and nothing is left out of a menu.

Sphinx finds dead references while it builds. These rules hold where it does not look; each is a
function from text to complaints, so that a planted slip can show that it is able to complain.
"""

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.rst") if "news" not in page.parts)
MARKDOWN = [ROOT / "README.md", ROOT / "examples" / "README.md"]
# What stands before a year, too.
MONTHS = {"October", "November", "December"}
# Code in these blocks is run by Sphinx' doctest builder, or is a file that a test runs.
UNRUN = re.compile(
    r"^ *\.\. (?:code-block|code|sourcecode|parsed-literal)::.*$|^(?! *\.\. ).*\S::$", re.MULTILINE
)


def unrun_code(text: str) -> list[str]:
    """Return the blocks of code that nothing runs."""
    return [found.group().strip() for found in UNRUN.finditer(text)]


def missing_files(text: str, folder: Path) -> list[str]:
    """Return the files that a page names and the repository lacks."""
    included = re.findall(r"^ *\.\. (?:literal)?include:: (\S+)", text, re.MULTILINE)
    named = re.findall(r"``((?:examples|specs|docs|tests|structsync)/[\w/]+\.\w+)``", text)
    commands = re.findall(r"^ *\.\. (?:ran|picture-of):: (.*)", text, re.MULTILINE)
    commands = [word for one in commands for word in one.split() if word.startswith("examples/")]
    here = [DOCS / name[1:] if name.startswith("/") else folder / name for name in included]
    wanted = [*here, *(ROOT / name for name in [*named, *commands])]
    return [str(path) for path in wanted if not path.exists()]


def missing_targets(text: str, folder: Path) -> list[str]:
    """Return the relative links of a Markdown page that lead nowhere."""
    links: Iterable[str] = re.findall(r"\]\(([^)#\s]+)[^)]*\)", text)
    return [one for one in links if "://" not in one and not (folder / one).exists()]


def unlisted(index: str, names: Iterable[str]) -> list[str]:
    """Return the pages of a folder that its index does not list."""
    listed = re.findall(r"^   ([\w-]+)$", index, re.MULTILINE)
    return sorted({*names} - {*listed})


def cited(text: str) -> set[str]:
    """Return the works that a text names, each by authors and year."""
    author = r"[^\W\d_a-z][\w-]+"
    names = rf"(?:{author} and others|(?:{author}, )*{author} and {author}|{author})"
    found = re.findall(rf"\b({names}) ((?:19|20)\d\d)\b", " ".join(text.split()))
    return {f"{one} {year}" for one, year in found if one not in MONTHS}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_a_page_shows_no_code_that_nothing_runs(page: Path) -> None:
    assert unrun_code(page.read_text()) == []


@pytest.mark.parametrize("text", [".. code-block:: python\n\n   f()\n", "Do this::\n\n   f()\n"])
def test_code_that_nothing_runs_is_found(text: str) -> None:
    assert unrun_code(text)
    assert not unrun_code(".. testcode::\n\n   f()\n\n.. literalinclude:: /../examples/a.py\n")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_every_file_that_a_page_names_exists(page: Path) -> None:
    assert missing_files(page.read_text(), page.parent) == []


@pytest.mark.parametrize(
    "text",
    [
        ".. literalinclude:: /../examples/gone.py\n",
        "see ``examples/gone.py``",
        ".. ran:: structsync check examples/gone.py\n",
        ".. ran:: pytest -q examples/gone\n",
        ".. picture-of:: examples/gone.py\n",
    ],
)
def test_a_named_file_that_does_not_exist_is_found(text: str) -> None:
    assert missing_files(text, DOCS)


@pytest.mark.parametrize("page", MARKDOWN, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_links_of_the_readme_lead_somewhere(page: Path) -> None:
    assert missing_targets(page.read_text(), page.parent) == []


def test_a_link_that_leads_nowhere_is_found() -> None:
    assert missing_targets("[a](docs/gone.rst) [b](https://example.org)", ROOT) == ["docs/gone.rst"]


@pytest.mark.parametrize("folder", ["tutorial", "how-to", "reference", "explanation"])
def test_the_menu_of_a_folder_lists_all_of_its_pages(folder: str) -> None:
    names = [page.stem for page in (DOCS / folder).glob("*.rst") if page.stem != "index"]
    assert names
    assert unlisted((DOCS / folder / "index.rst").read_text(), names) == []


def test_a_page_that_no_menu_lists_is_found() -> None:
    assert unlisted(".. toctree::\n\n   listed\n", ["listed", "hidden"]) == ["hidden"]


def test_every_work_that_is_cited_is_in_the_bibliography_and_every_entry_is_cited() -> None:
    entries = re.findall(r"^(\S.* \d{4})$", (DOCS / "bibliography.rst").read_text(), re.MULTILINE)
    code = [path for folder in ("structsync", "specs") for path in (ROOT / folder).rglob("*.py")]
    pages = [page for page in PAGES if page.name != "bibliography.rst"]
    named = set[str]().union(*(cited(path.read_text()) for path in [*code, *pages]))
    assert named == {*entries}


def test_a_work_is_cited_by_its_authors_and_its_year() -> None:
    text = "Frølund and Agha 1993, synchronizers; Courtois, Heymans and Parnas\n1971; Hoare 1974; in November 2026"
    assert cited(text) == {
        "Frølund and Agha 1993",
        "Courtois, Heymans and Parnas 1971",
        "Hoare 1974",
    }
    assert cited("Martins and others 2020") == {"Martins and others 2020"}


def test_each_question_stands_alone_above_its_answer() -> None:
    _, *entries = (DOCS / "faq.rst").read_text().rstrip().split("\n\n")
    for entry in entries:
        question, *answer = entry.splitlines()
        assert question.endswith("?"), entry
        assert answer, entry
        assert all(line.startswith("   ") for line in answer), entry
