"""One claim, one verdict: CrossHair's answer, read so that nothing but a proof is green.

Why not its command line: it ends with status 0 for "not confirmed", for "precondition never met" and
for "no contract found" as well. Why not the verdict alone: where no value meets the preconditions,
the verdict is "confirmed". So here each claim also loses to a planted fault, and each end of its
branches must be reachable: with ``assert False`` there, CrossHair has to find the way.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import FunctionType

from crosshair.core_and_libs import AnalysisKind, MessageType, analyze_function, run_checkables
from crosshair.options import AnalysisOptionSet

from structsync.checking import _load

from ._as_written import asserts_as_written

# What a claim costs on an idle machine is 2 s at most; this is for a busy one.
SECONDS = 60.0


class Verdict(StrEnum):
    CONFIRMED = "confirmed over all paths"
    REFUTED = "refuted by a counterexample"
    NOT_CONFIRMED = (
        "not confirmed"  # paths left over, no path at all, or an error that is no assert
    )


@dataclass(frozen=True, slots=True)
class Answer:
    """The verdict, and what CrossHair says to it."""

    verdict: Verdict
    words: str


def analyze(claim: Callable[..., object]) -> Answer:
    """Ask CrossHair about one claim."""
    options = AnalysisOptionSet(
        analysis_kind=[AnalysisKind.asserts], report_all=True, per_condition_timeout=SECONDS
    )
    messages = list(run_checkables(analyze_function(claim, options)))
    words = "; ".join(f"{one.state.name}: {one.message}" for one in messages)
    if any(is_counterexample(one.state, one.message) for one in messages):
        return Answer(Verdict.REFUTED, words)
    if [one.state for one in messages] == [MessageType.CONFIRMED]:
        return Answer(Verdict.CONFIRMED, words)
    return Answer(Verdict.NOT_CONFIRMED, words or "nothing to check: a claim begins with an assert")


def is_counterexample(state: MessageType, words: str) -> bool:
    """A crash is none: a fault has to be refuted by what the claim says."""
    return state is MessageType.EXEC_ERR and words.startswith("AssertionError")


# ==== Claims ====


def shipped_claims() -> dict[str, FunctionType]:
    """Return all claims by module and name, from the installed package or the source tree."""
    folder = _load._shipped_folder()
    assert folder is not None
    root = f"{_load._package(folder)}.claims"
    names = [one.name for one in pkgutil.iter_modules([str(folder / "claims")])]
    with asserts_as_written():
        modules = [importlib.import_module(f"{root}.{name}") for name in names if name[0] != "_"]
    return {
        f"{module.__name__.rpartition('.')[2]}.{name}": one
        for module in modules
        for name, one in vars(module).items()
        if is_claim(one) and one.__module__ == module.__name__
    }


def is_claim(one: object) -> bool:
    """Claims begin with an assert; words that several claims use do not."""
    return isinstance(one, FunctionType) and isinstance(body_of(one)[0], ast.Assert)


def body_of(function: FunctionType) -> list[ast.stmt]:
    return definition_of(function).body


def definition_of(function: FunctionType) -> ast.FunctionDef:
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    assert isinstance(definition, ast.FunctionDef)
    return definition


# ==== Ends of branches ====


def ends_of(claim: FunctionType) -> Iterator[int]:
    """Yield the number of each branch that has an end."""
    for number, branch in enumerate(branches(definition_of(claim))):
        if not isinstance(branch[-1], ast.Raise):  # else it is there only to fail
            yield number


def failing_at_end(claim: FunctionType, number: int, folder: Path) -> FunctionType:
    """Return the claim with ``assert False`` at the end of a branch.

    It is written to a file: CrossHair tells an assert of a claim from a precondition by the queue in
    the source, and takes a failure in a function without a source file for an unmet precondition.
    """
    definition = definition_of(claim)
    list(branches(definition))[number].append(ast.parse("assert False").body[0])
    source = ast.unparse(definition)
    file = folder / f"{claim.__name__}.py"
    file.write_text(source)
    names = dict(vars(inspect.getmodule(claim)))
    exec(compile(source, file, "exec"), names)
    function = names[claim.__name__]
    assert isinstance(function, FunctionType)
    return function


def branches(definition: ast.FunctionDef) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(definition):
        if isinstance(node, ast.FunctionDef | ast.ExceptHandler | ast.If | ast.For):
            yield node.body
        if isinstance(node, ast.If | ast.Try) and node.orelse:
            yield node.orelse
