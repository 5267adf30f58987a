"""What is changed, and what is asked about it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from .mutants import Mutant, mutants_of
from .net_checker import CheckerNet
from .net_claims import ClaimsNet
from .net_tests import TestsNet
from .nets import Net

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Target:
    """A share of the mutants of a part that some nets must notice."""

    part: str
    nets: frozenset[str]
    percent: float


@dataclass(frozen=True)
class Project:
    """A package, its parts, and the nets, the first to be asked first."""

    package: Path
    parts: Mapping[str, tuple[str, ...]]
    """Folders by part, relative to the package."""
    nets: Sequence[Net]
    targets: Sequence[Target]
    sources: Sequence[Path]
    """What every result depends on."""
    tests: Sequence[Path]
    """What the items of a net of tests are in; each is named by its file in the folder ``root``."""
    root: Path
    equivalents: Path

    @property
    def folders(self) -> tuple[str, ...]:
        """Return the folders of all parts."""
        return tuple(folder for folders in self.parts.values() for folder in folders)

    def part_of(self, file: str) -> str:
        """Return the part that a file belongs to."""
        return next(part for part, folders in self.parts.items() if file.startswith(folders))

    def mutants(self) -> list[Mutant]:
        """Return all mutants, by file and place."""
        return [
            one
            for path in sorted(self.package.rglob("*.py"))
            if (file := path.relative_to(self.package).as_posix()).startswith(self.folders)
            for one in mutants_of(path, file)
        ]

    def digest(self) -> str:
        """Return what is different as soon as a result could be."""
        return self._digest_of(self._shared, *self._test_files.values())

    def evidence(self, item: str) -> str:
        """Return what is different as soon as the item may notice less than it did.

        That is so for a test if its own file changed, or a file that is not a file of tests.

        Args:
          item: the item that noticed a mutant; another word where none did: then every file counts.
        """
        file = self._test_files.get(item.partition("::")[0])
        return self.digest() if file is None else self._digest_of(self._shared, file)

    @cached_property
    def _test_files(self) -> dict[str, str]:
        """The digests of the files of tests, by their names."""
        files = sorted(one for one in _files(self.tests) if one.name.startswith("test_"))
        return {
            name: self._digest_of(name, file.read_bytes().hex())
            for file in files
            if (name := file.relative_to(self.root).as_posix())
        }

    @cached_property
    def _shared(self) -> str:
        """The digest of all else."""
        names = [one.name for one in self.nets]
        files = [one for one in _files(self.tests) if not one.name.startswith("test_")]
        contents = (
            (file.relative_to(self.root).as_posix(), file.read_bytes().hex())
            for file in sorted({*files, *_files(self.sources)})
        )
        return self._digest_of(*names, *(part for each in contents for part in each))

    @staticmethod
    def _digest_of(*parts: str) -> str:
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _ignored(*names: str) -> list[str]:
    return [f"--ignore={ROOT / 'tests' / 'observing' / one}" for one in names]


def _files(sources: Iterable[Path]) -> Iterator[Path]:
    for source in sources:
        yield from source.rglob("*.py") if source.is_dir() else [source]


def structsync(*, counts: bool = True, schedules: bool = False) -> Project:
    """Return structsync itself."""
    folders = ["core", "shell", "every_primitive", "drop_in", "peers", "observing", "conforming"]
    if schedules:
        folders.append("schedules")
    tests = [
        *folders,
        # not those of the machines themselves
        *("stateful/test_cores.py", "stateful/test_shells.py"),
        # not those of several processes
        *("distributed/conformance", "distributed/test_leases.py"),
        "distributed/test_protocol_schedules.py",
    ]
    # a search of the night takes longer than its mutant is worth, and so does a terminal
    left_out = ["-m", "not nightly", *_ignored("test_no_false_alarm.py", "test_top.py")]
    package = ROOT / "structsync"
    return Project(
        package=package,
        parts={"core": ("_core/",), "shell": ("_runtime/", "_primitives/")},
        nets=[
            CheckerNet(counts=counts),
            ClaimsNet(),
            TestsNet(ROOT, [f"tests/{one}" for one in tests], left_out),
        ],
        targets=[
            Target("core", frozenset({"checker", "claims", "tests"}), 95),
            Target("core", frozenset({"checker", "claims"}), 85),
            Target("shell", frozenset({"checker", "claims", "tests"}), 95),
        ],
        sources=[
            *(package / one for one in ("_core", "_runtime", "_primitives", "checking")),
            *(package / one for one in ("testing", "observing", "distributed")),
            *(ROOT / "specs", ROOT / "specs" / "manifest.toml"),
            *(ROOT / "tests" / one for one in ("claims", "conftest.py", "logged.py", "threads.py")),
        ],
        tests=[ROOT / "tests" / one for one in (*folders, "stateful", "distributed")],
        root=ROOT,
        equivalents=Path(__file__).parent / "equivalent.toml",
    )
