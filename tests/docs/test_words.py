"""Prose and public names use the words of the field: one that has a plain word in its place is found where it returns.

A name is read as its words are, with spaces between them: ``PausedForEver`` and ``paused_for_ever`` are prose, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

_PERSONS = r"(?:some|no|every|any)body"
#: The words to avoid, and what to write instead.
INSTEAD = {
    rf"{_PERSONS}(?:'s)?": "a task, no task, every task, a user, a caller",
    r"(?:stand|stands|stood|place|next|first|last|client|claim|waiter|those|with|is|be|again) in line": "in the queue",
    r"for ever(?! (?:since|after))": "forever",
    r"some day": "eventually",
    r"places? in (?:[a-z']+ ){1,2}queue": "position",
    r"(?:giv(?:e|es|en|ing)|gave) (?:[a-z]+ ){0,2}back": "release; for an item: return, put back",
    r"out of service": "closed or broken",
    r"in service": "usable",
    r"cure[sd]?": "fix",
    r"as dear": "as expensive",
    r"goes without(?! saying)": "is still needed",
    r"telling ['`]*repr": "informative repr",
    r"(?:guard|predicate|core|invariant)s? (?:is|are|was|were) (?:not )?asked(?! for)": "evaluated",
    r"(?:guard|predicate|invariant)s? says?": "returns",
    r"ask(?:s|ed|ing)? (?:the|its|each|every|all) (?:guard|predicate|invariant|propert)[a-z]*": "evaluate",
    r"(?:at|to|long) rest": "quiescent",
    r"no one(?! of)": "no task, no other",
    r"whoever": "the task that",
    # A question, or a sentence about people ("Who may look"), is none of these.
    r"(?-i:Who)(?= (?!may )[^.?!]*[.:;])": "a task that, the waiter, the holder",
    r"(?:for|to|of|only|by|than) who(?= (?!in |not in ))": "a task that, the waiter, the holder",
    r"(?:task|waiter|holder|owner|request|call|session|process|thread)(?:s|es)? who": "that",
    r"(?:those|all|one) who (?:wait|hold|sleep|queue|come|withdr[ae]w|get|put)s?": "waiters, tasks that",
    r"trigger waits for its goal": "obligation pending",
    r"source: seed|\bseed 00\d": "the work itself, in the bibliography",
}
#: The words to avoid in what is given a name: faults, claims, properties, classes and functions.
#: Not ``who`` alone, which is an action's argument: the task that a counterexample shows. A host of another
#: process is asked, and so is a session that was sent a message; a place of a pool is one that holds an item.
INSTEAD_IN_NAMES = {
    r"whom?(?= [a-z])|(?<=[a-z] )whom?": "a task that, the waiter, the holder",
    r"the line (?:goes|moves|waits)": "the queue",
    r"(?:cancelled|withdrawn) keeps its place|places (?:are )?(?:not )?kept": "position",
    r"(?:entr(?:y|ies)|monitor|synchronizer|level|oldest|newest|waiter|newcomer)s?"
    r"(?: of an entry)? (?:is|are|was|were) (?:not )?asked": "evaluated",
    r"all who wait are asked|asks (?:no task|newcomers|(?:for )?the (?:entry|first|oldest))": "evaluates",
}


def _compiled(words: dict[str, str]) -> dict[re.Pattern[str], str]:
    return {
        re.compile(rf"(?<![a-z])(?:{one})(?![a-z])", re.IGNORECASE): instead
        for one, instead in words.items()
    }


_EACH = _compiled(INSTEAD)
_EACH_IN_NAMES = _compiled(INSTEAD_IN_NAMES)
#: Between two words of a name.
_SEAM = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_")
#: What is given a name.
_NAMED = re.compile(r"(?<![\w.])(?:class|def) +(\w+)")
#: Files in which nearly every word is a name.
LISTS = {"manifest.toml", "catalogue.txt"}
#: A paragraph is looked at as one line; what begins a line of a comment is no part of it.
_BREAK = re.compile(r"\s*\n[ \t]*(?:#:?|//|--|\*)?[ \t]*")

#: What users read. Not what others wrote: licences, copied pages and what was measured once.
FOLDERS = {
    "docs": ("*.rst", "*.py", "*.html"),
    "examples": ("*.py", "*.md", "*.toml"),
    "specs": ("*.py", "*.md", "*.toml"),
    "structsync": ("*.py", "*.js", "*.css", "*.html", "*.jinja", "*.lua"),
    "benchmarks": ("*.py", "*.md"),
    "tests": ("catalogue.txt",),
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
        written = _BREAK.sub(" ", page.read_text(encoding="utf-8"))
        names = re.findall(r"\w+", written) if page.name in LISTS else _NAMED.findall(written)
        for words, texts in (_EACH, [written]), (_EACH_IN_NAMES, dict.fromkeys(names)):
            for text in map(_as_prose, texts):
                for word, instead in words.items():
                    for match in word.finditer(text):
                        around = text[max(0, match.start() - 40) : match.end() + 40]
                        yield f"{page}: {match[0]!r} in {around!r}; write: {instead}"


def _as_prose(text: str) -> str:
    """Return a text with the names in it taken apart, and no more than a space between two words of one."""
    return _SEAM.sub(" ", text)


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
        ("-- It waits for\n-- ever.", "for ever"),
        ("It is granted some\n   day.", "some day"),
        ("Leaving it gives back\na permit.", "gives back"),
        ("def give_back(self) -> None: ...", "give back"),
        ("the line that gives its permit back", "gives its permit back"),
        ("class PermitsAreGivenBack: ...", "Given Back"),
        ("class PausedForEver: ...", "For Ever"),
        ("def a_key_is_held_until_the_last_in_line_leaves(): ...", "last in line"),
        ("class TheLineGoesFirst: ...", "The Line Goes"),
        ("It keeps its place in the\n    lock's queue.", "place in the lock's queue"),
        ("class CancelledKeepsItsPlace: ...", "Cancelled Keeps Its Place"),
        ("def places_are_kept(): ...", "places are kept"),
        ("def lock_in_service(): ...", "in service"),
        ("class ALongRestLendsMore: ...", "Long Rest"),
        ("class TheGuardIsNotAskedAgain: ...", "Guard Is Not Asked"),
        ("class OnlyTheOldestOfAnEntryIsAsked: ...", "Oldest Of An Entry Is Asked"),
        ("class TheEntriesAreAskedInTurn: ...", "Entries Are Asked"),
        ("class LeavingAsksNoTask: ...", "Asks No Task"),
        ("def taken_whatever_its_guard_says(): ...", "guard says"),
        ("class WhoLeavesIsWaitedFor(Core): ...", "Who"),
        ("def a_level_keeps_the_rank_of_who_left(): ...", "of who"),
        ("def whom_a_release_lets_in_is_foreseen(): ...", "whom"),
        ("def closing_reaches_who_signalled(): ...", "who"),
        ("There no one waits.", "no one"),
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
        "def who(self, who: str) -> None: ...",
        "class APartnerIsNotAsked: ...\ndef one_is_asked_of_each_object(): ...",
        "class AFailedFactoryKeepsItsPlace: ...",
        "no one of them",
        "It gives up and comes back.",
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
