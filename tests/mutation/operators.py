"""The kinds of changes: each looks at one statement or expression and offers others for it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .places import Function, Place


@dataclass(frozen=True, slots=True)
class Change:
    """The text to put in the place of a node."""

    node: ast.expr | ast.stmt
    operator: str
    text: str


_COMPARED: dict[type[ast.cmpop], tuple[str, ast.cmpop]] = {
    ast.Eq: ("== to !=", ast.NotEq()),
    ast.NotEq: ("!= to ==", ast.Eq()),
    ast.Lt: ("< to <=", ast.LtE()),
    ast.LtE: ("<= to <", ast.Lt()),
    ast.Gt: ("> to >=", ast.GtE()),
    ast.GtE: (">= to >", ast.Gt()),
    ast.Is: ("is to is not", ast.IsNot()),
    ast.IsNot: ("is not to is", ast.Is()),
    ast.In: ("in to not in", ast.NotIn()),
    ast.NotIn: ("not in to in", ast.In()),
}
_COMPUTED: dict[type[ast.operator], tuple[str, ast.operator]] = {
    ast.Add: ("+ to -", ast.Sub()),
    ast.Sub: ("- to +", ast.Add()),
    ast.Mult: ("* to +", ast.Add()),
    ast.Div: ("/ to *", ast.Mult()),
    ast.FloorDiv: ("// to *", ast.Mult()),
    ast.Mod: ("% to *", ast.Mult()),
}
#: Decorators that do something at run time which a program may not notice at once.
_REMOVABLE = frozenset({"enable_ki_protection"})
#: An exchange of their arguments is a crash and nothing else.
_NEVER_SWAPPED = frozenset({"isinstance", "issubclass", "getattr", "setattr", "cast", "hasattr"})


def changes_of(place: Place) -> Iterator[Change]:
    """Yield every change that is offered at a place."""
    for of_statement in _OF_STATEMENTS:
        yield from of_statement(place)
    for node in place.expressions():
        for of_expression in _OF_EXPRESSIONS:
            yield from of_expression(node)
        if isinstance(node, ast.Call):
            yield from _swapped(node, place)


# ==== Statements ====


def _left_out(place: Place) -> Iterator[Change]:
    """Leave out what a statement does."""
    node = place.statement
    match node:
        case ast.Expr(value=ast.Yield() | ast.YieldFrom()):
            return
        case ast.Expr():
            kind = "call"
        case ast.Raise():
            kind = "raise"
        case ast.Delete():
            kind = "del"
        case ast.AugAssign():
            kind = "assignment"
        case ast.Assign() | ast.AnnAssign() if _may_be_left_out(node, place):
            kind = "assignment"
        case _:
            return
    yield Change(node, f"no {kind}", "pass")


def _may_be_left_out(node: ast.Assign | ast.AnnAssign, place: Place) -> bool:
    """Whether what is assigned would not simply be missing: it had another value before."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    if place.function is None or node.value is None:
        return False
    return all(
        not isinstance(one, ast.Tuple) and (not isinstance(one, ast.Name) or one.id in place.names)
        for one in targets
    )


def _returned(place: Place) -> Iterator[Change]:
    node = place.statement
    if not isinstance(node, ast.Return) or node.value is None:
        return
    if not isinstance(node.value, ast.Constant):  # those are changed as constants
        yield Change(node, "return nothing", "return None")
    returns = place.function.returns if place.function else None
    if returns and ast.unparse(returns) == "bool" and isinstance(node.value, ast.Call | ast.Name):
        yield Change(node.value, "negated", _negated(node.value))


def _jumps(place: Place) -> Iterator[Change]:
    if isinstance(place.statement, ast.Break):
        yield Change(place.statement, "break to continue", "continue")
        yield Change(place.statement, "no break", "pass")
    if isinstance(place.statement, ast.Continue):
        yield Change(place.statement, "continue to break", "break")
        yield Change(place.statement, "no continue", "pass")


def _arms(place: Place) -> Iterator[Change]:
    """Negate the condition of an ``if``, or take one of its arms away."""
    node = place.statement
    if isinstance(node, ast.If | ast.While) and not isinstance(node.test, ast.Constant):
        yield from _condition(node.test)
        yield Change(node.test, "never", "False")
        if isinstance(node, ast.If) and node.orelse:
            yield Change(node.test, "always", "True")


def _decorators(place: Place) -> Iterator[Change]:
    """Replace a decorator by one that does nothing."""
    if isinstance(place.statement, Function):
        for one in place.statement.decorator_list:
            if ast.unparse(one).rpartition(".")[2] in _REMOVABLE:
                yield Change(one, f"no {ast.unparse(one)}", "(lambda function: function)")


