"""Follow the built pages as a reader does: in order, in an empty folder, with what a page shows and offers.

``python follow_pages.py HTML`` takes the tutorials and guides of a build. A block under the name of a file is pasted
into that file, at its end if it exists; of a block that is labelled an excerpt the whole file is downloaded. Code
without a name runs in one interpreter. Commands are run, and then the files that no command has named (``reader.py``);
a command about files of which the page shows none was run with the same files when the page was built.
"""

from __future__ import annotations

import doctest
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

FOLDERS = ("tutorial", "how-to")
READER = Path(__file__).with_name("reader.py")
OUTPUT = {"none", "text"}
"""The kinds of blocks that a reader only looks at."""

Step = Sequence[object]
"""The name of a method of the reader, and its arguments."""


class Block(NamedTuple):
    kinds: list[str]
    caption: str
    text: str = ""

    @property
    def code(self) -> int:
        """The exit code that a command is to have."""
        codes = [one.removeprefix("exit-") for one in self.kinds if one.startswith("exit-")]
        return int(codes[0]) if codes else 0

    @property
    def highlighted(self) -> str:
        kinds = (one for one in self.kinds if one.startswith("highlight-"))
        return next(kinds, "").removeprefix("highlight-")


class Page(HTMLParser):
    """The blocks of a page, and the files that it offers."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.files: dict[str, str] = {}  # name: where it is, from the page
        self.blocks: list[Block] = []
        self._classes: list[str] = []
        self._caption = ""
        self._inside = ""
        self._download = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        classes = given.get("class", "").split()
        if tag == "div" and "code-block-caption" in classes:
            self._inside, self._caption = "caption", ""
        if tag == "div" and any(one.startswith("highlight-") for one in classes):
            self._classes = classes
        if tag == "pre":
            self._inside = "block"
            self.blocks.append(Block(self._classes, self._caption))
            self._caption = ""
        if tag == "a" and "download" in classes:
            self._download = given["href"]
        if tag == "a" and "headerlink" in classes:
            self._inside = ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "pre" or (tag == "div" and self._inside == "caption"):
            self._inside = ""
        if tag == "a":
            self._download = ""

    def handle_data(self, data: str) -> None:
        if self._download:
            self.files[data.strip()] = self._download
        if self._inside == "block":
            last = self.blocks[-1]
            self.blocks[-1] = last._replace(text=last.text + data)
        elif self._inside == "caption":
            self._caption += data

    def steps(self, folder: Path) -> Iterator[Step]:
        """Yield what a reader would do with a page in this folder."""
        yield from (step for block in self.blocks for step in self._of(block, folder))
        named = [word for block in self.blocks if "ran" in block.kinds for word in _words(block)]
        shown = {name for block in self.blocks if (name := _file(block)).endswith(".py")}
        yield from (["run", name] for name in sorted(shown) if not _is_named(name, named))

    def offered(self, folder: Path) -> Iterator[Step]:
        """Yield the downloads."""
        for name, link in self.files.items():
            yield ["download", name, str((folder / link).resolve())]

    def _of(self, block: Block, folder: Path) -> Iterator[Step]:
        if "ran" in block.kinds:
            words = _words(block)
            if words[1] == "examples":
                yield ["command", words, block.code]
                # afterwards, because the command refuses to overwrite a file
                yield from self.offered(folder)
            elif self._concerns(words):
                yield ["command", words, block.code]
        elif name := _file(block):
            excerpt = block.caption.startswith("excerpt")
            yield from self.offered(folder) if excerpt else [["paste", name, block.text]]
        elif block.highlighted == "python":
            yield ["code", block.text, False]
        elif block.highlighted == "pycon":
            for one in doctest.DocTestParser().get_examples(block.text):
                yield ["code", one.source, one.exc_msg is not None]
        elif block.highlighted not in OUTPUT:
            raise NotFollowedError(
                f"nothing is done with a block of {block.highlighted}: {block.text}"
            )

    def _concerns(self, words: list[str]) -> bool:
        """Tell whether a command names a folder, or a file in one, into which something of the page was pasted."""
        pasted = {Path(name).parent for block in self.blocks if (name := _file(block))}
        return any(Path(word) in pasted or Path(word).parent in pasted for word in words)


class NotFollowedError(Exception):
    """A page has a block of which it is not known what a reader does with it."""


def _file(block: Block) -> str:
    """Return the name of the file that stands above a block; only output has the name of no program."""
    found = re.search(r"[\w./-]+\.\w+", block.caption)
    return found.group() if found and block.highlighted not in OUTPUT else ""


def _words(block: Block) -> list[str]:
    return shlex.split(block.text.partition("\n")[0].removeprefix("$ "))


def _is_named(name: str, words: list[str]) -> bool:
    return any(name == word or name.startswith(f"{word}/") for word in words)


def follow(page: Path) -> tuple[int, str | None]:
    """Return how many blocks of a page a reader follows, and what he meets: None if all of it runs."""
    read = Page(page.read_text(encoding="utf-8"))
    try:
        steps = [*read.steps(page.parent)]
    except NotFollowedError as error:
        return 0, str(error)
    if not any("ran" in block.kinds for block in read.blocks):
        steps = [*read.offered(page.parent), *steps]
    followed = sum(step[0] in {"paste", "code", "command", "run"} for step in steps)
    if read.blocks and not followed:
        return 0, "it has blocks of code, and none of them is followed"
    with tempfile.TemporaryDirectory() as folder:
        ran = subprocess.run(
            [sys.executable, "-P", str(READER)],
            cwd=folder,
            input=json.dumps(steps),
            capture_output=True,
            text=True,
            check=False,
        )
    return followed, None if ran.returncode == 0 else ran.stderr


def main(built: Path) -> int:
    pages = sorted(page for folder in FOLDERS for page in (built / folder).glob("*.html"))
    with ThreadPoolExecutor(os.cpu_count()) as readers:
        found = dict(zip(pages, readers.map(follow, pages), strict=True))
    errors = {page: error for page, (_, error) in found.items() if error is not None}
    for page, error in errors.items():
        print(f"{page.relative_to(built)} cannot be followed:", error, sep="\n")
    steps = sum(followed for followed, _ in found.values())
    print(f"{len(pages)} pages and {steps} blocks followed, {len(errors)} pages not to their end")
    return 0 if pages and not errors else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
