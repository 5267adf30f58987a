"""One claim, one verdict: CrossHair's answer, read so that nothing but a proof is green.

Why not its command line: it ends with status 0 for "not confirmed", for "precondition never met" and
for "no contract found" as well. Why not the verdict alone: where no value meets the preconditions,
the verdict is "confirmed". So here each claim also loses to a planted fault, and the paths that
confirm it must reach the end of each of its branches.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import textwrap
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from types import FunctionType

from crosshair.core import Checkable, ConditionCheckable
from crosshair.core_and_libs import (
    AnalysisKind,
    MessageType,
    NoTracing,
    analyze_function,
    run_checkables,
)
from crosshair.options import AnalysisOptionSet
from crosshair.statespace import context_statespace

from structsync.checking import _load

from ._as_written import asserts_as_written

# What a claim costs on an idle machine is 2 s at most; this is for a busy one.
SECONDS = 60.0

# What runs in it is no part of the search. (CrossHair's own name for it has no types.)
unseen: Callable[[], AbstractContextManager[None]] = NoTracing


class Verdict(StrEnum):
    CONFIRMED = "confirmed over all paths"
    REFUTED = "refuted by a counterexample"
    NOT_CONFIRMED = (
        "not confirmed"  # paths left over, no path at all, or an error that is no assert
    )


@dataclass(frozen=True, slots=True)
class Answer:
    """The verdict, what CrossHair says to it, and which ends its paths reached."""

    verdict: Verdict
    words: str
    reached: frozenset[int]


def analyze(claim: Callable[..., object]) -> Answer:
    """Ask CrossHair about one claim."""
    options = AnalysisOptionSet(
        analysis_kind=[AnalysisKind.asserts], report_all=True, per_condition_timeout=SECONDS
    )
    reached: set[int] = set()
    checks = [noting_ends(one, reached) for one in analyze_function(claim, options)]
    messages = list(run_checkables(checks))
    words = "; ".join(f"{one.state.name}: {one.message}" for one in messages)
    if any(is_counterexample(one.state, one.message) for one in messages):
        verdict = Verdict.REFUTED
    elif [one.state for one in messages] == [MessageType.CONFIRMED]:
        verdict = Verdict.CONFIRMED
    else:
        verdict = Verdict.NOT_CONFIRMED
        words = words or "nothing to check: a claim begins with an assert"
    return Answer(verdict, words, frozenset(reached))


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


def passing_ends(claim: FunctionType, folder: Path) -> FunctionType:
    """Return the claim with a call of ``passed`` at each of its ends, or before what leaves there.

    It is written to a file: CrossHair tells an assert of a claim from a precondition by the line in
    the source, and takes a failure in a function without a source file for an unmet precondition.
    """
    definition = definition_of(claim)
    numbered = list(branches(definition))
    for number in ends_of(claim):
        branch = numbered[number]
        call = ast.parse(f"_passed({number})").body[0]
        leaves = isinstance(branch[-1], ast.Return | ast.Continue | ast.Break)
        branch.insert(len(branch) - leaves, call)
    source = ast.unparse(definition)
    file = folder / f"{claim.__name__}.py"
    file.write_text(source)
    names = {**vars(inspect.getmodule(claim)), "_passed": passed}
    exec(compile(source, file, "exec"), names)
    function = names[claim.__name__]
    assert isinstance(function, FunctionType)
    return function


def passed(number: int) -> None:
    """Note of the path on its way that it was at an end."""
    with unseen():
        context_statespace().extra(Passed).ends.add(number)


class Passed:
    """The ends at which one path was: CrossHair makes one for each."""

    def __init__(self, _solver: object) -> None:
        self.ends: set[int] = set()


def noting_ends(check: Checkable, reached: set[int]) -> Checkable:
    """Let the paths that are confirmed say which ends they reached.

    A path may pass an end and be given up later, so it is asked in the postcondition, which comes last
    and says nothing else here. And a path that is confirmed may be none that any values take: what
    CrossHair takes for granted on it, it checks only where a counterexample depends on it. So that is
    checked before a path counts.
    """

    def note(_: Mapping[str, object]) -> bool:
        space = context_statespace()
        with unseen():
            ends = space.extra(Passed).ends
        if ends:
            space.detach_path()
            with unseen():
                if space.witness() is not None:
                    reached.update(ends)
        return True

    if not isinstance(check, ConditionCheckable):
        return check
    (post,) = check.conditions.post
    conditions = replace(check.conditions, post=[replace(post, evaluate=note)])
    return replace(check, conditions=conditions)


def branches(definition: ast.FunctionDef) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(definition):
        if isinstance(node, ast.FunctionDef | ast.ExceptHandler | ast.If | ast.For):
            yield node.body
        if isinstance(node, ast.If | ast.Try) and node.orelse:
            yield node.orelse
