"""What a reader does with a page, step by step, in the folder where this runs: the steps come as JSON on standard input.

It is a process of its own, because what the page shows as code runs in it, all in one namespace. ``follow_pages.py``
says which steps there are.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

PROGRAMS = {
    "pytest": ["-m", "pytest", "-p", "no:cacheprovider"],
    "structsync": ["-m", "structsync.cli"],
}
LONGEST = 300


class Reader:
    def __init__(self, pasted: set[str]) -> None:
        self.pasted = pasted
        self.names: dict[str, object] = {"__name__": "__main__"}

    def paste(self, name: str, text: str) -> None:
        """Add a block to the file whose name stands above it."""
        self._lies_at(name)
        with Path(name).open("a", encoding="utf-8") as file:
            file.write(text)
        # A reader starts Python anew when a file has changed.
        sys.modules.pop(Path(name).stem, None)

    def download(self, name: str, source: str) -> None:
        """Take the whole of a file, unless the page shows it or a command of the page has brought it."""
        if name not in self.pasted and not Path(name).exists():
            self._lies_at(name)
            shutil.copy(source, name)

    def code(self, source: str, fails: bool) -> None:
        """Paste code into the interpreter."""
        try:
            exec(compile(source, "a block of the page", "exec"), self.names)
        except Exception:
            if not fails:
                raise

    def command(self, words: list[str], code: int) -> None:
        """Run what the page shows after a dollar sign; of files that it brings, those that are shown do not count."""
        program, *rest = words
        there = {name for name in self.pasted if Path(name).exists()}
        self._run([*PROGRAMS[program], *rest], code)
        if rest[0] == "examples":
            for name in self.pasted - there:
                Path(name).unlink(missing_ok=True)

    def run(self, name: str) -> None:
        """Run a file that no command of the page names."""
        is_test = Path(name).name.startswith("test_")
        self._run([*PROGRAMS["pytest"], "-q", name] if is_test else [name], 0)

    def _run(self, words: list[str], code: int) -> None:
        ran = subprocess.run(
            [sys.executable, *words], capture_output=True, text=True, timeout=LONGEST, check=False
        )
        # A program that lacks a server or an operating system says so, instead of failing somewhere.
        lacks = "Traceback" not in ran.stderr and " needs " in ran.stderr
        if ran.returncode != code and not lacks:
            sys.exit(
                f"{' '.join(words)} ended with {ran.returncode}, not with {code}:\n"
                f"{ran.stdout}{ran.stderr}"
            )

    @staticmethod
    def _lies_at(name: str) -> None:
        folder = Path(name).parent
        folder.mkdir(parents=True, exist_ok=True)
        if (place := str(folder.resolve())) not in sys.path:
            sys.path.insert(0, place)


def main() -> None:
    steps = json.load(sys.stdin)
    reader = Reader({step[1] for step in steps if step[0] == "paste"})
    for kind, *arguments in steps:
        getattr(reader, kind)(*arguments)


if __name__ == "__main__":
    main()
