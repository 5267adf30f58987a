"""Places in source files, and what is written there, as a report shows them."""

from __future__ import annotations

import ast
import contextlib
import functools
import linecache
import os
import types
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePath
from types import CodeType, FrameType
from typing import Any

from .frames import is_below


def short(filename: str) -> str:
    """Return the name of a file, with its folder where that says more."""
    path = PurePath(filename)
    return f"{path.parent.name}/{path.name}" if path.name == "__init__.py" else path.name


def path_of(filename: str) -> str:
    """Return a file as it is called from this folder, as pytest does: terminals make a link of it."""
    return filename.removeprefix(os.path.join(os.getcwd(), ""))


def place_of(code: CodeType, line: int) -> str:
    """Return file, line and function: ``queue.py:41 in get``."""
    return f"{short(code.co_filename)}:{line} in {code.co_name}"


def program_frame(frame: FrameType | None) -> FrameType | None:
    """Return the frame of the program on whose behalf one of a library runs; None if there is none."""
    while frame is not None and is_below(frame):
        frame = frame.f_back
    return frame


def statement_at(filename: str, line: int) -> str:
    """Return the statement in a line, all of its lines in one; of a compound one the line alone."""
    alone = linecache.getline(filename, line).strip()
    text = "".join(linecache.getlines(filename))
    found = [node for node in _statements(text) if node.lineno <= line <= _last_line(node)]
    # Of several in a line, or of one behind a colon, a line does not say which it is.
    if len(found) != 1 or _inside(found[0]):
        return alone
    return _one_line(ast.get_source_segment(text, found[0]) or alone)


@functools.lru_cache(maxsize=8)
def _statements(text: str) -> list[ast.stmt]:
    with contextlib.suppress(SyntaxError, ValueError):  # not Python: a template, an input of an IDE
        return [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)]
    return []


def _last_line(node: ast.stmt) -> int:
    """Return the last line of a statement; of a compound one, that of its heading."""
    if not (inside := _inside(node)):
        return node.end_lineno or 0
    first = inside[0].pattern if isinstance(inside[0], ast.match_case) else inside[0]
    return max(node.lineno, first.lineno - 1)


def _inside(node: ast.stmt) -> Sequence[ast.stmt | ast.match_case]:
    """Return the statements in a compound one; nothing in another one."""
    found: Sequence[ast.stmt | ast.match_case] = getattr(node, "body", getattr(node, "cases", ()))
    return found


def names_in(statement: str) -> Iterator[str]:
    """Yield the variables that an assertion looks at; none for another statement."""
    with contextlib.suppress(SyntaxError):
        for node in ast.parse(statement).body:
            if isinstance(node, ast.Assert):
                found = [one for one in ast.walk(node.test) if isinstance(one, ast.Name)]
                found.sort(key=lambda one: (one.lineno, one.col_offset))
                yield from dict.fromkeys(one.id for one in found)


def described(function: Callable[..., Any]) -> str:
    """Return what a function is, and where: its name, or what a lambda returns."""
    while isinstance(function, functools.partial):
        function = function.func
    if not isinstance(function, types.FunctionType):  # of a guard by arguments, what the user wrote
        function = getattr(function, "__wrapped__", function)
    function = getattr(function, "__func__", function)
    if not isinstance(function, types.FunctionType):
        return repr(function)
    code = function.__code__
    where = f"{short(code.co_filename)}:{code.co_firstlineno}"
    body = _body_of(code) if code.co_name == "<lambda>" else ""
    return f"{body or code.co_name} ({where})"


def _body_of(code: CodeType) -> str:
    """Return the text of the expression that a lambda returns, if its line has that one alone."""
    text = "".join(linecache.getlines(code.co_filename))
    found: list[ast.Lambda] = []
    with contextlib.suppress(SyntaxError, ValueError):
        found += (
            node
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno
        )
    # Of two in one line nothing says which it is.
    return _one_line(ast.get_source_segment(text, found[0].body) or "") if len(found) == 1 else ""


def _one_line(text: str) -> str:
    return " ".join(text.split())
