"""Where a mutation makes sense: every statement that decides something, with what is left out.

Left out, because a change there changes no behaviour that is promised:

* docstrings, annotations, type variables and aliases, ``if TYPE_CHECKING``, overloads, abstract
  methods and stubs;
* messages: what an exception is made with, f-strings, and the methods that write a repr;
* ``__slots__``, ``__all__`` and asserts, which tell types to a type checker;
* lines that no test has to reach (``pragma: no cover``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

#: They write for people.
TEXTS = frozenset({"__repr__", "__str__", "_describe"})
_TYPES = frozenset({"TypeVar", "ParamSpec", "TypeVarTuple", "NewType", "namedtuple"})
_DECLARATIONS = frozenset({"__slots__", "__all__", "__match_args__", "__hash__"})
_FOR_TYPES = frozenset({"overload", "abstractmethod"})

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Place:
    """A statement that may be changed, without the statements in it."""

    statement: ast.stmt
    inside: str
    function: Function | None
    lines: tuple[int, ...]
    names: frozenset[str] = field(default=frozenset())
    """The local names that may be bound when it runs: to leave out an assignment is no NameError."""

    def expressions(self) -> Iterator[ast.expr]:
        """Yield all expressions of the statement's head, outermost first."""
        for node in _heads(self.statement):
            yield from _walk(node)


def places(tree: ast.Module, text: list[str]) -> Iterator[Place]:
    """Yield the statements that may be changed, in the order of the file."""
    everything = (*range(1, len(text) + 1),)
    yield from _Walk(text).block(tree.body, "", None, everything)


@dataclass(slots=True)
class _Walk:
    text: list[str]

    def block(
        self, body: list[ast.stmt], inside: str, function: Function | None, around: tuple[int, ...]
    ) -> Iterator[Place]:
        bound: set[str] = _parameters(function) if function else set()
        for statement in body:
            yield from self.statement(statement, inside, function, around, bound)

    def statement(
        self,
        statement: ast.stmt,
        inside: str,
        function: Function | None,
        around: tuple[int, ...],
        bound: set[str],
    ) -> Iterator[Place]:
        if self._left_out(statement):
            return
        if isinstance(statement, ast.ClassDef | Function):
            name = f"{inside}.{statement.name}" if inside else statement.name
            # its head runs when it is defined; what it decides shows when its body runs
            body = (*range(statement.body[0].lineno, (statement.end_lineno or 0) + 1),)
            yield Place(statement, name, function, body)
            if isinstance(statement, ast.ClassDef):
                yield from self.block(statement.body, name, None, body)
            else:
                yield from self.block(statement.body, name, statement, body)
            return
        lines = around if function is None else (*range(statement.lineno, _end(statement) + 1),)
        yield Place(statement, inside, function, lines, frozenset(bound))
        for inner in _blocks(statement):
            for one in inner:
                yield from self.statement(one, inside, function, around, bound)
        bound |= {
            node.id
            for node in ast.walk(statement)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }

    def _left_out(self, statement: ast.stmt) -> bool:
        if "pragma: no cover" in self.text[statement.lineno - 1]:
            return True
        match statement:
            case ast.Expr(ast.Constant()) | ast.Assert() | ast.Import() | ast.ImportFrom():
                return True
            case ast.If(test=test):
                return "TYPE_CHECKING" in ast.unparse(test)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                made_by = ast.unparse(value.func) if isinstance(value, ast.Call) else ""
                return name in _DECLARATIONS or made_by in _TYPES
            case ast.AnnAssign(annotation=annotation):
                return "TypeAlias" in ast.unparse(annotation)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                kinds = {ast.unparse(one) for one in statement.decorator_list}
                return statement.name in TEXTS or bool(kinds & _FOR_TYPES) or _is_stub(statement)
        return False


def _is_stub(function: Function) -> bool:
    return all(
        isinstance(one, ast.Pass)
        or (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
        for one in function.body
    )


def _parameters(function: Function) -> set[str]:
    arguments = function.args
    each = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    return {one.arg for one in each}


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        if inner := getattr(statement, name, None):
            yield inner
    for one in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield one.body


def _end(statement: ast.stmt) -> int:
    """Return the last line of a statement's head."""
    first = next((inner[0].lineno for inner in _blocks(statement)), None)
    if first is None:
        return statement.end_lineno or statement.lineno
    return max(statement.lineno, first - 1)


def _heads(statement: ast.stmt) -> Iterator[ast.expr]:
    """Yield the outermost expressions of a statement that are no annotations and no messages."""
    match statement:
        case ast.FunctionDef(args=arguments) | ast.AsyncFunctionDef(args=arguments):
            yield from arguments.defaults
            yield from (one for one in arguments.kw_defaults if one)
        case ast.ClassDef():
            pass
        case ast.AnnAssign(value=value):
            if value:
                yield value
        case ast.Match(subject=subject, cases=cases):
            yield subject
            yield from (one.guard for one in cases if one.guard)
        case ast.Raise():
            pass  # the error and its message; that it is raised is a statement
        case ast.With(items=items) | ast.AsyncWith(items=items):
            yield from (one.context_expr for one in items)
        case ast.Try() | ast.TryStar():
            pass
        case _:
            yield from (one for one in ast.iter_child_nodes(statement) if isinstance(one, ast.expr))


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _walk(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.JoinedStr):
        return
    yield node
    children = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.Compare):  # "is None" has a change of its own
        children = [one for one in children if not _is_none(one)]
    if isinstance(node, ast.Call):
        called = ast.unparse(node.func)
        if called.endswith(("Error", "Exception", "Withdrawn")):
            children = []  # an error that is made, to be raised elsewhere: its message
        elif called == "cast":
            children = node.args[1:]  # type: ignore[assignment]
    for child in children:
        if isinstance(child, ast.expr):
            yield from _walk(child)
        elif isinstance(child, ast.keyword) and child.arg != "strict":  # zip's: no promise
            yield from _walk(child.value)
        elif isinstance(child, ast.comprehension):
            yield from _walk(child.iter)
            for test in child.ifs:
                yield from _walk(test)
