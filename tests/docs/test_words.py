"""Prose and public names use the words of the field: one that has a plain word in its place is found where it returns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

#: Names of properties and examples are prose too, so a word may stand between underscores.
_PERSONS = r"(?:some|no|every|any)body"
#: The words to avoid, and what to write instead.
INSTEAD = {
    rf"{_PERSONS}(?:'s)?": "a task, no task, every task, a user, a caller",
    r"(?:stand|stands|stood|place|next|first|client|claim|waiter|those|with|is|be|again) in line": "in the queue",
    r"for ever(?! (?:since|after))": "forever",
    r"some[ _]day": "eventually",
    r"(?:giv(?:e|es|en|ing)|gave)[ _](?:it |them |one )?back": "release; for an item: return, put back",
    r"out[ _]of[ _]service": "closed or broken",
    r"cure[sd]?": "fix",
    r"as dear": "as expensive",
    r"goes without(?! saying)": "is still needed",
    r"telling ['`]*repr": "informative repr",
    r"(?:guard|predicate|core|invariant)s? (?:is|are|was|were) (?:not )?asked(?! for)": "evaluated",
    r"ask(?:s|ed|ing)? (?:the|its|each|every|all) (?:guard|predicate|invariant|propert)[a-z]*": "evaluate",
    r"(?:at|to)[ _]rest": "quiescent",
    r"whoever": "the task that",
    # A question, or a sentence about people ("Who may look"), is none of these.
    r"(?-i:Who)(?= (?!may )[^.?!]*[.:;])": "a task that, the waiter, the holder",
    r"(?:for|to|of|only|by|than) who(?= (?!in |not in ))": "a task that, the waiter, the holder",
    r"(?:task|waiter|holder|owner|request|call|session|process|thread)(?:s|es)? who": "that",
    r"(?:those|all|one) who (?:wait|hold|sleep|queue|come|withdr[ae]w|get|put)s?": "waiters, tasks that",
    r"trigger waits for its goal": "obligation pending",
    r"source: seed|\bseed 00\d": "the work itself, in the bibliography",
}
_EACH = {
    re.compile(rf"(?<![a-z])(?:{one})(?![a-z])", re.IGNORECASE): INSTEAD[one] for one in INSTEAD
}
#: A paragraph is looked at as one line; what begins a line of a comment is no part of it.
_BREAK = re.compile(r"\s*\n[ \t]*(?:#:?|//|\*)?[ \t]*")

#: What users read. Not what others wrote: licences, copied pages and what was measured once.
FOLDERS = {
    "docs": ("*.rst", "*.py", "*.html"),
    "examples": ("*.py", "*.md", "*.toml"),
    "specs": ("*.py", "*.md", "*.toml"),
    "structsync": ("*.py", "*.js", "*.css", "*.html"),
    "benchmarks": ("*.py", "*.md"),
    "tests/zoo": ("*.py", "*.toml"),
}
LEFT_OUT = re.compile(r"docs/inventories/|__pycache__")


def pages(root: Path) -> Iterator[Path]:
    """Yield the files that are read."""
    yield from sorted(root.glob("*.md"))
    for folder, patterns in FOLDERS.items():
        for pattern in patterns:
            for page in sorted((root / folder).rglob(pattern)):
                if not LEFT_OUT.search(page.relative_to(root).as_posix()):
                    yield page


def found_in(pages: Iterable[Path]) -> Iterator[str]:
    """Yield each word to avoid: where it is, and what to write."""
    for page in pages:
        text = _BREAK.sub(" ", page.read_text(encoding="utf-8"))
        for word, instead in _EACH.items():
            for match in word.finditer(text):
                around = text[max(0, match.start() - 40) : match.end() + 40]
                yield f"{page}: {match[0]!r} in {around!r}; write: {instead}"


def test_prose_and_public_names_use_the_words_of_the_field() -> None:
    assert list(found_in(pages(ROOT))) == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_each_folder_is_read(folder: str) -> None:
    assert any(page.is_relative_to(ROOT / folder) for page in pages(ROOT))


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("A permit that nobody wants.", "nobody"),
        ("def somebody_has_the_baton() -> bool: ...", "somebody"),
        ("It lets everybody in.", "everybody"),
        ("ANYBODY = 1", "ANYBODY"),
        ("The first in line is granted.", "first in line"),
        ("It waits for\n# ever.", "for ever"),
        ("It is granted some\n   day.", "some day"),
        ("Leaving it gives back\na permit.", "gives back"),
        ("def give_back(self) -> None: ...", "give_back"),
        ("Giving it back never waits.", "Giving it back"),
        ("nobody_waits_out_of_service", "nobody"),
        ("once it is out of service", "out of service"),
        ("The cure is one line.", "cure"),
        ("two times as dear", "as dear"),
        ("The lock goes without.", "goes without"),
        ("and a telling ``repr``", "telling ``repr"),
        ("The guards are asked again.", "guards are asked"),
        ("It asks the properties\n    of a state.", "asks the properties"),
        ("A lock at rest can move.", "at rest"),
        ("When it comes to rest, it can move.", "to rest"),
        ("Whoever closes it is done.", "Whoever"),
        ("# Who waits forever, by name.", "Who"),
        ("x = 1  # the tokens, and whose.\n# Who has each; in order.", "Who"),
        ("A wake-up is kept for\n# who comes later.", "for who"),
        ("Only who sleeps is cancelled.", "Only who"),
        ("The task who closes it.", "task who"),
        ("It is told to those who wait.", "those who wait"),
        ("From here on the trigger waits for its goal.", "trigger waits for its goal"),
        ("Source: seed 003.", "Source: seed"),
    ],
)
def test_a_word_that_returns_is_found(tmp_path: Path, text: str, word: str) -> None:
    page = tmp_path / "structsync" / "page.py"
    page.parent.mkdir()
    page.write_text(text, encoding="utf-8")
    (found, *_) = found_in(pages(tmp_path))
    assert f"{page}: {word!r} in" in found


@pytest.mark.parametrize(
    "text",
    [
        "for line in lines: print('x' in line)",
        "secure",
        "Forever.",
        "for ever since",
        "a release",
        "only the properties that are asked for",
        "all cores are asked for their states",
        "[who for who in TASKS if who not in busy]",
        "Who may look\n------------\n\nOnly users.",
        "Who wins? One of them.",
        "WHO_WAITS = ('a', 'b'). WHO is done.",
        "for readers who know trio, and those who do not",
    ],
)
def test_other_words_are_left_alone(tmp_path: Path, text: str) -> None:
    page = tmp_path / "docs" / "page.rst"
    page.parent.mkdir()
    page.write_text(text, encoding="utf-8")
    assert list(found_in(pages(tmp_path))) == []
