"""A mutant: one small change of one file, as a change of its text.

Found in the syntax tree (``operators.py``), applied to the text: what is printed is what ran, and the
lines before it stay where they are.
"""

from __future__ import annotations

import ast
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from io import BytesIO
from pathlib import Path

from .operators import changes_of
from .places import Place, places


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one file."""

    file: str
    """Relative to the package: ``_core/queue/arbiter.py``."""
    line: int
    column: int
    operator: str
    inside: str
    """The function or class, qualified; empty at the level of the module."""
    before: str
    after: str
    """The statement that is changed, on one line each; of a compound one its head."""
    start: int
    end: int
    replacement: str
    lines: tuple[int, ...]
    """Who runs none of them cannot notice the change."""

    @property
    def id(self) -> str:
        """Return the name of the mutant in this version of the file."""
        return f"{self.file}:{self.line}:{self.column}:{self.operator}"

    @property
    def diff(self) -> str:
        """Return the change on one line."""
        return f"{self.before}  =>  {self.after}"

    @property
    def is_head(self) -> bool:
        """Whether the head of a function is changed: a decorator or a default."""
        return self.before.startswith(("@", "def ", "async def "))

    def apply(self, source: bytes) -> bytes:
        """Return the changed text of the file."""
        return source[: self.start] + self.replacement.encode() + source[self.end :]


def mutants_of(path: Path, file: str) -> list[Mutant]:
    """Return the mutants of a file, each once."""
    source = path.read_bytes()
    found: dict[tuple[int, str], Mutant] = {}
    for one in _all(ast.parse(source), _Text(source), file):
        meaning = _meaning(one.after)
        if meaning != _meaning(one.before):
            found.setdefault((one.lines[0], meaning), one)
    return [*_with_ids_of_their_own([*found.values()])]


@cache
def _meaning(head: str) -> str:
    """Return what is the same for texts that mean the same."""
    body = " pass" if head.endswith(":") else ""
    try:
        return ast.dump(ast.parse(head.removeprefix("el") + body))
    except SyntaxError:  # the head of a match, or with a decorator
        return head


def _with_ids_of_their_own(found: list[Mutant]) -> Iterator[Mutant]:
    """Number those of one kind that begin at the same place, such as both sums in ``a + b + c``."""
    seen: Counter[str] = Counter()
    for one in found:
        seen[one.id] += 1
        number = seen[one.id]
        yield replace(one, operator=f"{one.operator} ({number})") if number > 1 else one


def _all(tree: ast.Module, text: _Text, file: str) -> Iterator[Mutant]:
    for place in places(tree, text.lines):
        head_start, head_end = text.head(place)
        before = text.between(head_start, head_end)
        for change in changes_of(place):
            start, end = text.span(change.node)
            old = text.between(start, end)
            # a change over several lines must not end in the middle of an expression
            replacement = " ".join(change.text.split("\n"))
            if old == replacement:
                continue
            after = replacement
            if head_start <= start and end <= head_end:
                after = text.between(head_start, start) + after + text.between(end, head_end)
            yield Mutant(
                file,
                change.node.lineno,
                change.node.col_offset,
                change.operator,
                place.inside,
                _one_line(before),
                _one_line(after),
                start,
                end,
                replacement,
                place.lines,
            )


def _one_line(text: str) -> str:
    return " ".join(text.split())


class _Text:
    """The text of a file, by the positions that ``ast`` tells (columns are bytes)."""

    def __init__(self, source: bytes) -> None:
        self.lines = source.decode().splitlines()
        self._starts = [0]
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self._without_comments = bytearray(source)
        for token in tokenize.tokenize(BytesIO(source).readline):
            if token.type == tokenize.COMMENT:
                row, column = token.start
                start = self.offset(row, len(token.line[:column].encode()))
                length = len(token.string.encode())
                self._without_comments[start : start + length] = b" " * length

    def offset(self, line: int, column: int) -> int:
        return self._starts[line - 1] + column

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return (
            self.offset(node.lineno, node.col_offset),
            self.offset(node.end_lineno, node.end_col_offset),
        )

    def head(self, place: Place) -> tuple[int, int]:
        """Return where a statement begins, and where its body does, if it has one."""
        first = place.statement
        start, end = self.span(first)
        if decorators := getattr(first, "decorator_list", None):
            start = self.span(decorators[0])[0] - 1
        if body := getattr(first, "body", None):
            end = self.span(body[0])[0]
        elif cases := getattr(first, "cases", None):
            end = self.span(cases[0].pattern)[0]
        return start, end

    def between(self, start: int, end: int) -> str:
        return self._without_comments[start:end].decode()