def _augmented(place: Place) -> Iterator[Change]:
    node = place.statement
    if isinstance(node, ast.AugAssign) and type(node.op) in _COMPUTED:
        name, operator = _COMPUTED[type(node.op)]
        changed = ast.unparse(ast.AugAssign(node.target, operator, node.value))
        yield Change(node, f"augmented {name}", changed)


# ==== Expressions ====


def _compared(node: ast.expr) -> Iterator[Change]:
    if not isinstance(node, ast.Compare):
        return
    for number, one in enumerate(node.ops):
        name, other = _COMPARED[type(one)]
        ops = [*node.ops[:number], other, *node.ops[number + 1 :]]
        yield Change(node, name, _text(ast.Compare(node.left, ops, node.comparators)))


def _connected(node: ast.expr) -> Iterator[Change]:
    """Exchange and / or, and leave out one operand at a time."""
    if not isinstance(node, ast.BoolOp):
        return
    is_and = isinstance(node.op, ast.And)
    other = ast.BoolOp(ast.Or() if is_and else ast.And(), node.values)
    yield Change(node, "and to or" if is_and else "or to and", _text(other))
    for number in range(len(node.values)):
        rest = [*node.values[:number], *node.values[number + 1 :]]
        left = rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
        yield Change(node, f"without operand {number + 1}", _text(left))


def _negations(node: ast.expr) -> Iterator[Change]:
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield Change(node, "no not", _text(operand))
        case ast.IfExp(test=test):
            yield from _condition(test)
        case ast.GeneratorExp() | ast.ListComp() | ast.SetComp() | ast.DictComp():
            for comprehension in node.generators:
                for test in comprehension.ifs:
                    yield from _condition(test)
                    yield Change(test, "always", "True")


def _condition(test: ast.expr) -> Iterator[Change]:
    if not isinstance(test, ast.Compare | ast.UnaryOp) or (
        isinstance(test, ast.Compare)
        and (len(test.ops) > 1 or isinstance(test.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE))
    ):
        yield Change(test, "negated", _negated(test))


def _constants(node: ast.expr) -> Iterator[Change]:
    if not isinstance(node, ast.Constant):
        return
    value = node.value
    if isinstance(value, bool):
        yield Change(node, f"{value} to {not value}", str(not value))
    elif isinstance(value, int):
        yield Change(node, f"{value} to {value + 1}", str(value + 1))
        if value > 0:
            yield Change(node, f"{value} to {value - 1}", str(value - 1))
    elif value is None:
        yield Change(node, "None to 1", "1")  # neither None nor false


def _computed(node: ast.expr) -> Iterator[Change]:
    match node:
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _COMPUTED:
            name, other = _COMPUTED[type(op)]
            yield Change(node, name, _text(ast.BinOp(left, other, right)))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            yield Change(node, "no minus", _text(operand))


def _swapped(node: ast.Call, place: Place) -> Iterator[Change]:
    """Exchange the first two arguments of a call, if they may be of one type."""
    if ast.unparse(node.func) in _NEVER_SWAPPED or len(node.args) < 2:
        return
    first, second, *rest = node.args
    kinds = [_kind(one, place.function) for one in (first, second)]
    if kinds[0] == kinds[1] and not isinstance(first, ast.Starred):
        swapped = ast.Call(node.func, [second, first, *rest], node.keywords)
        yield Change(node, "arguments swapped", _text(swapped))


def _kind(node: ast.expr, function: Function | None) -> str:
    """Return what is known of the type of an argument: its annotation, or the shape of its text."""
    if isinstance(node, ast.Name) and function:
        arguments = function.args
        for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            if one.arg == node.id and one.annotation:
                return ast.unparse(one.annotation)
    return type(node).__name__


def _text(node: ast.expr) -> str:
    """Return the text of an expression that stands for another one, whatever is around it."""
    written = ast.unparse(node)
    return written if isinstance(node, ast.Call | ast.Name | ast.Attribute) else f"({written})"


def _negated(node: ast.expr) -> str:
    return f"(not ({ast.unparse(node)}))"


_OF_STATEMENTS: tuple[Callable[[Place], Iterator[Change]], ...] = (
    _left_out,
    _returned,
    _jumps,
    _arms,
    _decorators,
    _augmented,
)
_OF_EXPRESSIONS: tuple[Callable[[ast.expr], Iterator[Change]], ...] = (
    _compared,
    _connected,
    _negations,
    _constants,
    _computed,
)
