"""What follows the built pages notices code that does not run when it is pasted."""

from __future__ import annotations

from pathlib import Path

import pytest

from .follow_pages import follow, main

CODE = '<div class="highlight-python notranslate"><div class="highlight"><pre>{}</pre></div></div>'
SESSION = (
    '<div class="highlight-pycon notranslate"><div class="highlight"><pre>{}</pre></div></div>'
)
FILE = '<a class="reference download internal" download="" href="../_downloads/1/{0}"><span>a/{0}</span></a>'


def built(tmp_path: Path, *parts: str) -> Path:
    page = tmp_path / "how-to" / "page.html"
    page.parent.mkdir()
    page.write_text("".join(parts), encoding="utf-8")
    return page


def test_a_name_that_the_page_does_not_show_is_missed(tmp_path: Path) -> None:
    page = built(tmp_path, CODE.format("x = 1\n"), CODE.format("print(x, hidden)\n"))
    assert "name 'hidden' is not defined" in str(follow(page))


def test_blocks_and_sessions_share_their_names(tmp_path: Path) -> None:
    session = SESSION.format("&gt;&gt;&gt; y = x + 1\n&gt;&gt;&gt; y\n2\n")
    assert (
        follow(built(tmp_path, CODE.format("x = 1\n"), session, CODE.format("assert y == 2")))
        is None
    )


def test_an_error_that_the_page_shows_is_none(tmp_path: Path) -> None:
    shown = "&gt;&gt;&gt; 1 / 0\nTraceback (most recent call last):\n  ...\nZeroDivisionError: by zero\n"
    assert follow(built(tmp_path, SESSION.format(shown))) is None


def test_files_that_the_page_offers_lie_beside_its_code(tmp_path: Path) -> None:
    (tmp_path / "_downloads" / "1").mkdir(parents=True)
    (tmp_path / "_downloads" / "1" / "offered.py").write_text("x = 1\n")
    code = CODE.format("from offered import x\n")
    page = built(tmp_path, FILE.format("offered.py"), code)
    assert follow(page) is None
    page.write_text(code)
    assert "No module named 'offered'" in str(follow(page))


def test_a_build_is_red_with_a_bad_page_and_without_pages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(tmp_path) == 1
    page = built(tmp_path, CODE.format("x = 1\n"))
    assert main(tmp_path) == 0
    page.write_text(CODE.format("hidden\n"))
    assert main(tmp_path) == 1
    assert "page.html cannot be followed" in capsys.readouterr().out
