"""The subcommand `explore`: explored tests, and plain async functions, without pytest."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import shlex
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem
from rich.console import Console
from rich.table import Table
from rich.text import Text

from structsync.checking._suite import EXIT_CONFIRMED, EXIT_REFUTED, EXIT_UNFINISHED
from structsync.checking._verdict import Verdict
from structsync.report import to_json, to_text
from structsync.report._folder import make
from structsync.report._progress import ProgressLine
from structsync.report._words import counted
from structsync.testing import _runner
from structsync.testing._errors import (
    ExploreUsageError,
    NondeterminismError,
    NotExhaustiveWarning,
    ReplayError,
)
from structsync.testing._execution.skips import skip_of
from structsync.testing._result import REPLAYED, Exploration
from structsync.testing._search.runs import Progress

from .merge import digest_of_sources, versions
from .options import as_options, asked_for, setting_options
from .targets import Target, targets

FORMAT = "structsync.explore/1"

_STYLES = {
    Verdict.CONFIRMED: "green",
    Verdict.REFUTED: "bold red",
    Verdict.UNFINISHED: "yellow",
}


# ==== the command ====


def _shard(text: str) -> tuple[int, int]:
    """Read one of several, as in 3/16."""
    number, slash, of = text.partition("/")
    if not (slash and number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
        raise click.BadParameter(
            f"{text!r} is none of several: write 3/16 for the third of sixteen"
        )
    return int(number), int(of)


@click.command()
@click.argument(
    "given",
    nargs=-1,
    required=True,
    metavar="TARGET...",
    shell_complete=lambda ctx, parameter, begun: [CompletionItem(begun, type="file")],
)
@setting_options
@click.option(
    "--shard",
    type=_shard,
    metavar="K/N",
    help="Search one part of several; see structsync merge-shards.",
)
@click.option("--replay", metavar="TOKEN", help="Run only the schedule of this token.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document, nothing else.")
@click.option(
    "--report",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write an HTML and a JSON file for each failure into this folder.",
)
def explore(
    given: tuple[str, ...],
    replay: str | None,
    as_json: bool,
    report: Path | None,
    **asked: Any,
) -> None:
    """Explore every schedule of async test functions.

    A TARGET is module:function, path/to/file.py::function, or a module or file alone for all
    functions in it that @explore() decorates. Options override the decorator. What only a test runner
    does is not done here: fixtures, also those with autouse, marks such as skip and xfail, and setup functions.

    Exit code: 0 all confirmed, or all of the --shard seen; 1 a schedule breaks something; 2 something
    is not finished, or left to the test runner that sets it up; 64 wrong usage, or a function that cannot be explored.
    """
    changes = asked_for(asked)
    if report is not None:
        _make(report)
    with contextlib.redirect_stdout(sys.stderr):
        chosen = [target for one in given for target in targets(one)]
        if replay and len(chosen) != 1:
            raise click.UsageError(f"--replay is for one function, and {len(chosen)} are given")
        # Before a test imports more, one in this shard and another in that.
        sources = digest_of_sources()
        found, left = _explore_all(chosen, changes, replay)
    code = _exit_code(found, left)
    files = [file for one in found if report for file in _runner.written(report, one)]
    if as_json:
        document = _document(found, left, code)
        for one in document["explored"]:
            one["sources"] = sources
        click.echo(json.dumps(document, indent=2))
    else:
        _print(found, left, files)
    sys.exit(code)


def _make(folder: Path) -> None:
    try:
        make(folder)
    except OSError as error:
        raise click.UsageError(f"--report must be a folder that can be made: {error}") from error


def _explore_all(
    chosen: Sequence[Target], changes: dict[str, Any], replay: str | None
) -> tuple[list[Exploration], dict[str, str]]:
    """Return what was found, and why the others were left out, by name."""
    found: list[Exploration] = []
    left: dict[str, str] = {}
    with ProgressLine(Console(stderr=True)) as line:
        for one in chosen:
            if one.missing:
                left[one.name] = one.missing
            elif found and found[-1].interrupted:
                left[one.name] = "not started"
            else:
                line.begin(one.name, changes.get("executions", one.settings.executions))
                try:
                    found.append(_explore_one(one, changes, replay, partial(show, line)))
                except BaseException as error:
                    if skip_of(error) is None:
                        raise
                    left[one.name] = f"skips itself: {error}"
    return found, left


def _explore_one(
    target: Target,
    changes: dict[str, Any],
    replay: str | None,
    update: Callable[[Progress], None],
) -> Exploration:
    session = _runner.Session(
        name=target.name,
        changes=changes,
        replay=replay,
        progress=update,
        command=lambda token: shlex.join(
            ["structsync", "explore", target.name, *as_options(changes), "--replay", token]
        ),
    )
    try:
        with _runner.running(session), warnings.catch_warnings():
            # The table says it.
            warnings.simplefilter("ignore", NotExhaustiveWarning)
            return _runner.run_test(target.fn, target.settings, (), {}, target.name)
    except (ExploreUsageError, NondeterminismError, ReplayError) as error:
        raise click.UsageError(f"{target.name}: {error}") from error
    except ValueError as error:
        raise click.UsageError(str(error)) from error


def show(line: ProgressLine, seen: Progress) -> None:
    """Show how far a search has come; its failure stays above."""
    if seen.failure:
        line.print(f"{seen.failure}; looking for a smaller schedule")
    rate = seen.executions / max(seen.seconds, 1e-9)
    figures = (
        f"{counted(seen.executions, 'execution')}  {counted(seen.states, 'state')}  {rate:,.0f}/s"
    )
    line.show(f"{figures}  {seen.seconds:.0f} s", completed=seen.executions)


# ==== what it says ====


def _exit_code(found: Sequence[Exploration], left: dict[str, str]) -> int:
    verdicts = [one.verdict for one in found]
    if Verdict.REFUTED in verdicts:
        return EXIT_REFUTED
    seen = all(one.verdict is Verdict.CONFIRMED or _is_a_whole_shard(one) for one in found)
    return EXIT_UNFINISHED if left or not seen else EXIT_CONFIRMED


def _is_a_whole_shard(found: Exploration) -> bool:
    return found.shard is not None and found.shard.complete


def _print(found: Sequence[Exploration], left: dict[str, str], files: Sequence[str]) -> None:
    console = Console()
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(min_width=max(len(one.value) for one in Verdict))
    table.add_column(overflow="fold")
    for one in found:
        if one.failure:
            console.print(to_text(one.failure.counterexample))
            console.print()
        verdict = Text(one.verdict.value, style=_STYLES[one.verdict])
        table.add_row(verdict, Text.assemble((one.test, "bold"), "\n", one.covered))
    for name, why in left.items():
        table.add_row(
            Text("not explored", style="yellow"), Text.assemble((name, "bold"), "\n", why)
        )
    console.print(table)
    console.print()
    if searched := [one for one in found if one.unfinished != REPLAYED]:
        executions, seconds = sum(o.executions for o in searched), sum(o.seconds for o in searched)
        rate = executions / max(seconds, 1e-9)
        console.print(f"{counted(executions, 'execution')} in {seconds:.1f} s ({rate:,.0f}/s)")
    for page in files:
        console.print(f"report: {page}", soft_wrap=True, markup=False)


def _document(found: Sequence[Exploration], left: dict[str, str], code: int) -> dict[str, Any]:
    """Return all results as a dictionary that `json.dumps` takes."""
    return {
        "format": FORMAT,
        "exit_code": code,
        "versions": versions(),
        "explored": [_result(one) for one in found],
        "not_explored": left,
    }


def _result(one: Exploration) -> dict[str, Any]:
    failure = one.failure
    return {
        "test": one.test,
        "verdict": one.verdict.value,
        "covered": one.covered,
        "settings": dataclasses.asdict(one.settings),
        "executions": one.executions,
        "states": one.states,
        "steps": one.steps,
        "seconds": one.seconds,
        "memory": one.memory,
        "unfinished": one.unfinished,
        "shard": one.shard and dataclasses.asdict(one.shard),
        "failure": failure
        and {
            "kind": failure.kind,
            "message": failure.message,
            "error": failure.error and repr(failure.error),
            "deviations": failure.deviations,
            "execution": failure.execution,
            "token": failure.token,
            "replayed": failure.replayed,
            "counterexample": to_json(failure.counterexample),
        },
    }
