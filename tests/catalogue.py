"""The one catalogue of the faults that are planted: each mistake, and who must find it.

Nothing is listed here: it is read off where the faults are planted, by what they replace.

* ``specs/*_faults.py`` ship, and each names the property of a *spec* that the model checker must refute.
* ``tests/claims/faults``: each names the *claim* that CrossHair must refute.
* ``tests/plants``: each is on the list of a *schedule* test, a *machine* of ``tests/stateful``, or both; those of the
  shell are found by *conforming* to a shipped specification too, as ``tests/conforming/machines.py`` says.

A mistake that several must find is written once: in the specs if it is there, else in the plants. ::

    python -m tests.catalogue           # the table, by primitive
    python -m tests.catalogue --record  # after a fault was added, or has one more finder

Which layers must find a fault is on record in ``catalogue.txt``, so that none of them is lost by a change of the tests.
The command only ever adds to it; a line is taken out by hand, where its fault has no place in the code any more.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from structsync.checking._load import shipped_specs

from . import plants
from .claims import faults as claimed
from .claims.faults._planting import Fault, OfASpec, Shared
from .conforming.machines import HELD
from .plants._reuse import overrides
from .schedules.test_planted_faults import TEST_OF
from .stateful.test_the_machines_find_planted_faults import FOUND_BY

RECORD = Path(__file__).with_suffix(".txt")

#: Of each place where a fault is planted: the layers that must find it.
Layers = dict[str, frozenset[str]]

#: What is replaced, and by what, as far as it can be told apart.
Change = tuple[object, str, object]


@dataclass(slots=True)
class Planted:
    """One mention of a mistake: where it is planted, what it replaces, and who must find it."""

    home: str
    replaced: frozenset[Change]
    written: frozenset[int]
    """The very functions; who shares a mistake has the same ones."""
    finders: list[str]


@dataclass(slots=True)
class Mistake:
    """What several mentions have in common."""

    mentions: list[Planted] = field(default_factory=list)

    @property
    def finders(self) -> list[str]:
        return [finder for one in self.mentions for finder in one.finders]

    @property
    def is_written_once(self) -> bool:
        """Whether the tests share one text, and that of the specs if there is one.

        In the specs a mistake may be written for each property that it breaks: each time it is the bug of
        another library, which the docstring tells of.
        """
        texts = {one.home.partition(".")[0]: set[frozenset[int]]() for one in self.mentions}
        for one in self.mentions:
            texts[one.home.partition(".")[0]].add(one.written)
        shipped = texts.pop("specs", set())
        rest = set().union(*texts.values())
        return len(rest) <= 1 and (not shipped or rest <= shipped)


def catalogue() -> list[Mistake]:
    """Return all mistakes; two that replace the same by the same are one."""
    found: dict[frozenset[Change], Mistake] = defaultdict(Mistake)
    for one in (*of_the_specs(), *of_the_claims(), *of_the_plants()):
        found[one.replaced].mentions.append(one)
    return [*found.values()]


# ==== Where they are planted ====


def of_the_specs() -> Iterator[Planted]:
    for name, one in shipped_specs().faults.items():
        factory = one.factory
        home, finder = f"specs.{name}", f"spec {one.spec.__name__}.{one.refuted_by}"
        if isinstance(factory, type):
            replaced = [(shipped(factory), *item) for item in overrides(factory).items()]
            yield planted(home, [*replaced, *inherited(factory)], [finder])
        else:
            yield planted(home, [(one.spec, one.field, factory)], [finder])


def inherited(factory: type) -> Iterator[tuple[object, str, object]]:
    """Yield the other faults that a class of faults is made of."""
    for base in factory.__mro__[1:]:
        if base.__module__.endswith("_faults"):
            yield base, "", base


def of_the_claims() -> Iterator[Planted]:
    for module in modules_of(claimed):
        for name, one in vars(module).items():
            if isinstance(one, Fault | Shared | OfASpec):
                home = f"claims.{short(module)}.{name}"
                yield planted(home, replaced_by(one.plant), [f"claim {one.refuted_by}"])


def of_the_plants() -> Iterator[Planted]:
    listed = {*finders_by_plant()}
    for module in modules_of(plants):
        listed |= {*plants_in(module)}
    for one in sorted(listed, key=lambda one: (one.__module__, one.__name__)):
        home = f"plants.{one.__module__.rpartition('.')[2]}.{one.__name__}"
        yield planted(home, replaced_by(one), finders_by_plant().get(one, []))


def plants_in(module: ModuleType) -> Iterator[Callable[[Any], None]]:
    """Yield the functions of one argument, which is where they are planted."""
    for one in vars(module).values():
        if (
            isinstance(one, FunctionType)
            and one.__module__ == module.__name__
            and [*inspect.signature(one).parameters] == ["patch"]
        ):
            yield one


def finders_by_plant() -> dict[Callable[[Any], None], list[str]]:
    """Return who must find a plant: tests of schedules, machines, and machines of the specifications."""
    found: dict[Callable[[Any], None], list[str]] = defaultdict(list)
    for test, sought in TEST_OF:
        for one in sought:
            found[one].append(f"schedule {test.__name__}")
    for machine, one in FOUND_BY:
        found[one].append(f"machine {machine.__name__}")
    for name, held in HELD.items():
        for one in held.finds:
            found[one].append(f"conforming {name}")
    return found


def modules_of(package: ModuleType) -> Iterator[ModuleType]:
    for one in pkgutil.iter_modules(package.__path__):
        if not one.name.startswith("_"):
            yield importlib.import_module(f"{package.__name__}.{one.name}")


# ==== What they replace ====


class _Notebook:
    """Stands for pytest's monkeypatch, and replaces nothing."""

    def __init__(self) -> None:
        self.replaced: list[tuple[object, str, object]] = []

    def setattr(self, owner: object, name: object, value: object = None, **_: object) -> None:
        if isinstance(owner, str):  # the path of an attribute
            self.replaced.append((owner, "", name))
        else:
            self.replaced.append((owner, str(name), value))


