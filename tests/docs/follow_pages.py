"""Follow the built pages as a reader does: paste their code, in order, in a folder with their files.

``python follow_pages.py HTML`` takes the tutorials and guides of a build. What a page shows as code, and nothing
that it hides, runs in one interpreter and an empty folder; files that the page offers lie there. What commands
print is compared when the pages are built.
"""

from __future__ import annotations

import doctest
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

FOLDERS = ("tutorial", "how-to")
# What the reader's interpreter does with the blocks that come on its standard input.
READER = """
import json, sys
sys.path.insert(0, "")
names = {"__name__": "__main__"}
for number, (source, fails) in enumerate(json.load(sys.stdin), 1):
    try:
        exec(compile(source, f"block {number}", "exec"), names)
    except Exception:
        if not fails:
            raise
"""

Block = tuple[str, bool]
"""Code, and whether the page shows that it raises."""


class Page(HTMLParser):
    """The code of a page, and the files that it offers."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.files: dict[str, str] = {}  # name: where it is, from the page
        self.blocks: list[tuple[str, str]] = []  # the kind of code, and the code
        self._kind = ""
        self._inside = False
        self._download = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        classes = given.get("class", "").split()
        kinds = [one.removeprefix("highlight-") for one in classes if one.startswith("highlight-")]
        if tag == "div" and kinds:
            self._kind = kinds[0]
        if tag == "pre":
            self._inside = True
            self.blocks.append((self._kind, ""))
        if tag == "a" and "download" in classes:
            self._download = given["href"]

    def handle_endtag(self, tag: str) -> None:
        if tag == "pre":
            self._inside = False
        if tag == "a":
            self._download = ""

    def handle_data(self, data: str) -> None:
        if self._inside:
            kind, code = self.blocks[-1]
            self.blocks[-1] = (kind, code + data)
        elif self._download:
            self.files[data.strip()] = self._download

    def code(self) -> Iterator[Block]:
        """Yield what a reader would paste."""
        for kind, text in self.blocks:
            if kind == "python":
                yield text, False
            elif kind == "pycon":
                for one in doctest.DocTestParser().get_examples(text):
                    yield one.source, one.exc_msg is not None


def follow(page: Path) -> str | None:
    """Return what a reader of a page meets: None if all of its code runs."""
    read = Page(page.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        for name, link in read.files.items():
            shutil.copy(page.parent / link, Path(folder) / Path(name).name)
        ran = subprocess.run(
            [sys.executable, "-P", "-c", READER],
            cwd=folder,
            input=json.dumps([*read.code()]),
            capture_output=True,
            text=True,
            check=False,
        )
    return None if ran.returncode == 0 else ran.stderr


def main(built: Path) -> int:
    pages = sorted(page for folder in FOLDERS for page in (built / folder).glob("*.html"))
    errors = {page: error for page in pages if (error := follow(page)) is not None}
    for page, error in errors.items():
        print(f"{page.relative_to(built)} cannot be followed:", error, sep="\n")
    print(f"{len(pages)} pages followed, {len(errors)} not to their end")
    return 0 if pages and not errors else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
