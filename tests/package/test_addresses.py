"""One home for the public addresses: what links to us links to what ``[project.urls]`` names."""

from __future__ import annotations

import importlib.metadata
import os
import re
from pathlib import Path

import pytest

from . import addresses

ROOT = Path(__file__).parents[2]
TABLES = addresses.project(ROOT)
URLS: dict[str, str] = TABLES["project"]["urls"]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_each_mention_of_our_address_is_one_of_the_project() -> None:
    found = {page: page.read_text(encoding="utf-8") for page in addresses.files(ROOT)}
    assert ROOT / "README.md" in found
    assert ROOT / ".github" / "ISSUE_TEMPLATE" / "config.yml" in found
    wrong = {str(page): addresses.strangers(text, URLS) for page, text in found.items()}
    assert {page: each for page, each in wrong.items() if each} == {}


@pytest.mark.parametrize(
    "address",
    [
        "https://github.com/structsink/structsync",
        "https://structsync.io/en/latest/",
        "http://structsync.readthedocs.io/",
        "https://raw.githubusercontent.com/another/structsync/main/a.svg",
    ],
)
def test_another_address_is_found(address: str) -> None:
    assert addresses.strangers(f"see <{address}>", URLS) == [address]
    assert addresses.strangers(f"see {URLS['Source']}/issues, {URLS['Documentation']}", URLS) == []


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", "SECURITY.md", "examples/README.md", "specs/README.md"]
)
def test_a_link_to_the_documentation_names_a_page_that_is_built(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert addresses.missing_pages(text, URLS["Documentation"], ROOT / "docs") == []


@pytest.mark.parametrize(
    "end",
    [
        "/en/latest/gone.html",
        "/en/latest/index.rst",
        "/latest/index.html",
        "/en/latest/news/README.html",
    ],
)
def test_a_link_to_a_page_that_is_not_built_is_found(end: str) -> None:
    base = URLS["Documentation"]
    good = (
        f"[a]({base}/en/latest/how-to/index.html#top) [b]({base}/en/stable/index.html) [c]({base})"
    )
    assert addresses.missing_pages(good, base, ROOT / "docs") == []
    assert addresses.missing_pages(f"{good} [d]({base}{end})", base, ROOT / "docs") == [base + end]


def source_pages(text: str) -> list[str]:
    """Return the links to sources of pages, whose directives the repository's site does not render."""
    return [one for one in addresses.links(text) if re.match(r"(?!https?:|docs/news/).*\.rst", one)]


def test_the_readme_leads_to_no_source_of_a_page() -> None:
    assert source_pages(README) == []
    assert source_pages((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")) == []
    assert source_pages(
        "[a](docs/index.rst) [b](docs/news/README.rst) [c](https://a.org/b.rst)"
    ) == ["docs/index.rst"]


def test_an_index_shows_the_readme_with_links_to_the_tag_and_to_the_newest_release() -> None:
    shown = addresses.as_an_index_shows(README, TABLES)
    tag = f"{URLS['Source']}/blob/v{TABLES['project']['version']}/"
    picture = tag.replace("github.com", "raw.githubusercontent.com").replace("/blob/", "/")
    for one in addresses.links(README):
        if one.startswith("#"):
            assert f"]({one})" in shown
        elif "://" not in one:
            place = picture if one.endswith(".svg") else tag
            assert (ROOT / one).exists()
            assert f"]({place}{one})" in shown or one.endswith("-dark.svg")
    assert all("://" in one or one.startswith("#") for one in addresses.links(shown))
    assert "<picture>" not in shown
    assert "/en/latest/" in README
    assert "/en/latest/" not in shown


@pytest.mark.skipif("TOX_ENV_NAME" not in os.environ, reason="tox installs the wheel")
def test_the_wheel_has_the_readme_that_an_index_shows() -> None:
    shown = importlib.metadata.metadata("structsync").json["description"]
    assert isinstance(shown, str)
    assert shown.strip() == addresses.as_an_index_shows(README, TABLES).strip()


def test_the_addresses_of_a_release_are_requested(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(addresses, "complaint", asked.append)
    assert addresses.main(ROOT) == 0
    assert capsys.readouterr().out.split()[0] == str(len(asked))
    assert {*URLS.values()} <= {*asked}
    tagged = f"{URLS['Source']}/blob/v{TABLES['project']['version']}/CONTRIBUTING.md"
    assert {tagged, f"{URLS['Documentation']}/en/stable/glossary.html"} <= {*asked}
    monkeypatch.setattr(addresses, "complaint", lambda url: f"{url}: gone")
    assert addresses.main(ROOT) == 1
    assert f"{tagged}: gone" in capsys.readouterr().out


def test_a_page_that_does_not_answer_is_named(tmp_path: Path) -> None:
    there = tmp_path / "page.html"
    there.touch()
    assert addresses.complaint(there.as_uri()) is None
    gone = (tmp_path / "gone.html").as_uri()
    assert str(addresses.complaint(gone)).startswith(f"{gone}: ")


def test_the_documentation_is_built_elsewhere_from_the_same_parts() -> None:
    recipe = (ROOT / ".readthedocs.yaml").read_text(encoding="utf-8")
    tox = (ROOT / "tox.ini").read_text(encoding="utf-8")
    extras = "".join(re.findall(r"^extras = (.+)$", tox, re.MULTILINE)[0].split())
    assert f'--group docs ".[{extras}]"' in recipe
    assert "configuration: docs/conf.py" in recipe
    assert "fail_on_warning: true" in recipe
