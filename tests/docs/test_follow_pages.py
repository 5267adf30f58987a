"""What follows the built pages notices code that does not run when it is pasted."""

from __future__ import annotations

from pathlib import Path

import pytest

from .follow_pages import follow, main

CODE = '<div class="highlight-python notranslate"><div class="highlight"><pre>{}</pre></div></div>'
SESSION = (
    '<div class="highlight-pycon notranslate"><div class="highlight"><pre>{}</pre></div></div>'
)
COMMAND = '<div class="exit-{} ran highlight-text notranslate"><pre>$ {}\n...\n</pre></div>'
FILE = '<a class="reference download internal" download="" href="../_downloads/1/{0}"><span>a/{0}</span></a>'


def built(tmp_path: Path, *parts: str) -> Path:
    page = tmp_path / "how-to" / "page.html"
    page.parent.mkdir()
    page.write_text("".join(parts), encoding="utf-8")
    return page


def captioned(caption: str, text: str) -> str:
    return f'<div class="code-block-caption"><span>{caption}</span></div>{CODE.format(text)}'


def offered(tmp_path: Path, name: str, text: str) -> str:
    """Return the link to a file that a page offers."""
    (tmp_path / "_downloads" / "1").mkdir(parents=True, exist_ok=True)
    (tmp_path / "_downloads" / "1" / name).write_text(text)
    return FILE.format(name)


def met(page: Path) -> str | None:
    return follow(page)[1]


def test_a_name_that_the_page_does_not_show_is_missed(tmp_path: Path) -> None:
    page = built(tmp_path, CODE.format("x = 1\n"), CODE.format("print(x, hidden)\n"))
    assert "name 'hidden' is not defined" in str(met(page))


def test_blocks_and_sessions_share_their_names(tmp_path: Path) -> None:
    session = SESSION.format("&gt;&gt;&gt; y = x + 1\n&gt;&gt;&gt; y\n2\n")
    page = built(tmp_path, CODE.format("x = 1\n"), session, CODE.format("assert y == 2"))
    assert follow(page) == (4, None)


def test_an_error_that_the_page_shows_is_none(tmp_path: Path) -> None:
    shown = "&gt;&gt;&gt; 1 / 0\nTraceback (most recent call last):\n  ...\nZeroDivisionError: by zero\n"
    assert met(built(tmp_path, SESSION.format(shown))) is None


def test_files_that_the_page_offers_lie_beside_its_code(tmp_path: Path) -> None:
    file = offered(tmp_path, "offered.py", "x = 1\n")
    code = CODE.format("from offered import x\n")
    page = built(tmp_path, file, code)
    assert met(page) is None
    page.write_text(code)
    assert "No module named 'offered'" in str(met(page))


def test_a_file_that_the_page_shows_is_what_it_shows_and_not_what_it_offers(tmp_path: Path) -> None:
    file = offered(tmp_path, "shown.py", "import sys\nprint(sys)\n")
    page = built(tmp_path, captioned(file, "print(sys)\n"))
    assert "name 'sys' is not defined" in str(met(page))


def test_blocks_under_one_name_are_one_file(tmp_path: Path) -> None:
    file = offered(tmp_path, "shown.py", "gone\n")
    first = captioned(f"{file}, first part", "x = 1\n")
    page = built(tmp_path, first, captioned(f"{file}, continued", "assert x == 1\n"))
    assert met(page) is None


def test_a_command_that_brings_files_leaves_what_was_pasted_before(tmp_path: Path) -> None:
    file = offered(tmp_path, "shown.py", "gone\n")
    command = COMMAND.format(0, "structsync examples broken_lock.py")
    then = captioned(f"{file}, continued", "assert x == 1\n")
    assert met(built(tmp_path, captioned(file, "x = 1\n"), command, then)) is None


def test_of_an_excerpt_the_whole_file_runs(tmp_path: Path) -> None:
    file = offered(tmp_path, "whole.py", "x = 1\nprint(x)\n")
    page = built(tmp_path, captioned(f"excerpt of {file}", "print(x)\n"))
    assert met(page) is None
    offered(tmp_path, "whole.py", "print(x)\n")
    assert "name 'x' is not defined" in str(met(page))


@pytest.mark.parametrize(("exit_code", "follows"), [(1, True), (0, False)])
def test_a_command_ends_as_the_page_says(tmp_path: Path, exit_code: int, follows: bool) -> None:
    file = captioned(offered(tmp_path, "test_it.py", ""), "def test_it(): assert 0\n")
    command = COMMAND.format(exit_code, "pytest -q a/test_it.py")
    assert (met(built(tmp_path, file, command)) is None) == follows


def test_a_page_whose_blocks_nobody_follows_is_red(tmp_path: Path) -> None:
    page = built(tmp_path, CODE.replace("python", "text").format("print(1)\n"))
    assert "none of them is followed" in str(met(page))
    page.write_text(CODE.replace("python", "default").format("print(1)\n"))
    assert "nothing is done with a block of default" in str(met(page))


def test_a_build_is_red_with_a_bad_page_and_without_pages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(tmp_path) == 1
    page = built(tmp_path, CODE.format("x = 1\n"))
    assert main(tmp_path) == 0
    page.write_text(CODE.format("hidden\n"))
    assert main(tmp_path) == 1
    assert "page.html cannot be followed" in capsys.readouterr().out
