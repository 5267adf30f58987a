"""Public addresses: each mention agrees with ``[project.urls]``, and before a release each of them answers.

``python addresses.py ROOT`` requests every page that the repository links to, and every link of the README as a
package index shows it. It needs a network, so it is a step of a release and no test.
"""

from __future__ import annotations

import re
import sys
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

#: What people read: Markdown, pages, templates of issues. News becomes a page at a release.
PATTERNS = ("*.md", "*/*.md", "docs/**/*.rst", ".github/**/*.yml", "pyproject.toml")
_LINK = re.compile(r"""(?:\]\(|(?:src|srcset)="|<(?=https?://))([^\s<>()"]+)(?=[)">])""")
_OURS = re.compile(
    r"""https?://(?:[\w.-]*structsync[\w.-]*|[\w.-]+/(?:[\w.-]+/)?structsync)[^\s<>()"'`,]*"""
)


def project(root: Path) -> dict[str, Any]:
    """Return the tables of pyproject.toml."""
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))


def files(root: Path) -> list[Path]:
    """Return the files whose links readers follow."""
    found = {page for pattern in PATTERNS for page in root.glob(pattern)}
    return sorted(page for page in found if not {".tox", ".venv"} & {*page.parts})


def links(text: str) -> list[str]:
    """Return what a page links to, or shows."""
    return _LINK.findall(text)


def strangers(text: str, urls: dict[str, str]) -> list[str]:
    """Return the addresses of structsync that do not begin as pyproject.toml says."""
    source = urls["Source"].removeprefix("https://github.com")
    known = (urls["Documentation"], urls["Source"], f"https://raw.githubusercontent.com{source}/")
    return [one for one in _OURS.findall(text.replace("\\", "")) if not one.startswith(known)]


def missing_pages(text: str, documentation: str, docs: Path) -> list[str]:
    """Return the links to pages of our documentation that no build makes."""
    made = {page.relative_to(docs).with_suffix(".html").as_posix() for page in docs.rglob("*.rst")}
    made = {page for page in made if not page.startswith("news/")} | {""}
    versions = re.compile(rf"{re.escape(documentation)}(?:/en/(?:latest|stable)/|/?$)")
    ours = [one for one in links(text) if one.startswith(documentation)]
    return [one for one in ours if versions.sub("", one).partition("#")[0] not in made]


def as_an_index_shows(text: str, tables: dict[str, Any]) -> str:
    """Return the README as hatch-fancy-pypi-readme changes it."""
    hook = tables["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    for one in hook["substitutions"]:
        text = re.sub(one["pattern"], one["replacement"], text)
    return text.replace("$HFPR_VERSION", tables["project"]["version"])


def requested(root: Path) -> Iterator[str]:
    """Yield every address that a release publishes."""
    tables = project(root)
    yield from tables["project"]["urls"].values()
    readme = (root / "README.md").read_text(encoding="utf-8")
    texts = [as_an_index_shows(readme, tables), *(page.read_text("utf-8") for page in files(root))]
    for text in texts:  # in pyproject.toml an address may be a pattern
        yield from (
            one for one in links(text) if re.match(r"https?://(?!127\.|localhost)[^$]+$", one)
        )


def complaint(url: str) -> str | None:
    """Return why a page cannot be read, if it cannot."""
    request = urllib.request.Request(url, headers={"User-Agent": "structsync's release check"})
    try:
        with urllib.request.urlopen(request, timeout=30):
            return None
    except (urllib.error.URLError, TimeoutError) as error:
        return f"{url}: {error}"


def main(root: Path) -> int:
    """Request each address once; return the exit status."""
    addresses = sorted({one.partition("#")[0] for one in requested(root)})
    found = [text for text in map(complaint, addresses) if text]
    print(*found, f"{len(addresses) - len(found)} of {len(addresses)} addresses answer", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
