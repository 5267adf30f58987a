"""The command `structsync`; what a subcommand does is done elsewhere.

Exit codes: 0 all confirmed; 1 something is refuted, cannot fail or differs from the manifest;
2 something is not finished and nothing refuted; 64 the command, a spec or a test is wrong.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from ._doctor import doctor
from ._examples import examples
from .checking import Loaded, SpecError, _manifest
from .checking._follow_file import follow_file, print_following
from .checking._nearest import nearest
from .checking._output import document, write_reports
from .checking._overall import Overall
from .checking._suite import (
    EXIT_CONFIRMED,
    EXIT_REFUTED,
    EXIT_UNFINISHED,
    EXIT_USAGE,
    Options,
    Run,
    Suite,
    exit_code,
)
from .checking._terminal import SearchLine, counterexamples, print_runs
from .checking._worker import load_all
from .observing.top import top
from .report import _folder
from .report._words import counted
from .testing._command.command import explore
from .testing._command.merge import merge_shards

#: More states than this take gigabytes; a spec without bounds should end by itself before that.
DEFAULT_MAX_STATES = 5_000_000

#: Into a file or a pipe the tables are printed as wide as names need, not as wide as a terminal.
LOG_WIDTH = 160


class _SpecFailure(click.ClickException):
    """A spec that cannot be run."""

    exit_code = EXIT_USAGE


#: What the help shows together, in this order.
_SECTIONS = {
    "Check and explore": ("check", "explore", "merge-shards"),
    "Watch": ("top", "doctor"),
    "Learn": ("examples",),
}


class _Group(click.Group):
    """A group that shows its commands in sections, and gives their errors their exit code."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, names in _SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(name, self.commands[name].get_short_help_str(limit=60)) for name in names]
                )

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with _own_exit_codes():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        with _own_exit_codes():
            return super().invoke(ctx)


@contextlib.contextmanager
def _own_exit_codes() -> Iterator[None]:
    try:
        yield
    except click.UsageError as error:
        # Declared for whole classes of errors. click's own 2 says here that a check is not finished.
        error.exit_code = EXIT_USAGE  # type: ignore[misc]
        raise
    except SpecError as error:
        raise _SpecFailure(str(error)) from error


@click.group(cls=_Group)
@click.version_option(package_name="structsync")
def main() -> None:
    """Synchronization for trio whose correctness is checked."""


def _made(context: click.Context, option: click.Parameter, folder: Path | None) -> Path | None:
    if folder is not None:
        try:
            _folder.make(folder)
        except OSError as error:
            raise click.BadParameter(f"cannot write into {folder}: {error.strerror}") from error
    return folder


@main.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document, nothing else.")
@click.option(
    "--max-states",
    type=click.IntRange(min=1),
    default=DEFAULT_MAX_STATES,
    show_default=True,
    help="End a search beyond this many states, not finished.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0),
    help="End the whole run after this time, not finished.",
)
@click.option(
    "--report",
    type=click.Path(file_okay=False, path_type=Path),
    callback=_made,
    help="Write an HTML and a JSON file for each counterexample into this folder.",
)
@click.option("--no-faults", is_flag=True, help="Leave out the planted faults.")
@click.option("--only", default="", help="Run the specs and faults whose name contains this.")
@click.option("--fail-fast", is_flag=True, help="Start nothing more once something is red.")
@click.option(
    "-j",
    "processes",
    type=click.IntRange(min=1),
    metavar="N",
    help="Search in N processes; all cores by default. The outcome is the same for any number.",
)
@click.option(
    "--manifest",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Compare with this record; manifest.toml beside the specs by default, if there is one.",
)
@click.option(
    "--trace",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Instead of searching, compare this recorded trace with the spec, of several the one that --only names.",
)
@click.option("--update-manifest", is_flag=True, help="Record instead of comparing.")
def check(
    paths: tuple[Path, ...],
    as_json: bool,
    max_states: int,
    seconds: float | None,
    report: Path | None,
    no_faults: bool,
    only: str,
    fail_fast: bool,
    manifest: Path | None,
    update_manifest: bool,
    trace: Path | None,
    processes: int | None,
) -> None:
    """Check all states of specifications.

    PATH is a file or a folder of specs; without one, structsync's own are checked.

    Exit code: 0 all confirmed and all faults found; 1 something is refuted, cannot fail or differs
    from the manifest; 2 something is not finished; 64 wrong usage, or a spec that cannot be run.
    """
    if trace is not None:
        follower = follow_file(trace, _loaded(paths), only)
        print_following(follower, trace, as_json, _console())
        unfinished = EXIT_UNFINISHED if follower.nothing_followed() else EXIT_CONFIRMED
        sys.exit(EXIT_REFUTED if follower.refutation else unfinished)
    options = Options(only, not no_faults, max_states, seconds, fail_fast, processes or _cores())
    runs, taken = _run(paths, options, manifest, update_manifest, Console(stderr=True))
    differences = _on_record(runs, manifest, update_manifest)
    code = exit_code(runs, differences)
    written = write_reports(report, [*counterexamples(runs)]) if report else []
    if as_json:
        click.echo(json.dumps(document(runs, differences, code), indent=2))
    else:
        console = _console()
        print_runs(console, runs, differences, taken)
        for page in written:
            console.print(f"report: {page}", soft_wrap=True, markup=False)
    sys.exit(code)


