"""The command `structsync examples`: the programs of the repository, for users who installed the wheel."""

from __future__ import annotations

import ast
import importlib.metadata
import shutil
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from .checking._nearest import nearest

#: In the wheel these files are data, not modules: they lie beside the environment's programs.
_INSTALLED = ("share", "structsync", "examples", "README.md")


def shipped_folder() -> Path | None:
    """Return where the examples are: in the source tree, or where the wheel was installed; None if nowhere."""
    source = Path(__file__).parents[1] / "examples"
    if (source / "README.md").is_file():
        return source
    for file in importlib.metadata.files("structsync") or ():
        if file.parts[-len(_INSTALLED) :] == _INSTALLED:
            return Path(str(file.locate())).resolve().parent
    return None


def _complete(ctx: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
    """Return the names that a shell may complete."""
    folder = shipped_folder()
    return [name for name in _examples_in(folder) if name.startswith(begun)] if folder else []


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=_complete)
@click.option(
    "--to",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(),
    help="Copy into this folder, created if necessary; by default the current one.",
)
def examples(names: tuple[str, ...], to: Path) -> None:
    """List the example programs, or copy those that are named."""
    folder = shipped_folder()
    if folder is None:
        raise click.ClickException("this copy of structsync comes without its examples")
    found = _examples_in(folder)
    if names:
        sources = dict.fromkeys([_named(name, found) for name in names])
        for path in _copied([*sources], to):
            click.echo(path)
    else:
        _print(found)


def _examples_in(folder: Path) -> dict[str, Path]:
    """Return the programs and the folders of programs, by name."""
    paths = sorted(folder.iterdir(), key=lambda path: (path.is_dir(), path.name))
    return {path.name: path for path in paths if _modules(path)}


def _modules(path: Path) -> list[Path]:
    """Return the modules of a program or of a folder, the one that it is called after first."""
    if path.is_file():
        return [path] if path.suffix == ".py" else []
    found = sorted(path.rglob("*.py"))
    return sorted(found, key=lambda one: path.name not in (one.stem, one.parent.name))


def _named(name: str, found: dict[str, Path]) -> Path:
    for each in (name, f"{name}.py"):
        if each in found:
            return found[each]
    likely = ", ".join(nearest(name, found))
    raise click.UsageError(f"there is no example {name!r}; the nearest: {likely}")


def _copied(sources: list[Path], to: Path) -> list[Path]:
    """Copy files and folders, all or none where one of the names is taken."""
    targets = [to / source.name for source in sources]
    if taken := [str(target) for target in targets if target.exists()]:
        raise click.UsageError(
            f"nothing is copied: {', '.join(taken)} exists already; name another --to"
        )
    try:
        to.mkdir(parents=True, exist_ok=True)
        for source, target in zip(sources, targets, strict=True):
            _copy(source, target)
    except OSError as error:
        raise click.UsageError(f"not everything is copied: {error}; name another --to") from None
    return targets


def _copy(source: Path, target: Path) -> None:
    if source.is_file():
        shutil.copy(source, target)
    else:
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))


def _print(found: dict[str, Path]) -> None:
    table = Table("name", "what it shows", box=None, pad_edge=False)
    for name, path in found.items():
        table.add_row(name + "/" * path.is_dir(), _first_sentence(path))
    console = Console()
    console.print(table, markup=False)
    console.print("\nstructsync examples NAME... [--to FOLDER] copies them.", markup=False)


def _first_sentence(path: Path) -> str:
    about = path / "README.md"
    if about.is_file():  # a folder of several programs
        return about.read_text(encoding="utf-8").partition("\n")[0]
    for module in _modules(path):
        if text := ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))):
            return text.partition("\n")[0]
    raise AssertionError(f"{path} has no module with a docstring")
