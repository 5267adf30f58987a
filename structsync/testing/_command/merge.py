"""The subcommand `merge-shards`: the verdict of all shards of a search together."""

from __future__ import annotations

import json
import platform
import sys
from collections import defaultdict
from collections.abc import Sequence
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click
from rich import box
from rich.console import Console
from rich.table import Table

from structsync.checking._suite import EXIT_CONFIRMED, EXIT_REFUTED, EXIT_UNFINISHED
from structsync.checking._verdict import Verdict
from structsync.testing._execution.under_test import is_under_test

FORMAT = "structsync.shards/1"

#: Settings that decide how the work is divided, or when it is given up, and not what there is to do.
_NOT_COMPARED = ("shard", "workers", "executions", "states", "seconds", "exhaustive")
#: Folders of libraries.
_INSTALLED = {"site-packages", "dist-packages"}
_CODES = {
    Verdict.CONFIRMED: EXIT_CONFIRMED,
    Verdict.REFUTED: EXIT_REFUTED,
    Verdict.UNFINISHED: EXIT_UNFINISHED,
}


def versions() -> dict[str, str]:
    """Return what the shards of one search must have in common besides the test."""
    packages = {name: version(name) for name in ("structsync", "trio", "outcome")}
    return {
        **packages,
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
    }


def digest_of_sources() -> str:
    """Return a digest of the modules that are loaded, but for libraries: of what may be under test."""
    digest = blake2b(digest_size=16)
    for name, module in sorted(sys.modules.items()):
        file = Path(getattr(module, "__file__", None) or "")
        if file.suffix == ".py" and is_under_test(name) and not _INSTALLED & set(file.parts):
            digest.update(name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


@click.command()
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document, nothing else.")
def merge_shards(files: Sequence[Path], as_json: bool) -> None:
    """Merge the results of the shards of a search.

    FILES have the output of `structsync explore --shard K/N --json`, one for each K. A test is
    confirmed if all of its shards are present and complete, and belong to the same search: the same
    test and modules that it imports, settings, versions of Python, trio and structsync, and division into
    shards.

    Exit code: 0 all confirmed; 1 a schedule breaks something; 2 something is not finished; 64 wrong usage.
    """
    shards: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for file in files:
        for one in _results(file):
            shards[one["test"]].append(one)
    merged = {test: merge(found) for test, found in shards.items()}
    verdicts = [verdict for verdict, _ in merged.values()]
    worst = max(verdicts, key=[Verdict.CONFIRMED, Verdict.UNFINISHED, Verdict.REFUTED].index)
    if as_json:
        tests = [
            {"test": test, "verdict": verdict.value, "because": why}
            for test, (verdict, why) in merged.items()
        ]
        click.echo(
            json.dumps({"format": FORMAT, "exit_code": _CODES[worst], "tests": tests}, indent=2)
        )
    else:
        table = Table("test", "verdict", "because", box=box.SIMPLE_HEAD, pad_edge=False)
        for test, (verdict, why) in merged.items():
            table.add_row(test, verdict.value, why)
        Console(width=None if sys.stdout.isatty() else 160, markup=False).print(table)
    sys.exit(_CODES[worst])


def _results(file: Path) -> list[dict[str, Any]]:
    """Return what a file says of each test, with the versions that it was made with.

    Raises:
      click.UsageError: it is no such file.
    """
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
        found = [{**one, "versions": document["versions"]} for one in document["explored"]]
        left = document["not_explored"]
    except (ValueError, KeyError, TypeError) as error:
        raise click.UsageError(f"{file} is not what 'structsync explore --json' prints") from error
    if left or not found or any(one.get("shard") is None for one in found):
        what = ", ".join(left) or "what it has"
        raise click.UsageError(f"{file}: {what} was not explored with --shard K/N")
    return found


def merge(shards: Sequence[dict[str, Any]]) -> tuple[Verdict, str]:
    """Return the verdict on one test, and the reason."""
    for one in shards:
        if one["failure"] is not None:
            return (
                Verdict.REFUTED,
                f"{_name(one)}: {one['failure']['message']}; {one['failure']['token']}",
            )
    first = shards[0]
    for one in shards:
        if (what := _difference(first, one)) is not None:
            return (
                Verdict.UNFINISHED,
                f"{_name(first)} and {_name(one)} are of two searches: {what} differ",
            )
        if not one["shard"]["complete"]:
            return Verdict.UNFINISHED, f"{_name(one)} is not complete: {one['unfinished']}"
    of = first["shard"]["of"]
    missing = sorted({*range(1, of + 1)} - {one["shard"]["number"] for one in shards})
    if missing:
        numbers = ", ".join(map(str, missing))
        return Verdict.UNFINISHED, f"of {of} shards there is no {numbers}"
    executions = sum(one["executions"] for one in shards)
    return Verdict.CONFIRMED, f"{of} shards are complete: {executions:,} executions"


def _name(one: dict[str, Any]) -> str:
    return f"shard {one['shard']['number']}/{one['shard']['of']}"


def _difference(one: dict[str, Any], other: dict[str, Any]) -> str | None:
    """Return in what two shards differ that are to be of one search."""
    for name, value in one["settings"].items():
        if name not in _NOT_COMPARED and other["settings"].get(name) != value:
            return f"the settings ({name})"
    for name, words in (("versions", "the versions"), ("sources", "the modules of the test")):
        if one[name] != other[name]:
            return words
    cut = ("of", "depth", "prefixes", "digest")
    if any(one["shard"][name] != other["shard"][name] for name in cut):
        return "the prefixes, or how they were shared out,"
    return None