def _console() -> Console:
    return Console(width=None if sys.stdout.isatty() else LOG_WIDTH)


def _loaded(paths: Sequence[Path]) -> list[Loaded]:
    """Load the specs; what their modules print goes to stderr."""
    with contextlib.redirect_stdout(sys.stderr):
        return load_all(paths)


def _cores() -> int:
    """Return how many processes can run at once."""
    count: Callable[[], int | None] = getattr(os, "process_cpu_count", os.cpu_count)
    return count() or 1


def _run(
    paths: Sequence[Path],
    options: Options,
    manifest: Path | None,
    update: bool,
    progress: Console,
) -> tuple[list[Run], float]:
    """Load and run everything; what spec modules print goes to stderr.

    Returns:
        What was found, and the seconds that the searches took together.
    """
    try:
        loaded = _loaded(paths)
        with contextlib.redirect_stdout(sys.stderr):
            _check_any(options, [name for one in loaded for name in _names(one, options)])
            with SearchLine(progress) as line:
                line.overall = _overall(loaded, options, manifest, update)
                suite = Suite(options, line.start, line.update, line.overall)
                return suite.run(loaded, paths), suite.seconds()
    except KeyboardInterrupt:
        click.echo("interrupted; nothing is confirmed", err=True)
        sys.exit(EXIT_UNFINISHED)


def _names(loaded: Loaded, options: Options) -> list[str]:
    return [*loaded.specs, *(loaded.faults if options.faults else ())]


def _check_any(options: Options, names: Sequence[str]) -> None:
    """Raise if there is nothing to check."""
    if not any(options.only in name for name in names):
        raise SpecError(
            f"none of {counted(len(names), 'name')} contains {options.only!r}; the nearest: "
            f"{', '.join(nearest(options.only, names))}"
        )


def _overall(
    loaded: Sequence[Loaded], options: Options, manifest: Path | None, update: bool
) -> Overall:
    """Return the plan of a run: all searches, and how large those are that are on record."""
    kinds: dict[str, str] = {}
    transitions: dict[str, float] = {}
    for one in loaded:
        anew = update and _is_complete(one, loaded, manifest)
        recorded = _manifest.read(manifest or one.folder / _manifest.NAME, anew=anew)
        kinds |= dict.fromkeys(one.specs, "spec") | dict.fromkeys(
            one.faults if options.faults else (), "fault"
        )
        transitions |= {name: entry["transitions"] for name, entry in recorded["spec"].items()}
    return Overall({n: kind for n, kind in kinds.items() if options.only in n}, transitions)


def _is_complete(loaded: Loaded, all_of_them: Sequence[object], given: Path | None) -> bool:
    """Return whether a manifest is about one path alone."""
    return loaded.whole and (given is None or len(all_of_them) == 1)


def _on_record(runs: Sequence[Run], given: Path | None, update: bool) -> list[str]:
    """Compare runs with their manifests, or record them there."""
    found: list[str] = []
    for run in runs:
        file = given or run.loaded.folder / _manifest.NAME
        complete = _is_complete(run.loaded, runs, given)
        if update:
            _manifest.write(file, run, complete)
        elif given or file.exists():
            found += _manifest.differences(run, _manifest.read(file), complete)
    return found


main.add_command(explore)
main.add_command(merge_shards)
main.add_command(top)
main.add_command(examples)
main.add_command(doctor)


if __name__ == "__main__":
    main()