def replaced_by(mistake: Callable[[Any], None]) -> list[tuple[object, str, object]]:
    notebook = _Notebook()
    mistake(notebook)
    return notebook.replaced


def planted(home: str, replaced: list[tuple[object, str, object]], finders: list[str]) -> Planted:
    changes = frozenset((owner, name, meaning(value)) for owner, name, value in replaced)
    written = frozenset(id(code_of(value) or value) for *_, value in replaced)
    return Planted(home, changes, written, finders)


def shipped(factory: type) -> type:
    """Return the class of the package that a class of faults is made of, or itself if there is none."""
    found = (one for one in factory.__mro__ if one.__module__.startswith("structsync._"))
    return next(found, factory)


def short(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2]


def code_of(value: object) -> CodeType | None:
    function = value.fget if isinstance(value, property) else value
    return function.__code__ if isinstance(function, FunctionType) else None


def meaning(value: object) -> object:
    """Return what is the same for functions that say the same in the same words."""
    code = code_of(value)
    if code is None or not isinstance(value, FunctionType | property):
        return repr(value)
    function = value.fget if isinstance(value, property) else value
    assert isinstance(function, FunctionType)
    # what it calls from outside, such as the function that it replaces
    outside = [repr(cell.cell_contents) for cell in function.__closure__ or ()]
    return (type(value), words_of(code, function.__doc__), *outside)


def words_of(code: CodeType, doc: str | None) -> object:
    constants = [
        words_of(one, None) if isinstance(one, CodeType) else repr(one)
        for one in code.co_consts
        if doc is None or one != doc
    ]
    return code.co_code, *constants, code.co_names, len(code.co_varnames)


# ==== Which layers find them ====


def layers_of(mistakes: list[Mistake]) -> Layers:
    """Return the layers, by each place where a fault is planted; who shares a mistake shares its finders."""
    return {
        one.home: frozenset(finder.partition(" ")[0] for finder in each.finders)
        for each in mistakes
        for one in each.mentions
    }


def on_record(text: str) -> Layers:
    """Read what :func:`as_record` wrote."""
    lines = [line.partition(":") for line in text.splitlines()]
    return {home: frozenset(layers.split()) for home, _, layers in lines}


def as_record(layers: Layers) -> str:
    return "".join(f"{home}: {' '.join(sorted(layers[home]))}\n" for home in sorted(layers))


def grown(recorded: Layers, now: Layers) -> Layers:
    """Return the record with what there is now; what is lost stays on it."""
    return {
        home: recorded.get(home, frozenset()) | now.get(home, frozenset())
        for home in {*recorded, *now}
    }


def lost(recorded: Layers, now: Layers) -> list[str]:
    """Return one line for each fault that is gone, or that a layer need not find any more."""
    return [
        f"{home} is not found any more by: {', '.join(sorted(missing))}"
        for home, layers in sorted(recorded.items())
        if (missing := layers - now.get(home, frozenset()))
    ]


def table() -> Iterator[str]:
    """Yield the lines of the table, by where a mistake is written."""
    for one in catalogue():
        yield one.mentions[0].home
        for finder in one.finders:
            yield f"    {finder}"


if __name__ == "__main__":
    if sys.argv[1:] == ["--record"]:
        before = on_record(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
        RECORD.write_text(as_record(grown(before, layers_of(catalogue()))), encoding="utf-8")
    else:
        print(*table(), sep="\n")  # noqa: T201
