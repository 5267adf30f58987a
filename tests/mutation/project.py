"""What is changed, and what is asked about it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Project:
    """A package, its parts, and the nets, the first to be asked first."""

    package: Path
    parts: Mapping[str, tuple[str, ...]]
    """Folders by part, relative to the package."""
    nets: Sequence[Net]
    targets: Sequence[Target]
    sources: Sequence[Path]
    """What a result depends on."""
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
        digest = hashlib.sha256(repr([one.name for one in self.nets]).encode())
        for path in self._files():
            digest.update(str(path).encode() + b"\0" + path.read_bytes() + b"\0")
        return digest.hexdigest()[:16]

    def _files(self) -> Iterator[Path]:
        for source in self.sources:
            yield from sorted(source.rglob("*.py") if source.is_dir() else [source])


def structsync(*, counts: bool = True, schedules: bool = False) -> Project:
    """Return structsync itself."""
    folders = ["core", "shell", "every_primitive", "drop_in", "peers"]
    if schedules:
        folders.append("schedules")
    # of the stateful tests not those of the machines themselves
    tests = [*folders, "stateful/test_cores.py", "stateful/test_shells.py"]
    package = ROOT / "structsync"
    return Project(
        package=package,
        parts={"core": ("_core/",), "shell": ("_runtime/", "_primitives/")},
        nets=[
            CheckerNet(counts=counts),
            ClaimsNet(),
            TestsNet(ROOT, [f"tests/{one}" for one in tests]),
        ],
        targets=[
            Target("core", frozenset({"checker", "claims", "tests"}), 95),
            Target("core", frozenset({"checker", "claims"}), 85),
            Target("shell", frozenset({"checker", "claims", "tests"}), 95),
        ],
        sources=[
            *(package / one for one in ("_core", "_runtime", "_primitives", "checking")),
            *(package / "testing", ROOT / "specs", ROOT / "specs" / "manifest.toml"),
            *(ROOT / "tests" / one for one in (*folders, "stateful", "claims", "conftest.py")),
        ],
        equivalents=Path(__file__).parent / "equivalent.toml",
    )
