"""Build the sdist and the wheel twice, in different places and at different times: the bytes are the same.

A command, for tox: ``python build_twice.py TREE FOLDER`` builds into ``FOLDER/first`` and ``FOLDER/second``,
and prints what differs.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

# What a clone does not have: results of earlier work in the tree.
NOT_OURS = shutil.ignore_patterns(".git", ".tox*", ".venv*", ".*_cache", "__pycache__")


def hashes(folder: Path) -> dict[str, str]:
    """Return the hash of each file, by its name."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.iterdir())
    }


def build(tree: Path, folder: Path, time: int) -> dict[str, str]:
    """Build a copy of the tree whose files were all changed at one time; return the hashes."""
    copy = folder.with_name(folder.name + "-tree")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(tree, copy, ignore=NOT_OURS, symlinks=True)
    for path in copy.rglob("*"):
        os.utime(path, (time, time), follow_symlinks=False)
    command = [sys.executable, "-m", "build", "--outdir", str(folder), str(copy)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return hashes(folder)


def differences(first: dict[str, str], second: dict[str, str]) -> list[str]:
    """Return the names of what is not the same in both, or is in one of them only."""
    return sorted(name for name in {*first, *second} if first.get(name) != second.get(name))


def main() -> None:
    tree, folder = (Path(argument).resolve() for argument in sys.argv[1:3])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    first, second = (
        build(tree, folder / name, time)
        for name, time in (("first", 1_000_000_000), ("second", 1_700_000_000))
    )
    if different := differences(first, second):
        sys.exit(f"not reproducible: {', '.join(different)}")
    print(f"the same bytes twice: {', '.join(first)}")


if __name__ == "__main__":
    main()
