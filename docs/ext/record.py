"""What is checked, counted in the repository itself: no number on the pages is typed."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]

Table = tuple[list[str], list[list[str]]]


def dependencies() -> Table:
    """One row for each package that the library installs, with the reason beside it."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    listed = text.partition("\ndependencies = [")[2].partition("\n]\n")[0]
    found = re.findall(r'^    "([\w-]+)>=([\w.]+)",\s*# (.*)$', listed, re.MULTILINE)
    rows = [[*one] for one in found]
    return ["package", "at least", "what for"], rows


def specs() -> Table:
    """One row for each specification on record, and their sum."""
    entries = _manifest()["spec"]
    rows = [
        [name, _number(len(one["properties"])), _number(one["states"]), _number(one["transitions"])]
        for name, one in sorted(entries.items())
    ]
    sums = [
        _number(sum(len(one["properties"]) for one in entries.values())),
        *(
            _number(sum(one[what] for one in entries.values()))
            for what in ("states", "transitions")
        ),
    ]
    return ["specification", "properties", "states", "transitions"], [*rows, ["total", *sums]]


def faults() -> Table:
    """One row for each planted fault on record."""
    rows = [
        [name, one["refuted_by"], _number(one["steps"])]
        for name, one in sorted(_manifest()["fault"].items())
    ]
    return ["planted fault", "refuted by", "steps of the counterexample"], rows


def tests() -> Table:
    """One row for each folder of tests; a parametrized test counts once."""
    folders = {file.parent for file in (ROOT / "tests").rglob("test_*.py")}
    rows = [
        [
            folder.relative_to(ROOT).as_posix(),
            _number(len([*folder.glob("test_*.py")])),
            _number(_tests_in(folder)),
        ]
        for folder in sorted(folders)
    ]
    return ["folder", "files", "test functions"], rows


def zoo() -> Table:
    """One row for each known bug: where it was seen and how it comes about."""
    heads = ["bug", "seen in", "how it comes about"]
    return heads, [[name, one["source"], one["mechanism"]] for name, one in _zoo()]


def hunts() -> Table:
    """One row for each known bug: what it takes to find it and to confirm its fix."""
    heads = [
        "bug",
        "found as",
        "executions until then",
        "steps",
        "of them deviations",
        "states of the fix",
        "executions of the fix",
    ]
    keys = ["executions", "steps", "deviations", "fixed_states", "fixed_executions"]
    rows = [
        # Where every schedule was tried no states were told apart.
        [
            name,
            one["finds"],
            *(_number(one[key]) if one[key] or key != "fixed_states" else "-" for key in keys),
        ]
        for name, one in _zoo()
    ]
    return heads, rows


def unseen() -> Table:
    """One row for each test that is expected to miss a bug, with the reason that it states."""
    file = ROOT / "tests" / "zoo" / "test_what_it_cannot_see.py"
    rows = [
        [node.name.removeprefix("test_").replace("_", " "), ast.literal_eval(keyword.value)]
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
        for mark in node.decorator_list
        if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.xfail"
        for keyword in mark.keywords
        if keyword.arg == "reason"
    ]
    return ["what is missed", "why"], rows


def programs() -> Table:
    """One row for each program under examples/programs: what it uses, what holds, which mistake is found."""
    heads = ["program", "made of", "holds in every schedule", "a mistake, and what it causes"]
    folder = ROOT / "examples" / "programs"
    mistakes = tomllib.loads((folder / "mistakes.toml").read_text(encoding="utf-8"))
    rows = []
    for name, mistake in sorted(mistakes.items()):
        files = [
            one for one in (folder / f"{name}.py", folder.parent / f"{name}.py") if one.exists()
        ]
        tree = ast.parse(files[0].read_text(encoding="utf-8"))
        (test,) = [
            node.name.removeprefix("test_").replace("_", " ")
            for node in tree.body
            if isinstance(node, ast.AsyncFunctionDef) and node.name.startswith("test_")
        ]
        summary = (ast.get_docstring(tree) or "").partition("\n")[0]
        mistaken = f"{mistake['mistake']}: {mistake['found']}"
        file = files[0].relative_to(folder.parent).as_posix()
        rows.append([f"{file}: {summary}", ", ".join(_used(tree)), test, mistaken])
    return heads, rows


def mutation() -> Table:
    """One row for each target of mutation testing: what was noticed, of how many, by which nets."""
    heads = [
        "changed",
        "checked by",
        "noticed",
        "of",
        "share",
        "95 % interval",
        "target",
        "mutants in all",
    ]
    names = {"core": "the pure cores", "shell": "the trio shells"}
    rows = [
        [
            names[one["part"]],
            ", ".join(one["nets"]),
            _number(one["noticed"]),
            _number(one["of"]),
            f"{100 * one['noticed'] / one['of']:.1f} %" if one["of"] else "",
            "{:g} to {:g} %".format(*one["interval"]) if one["of"] else "",
            f"{one['target']:g} %",
            _number(one["total"]),
        ]
        for one in _mutation()["scores"]
    ]
    return heads, rows


def mutation_nets() -> Table:
    """One row for each net: how many mutants it was the first to notice."""
    parts = _mutation()["parts"]
    nets = sorted({net for one in parts.values() for net in one["noticed"]})
    rows = [
        [net, *(_number(one["noticed"].get(net, 0)) for _, one in sorted(parts.items()))]
        for net in nets
    ]
    rows.append(
        [
            "equivalent, with a reason on record",
            *(_number(one["equivalent"]) for _, one in sorted(parts.items())),
        ]
    )
    return ["outcome", *sorted(parts)], rows


def mutation_survivors() -> Table:
    """One row for each mutant that nothing noticed."""
    rows = [
        [one["id"].partition(":")[0], one["inside"], one["before"], one["after"]]
        for one in _mutation()["survivors"]
    ]
    return ["file", "in", "instead of", "it was"], rows


def mutation_when() -> Table:
    """What the numbers belong to."""
    last = _mutation()
    return ["date", "seed of the order", "Python"], [[last["date"], last["seed"], last["python"]]]


def _mutation() -> dict[str, Any]:
    file = ROOT / "tests" / "mutation" / "last.json"
    loaded: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return loaded


def _zoo() -> list[tuple[str, dict[str, Any]]]:
    file = ROOT / "tests" / "zoo" / "found.toml"
    return sorted(tomllib.loads(file.read_text(encoding="utf-8")).items())


def _manifest() -> dict[str, Any]:
    return tomllib.loads((ROOT / "specs" / "manifest.toml").read_text(encoding="utf-8"))


def _tests_in(folder: Path) -> int:
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    return sum(
        isinstance(node, kinds) and node.name.startswith("test_")
        for file in folder.glob("test_*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    )


def _used(tree: ast.Module) -> list[str]:
    """Return what a program imports from structsync itself."""
    return [
        alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module == "structsync"
        for alias in node.names
    ]


def _number(value: int) -> str:
    return f"{value:,}"
