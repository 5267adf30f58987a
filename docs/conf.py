"""How the documentation is built: warning-free and without a network."""

import importlib.metadata
import os
import re
import sys
import tomllib
from pathlib import Path

from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent / "ext"))

project = "structsync"
author = "The structsync contributors"
copyright = author  # noqa: A001, RUF100 - the name that Sphinx reads
release = importlib.metadata.version("structsync")
version = release

extensions = [
    "generated",  # pictures, options and numbers from the code: docs/ext
    "navigation",  # the groups of the menus in the sidebar: docs/ext
    "sphinx.ext.autodoc",
    "sphinx.ext.doctest",
    "sphinx.ext.intersphinx",
    "sphinx.ext.napoleon",
]
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["width.css"]
html_title = f"structsync {release}"
# Each page leads to its source. Where the pages are published, their host says what the address of a page is.
_pyproject = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))
html_theme_options = {
    "source_repository": _pyproject["project"]["urls"]["Source"],
    "source_branch": "main",
    "source_directory": "docs/",
}
html_baseurl = os.environ.get("READTHEDOCS_CANONICAL_URL", "")
exclude_patterns = ["_build", "ext", "news"]

# A name that leads nowhere is an error; -n and -W of the build say the same for other builders.
nitpicky = True
# Written by hand as text (Sphinx inventory version 1), because a build must not fetch anything.
# A name that the build misses gets a line there.
intersphinx_mapping = {
    "python": ("https://docs.python.org/3", "inventories/python.txt"),
    "trio": ("https://trio.readthedocs.io/en/stable", "inventories/trio.txt"),
}

# Type variables are referred to by every generic signature and have no page anywhere.
nitpick_ignore_regex = [
    ("py:(class|obj|data)", r"(structsync\.)?(\w+\.)*_?([A-Z]|[A-Z]_co|[A-Z]\w*T|Ts)")
]
nitpick_ignore = [
    # aliases, which have entries as data: what they stand for is spelled out there
    ("py:class", "EventKind"),
    ("py:class", "GuardFunction"),
    ("py:class", "Observer"),
    ("py:class", "RemoteCallStatus"),  # a Literal; the text of RemoteCall.status spells it out
    # "an async context manager", "a context manager", as the text says
    ("py:class", "structsync._runtime.own.Block"),
    ("py:class", "structsync.testing._execution.handle.Exclusive"),
    ("py:class", "structsync.testing._execution.handle.NotCancelled"),
    # the base of Primitive, which stands for "a primitive"
    ("py:class", "Live"),
    ("py:class", "structsync._runtime.live.Live"),
    ("py:class", "structsync.testing._settings.Options"),  # "fields of Settings", as the text says
    ("py:class", "dict[str"),  # an annotated attribute: napoleon cuts its type at the comma
    ("py:class", "FailureKind"),  # a Literal; the text of Failure.kind spells it out
    # A generic class that is written with its parameters keeps the module of its source.
    ("py:class", "structsync._core.queue.arbiter.Arbiter"),
    ("py:class", "structsync._core.queue.request.CoreRequest"),
    ("py:class", "structsync._runtime.primitive.Primitive"),
    # what only the package makes
    ("py:class", "structsync._core.monitors.entry.EntryCore"),
    ("py:class", "Guard"),
    # in signatures; by their public names, SharedClaim and SharedBlock, they are on the page
    ("py:class", "structsync._core.shared.operations.Want"),
    ("py:class", "structsync.distributed.blocks.Block"),
    ("py:class", "structsync._core.monitors.entry.Guard"),
    ("py:class", "Task"),  # trio's, in the fields of a frozen dataclass
    ("py:class", "Path"),  # the same of pathlib
    ("py:class", "AbstractContextManager"),  # "while the block runs", as the text says
    # OpenTelemetry's, whose pages no build fetches
    ("py:class", "MeterProvider"),
    ("py:class", "TracerProvider"),
    ("py:obj", "typing.~P"),  # a ParamSpec, as the type variables above
    # parts of an alias of rich, for which "anything that rich prints" stands
    ("py:class", "rich.console.ConsoleRenderable"),
    ("py:class", "rich.console.RichCast"),
]

# The docstrings of structsync.checking quote code with single backticks.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
napoleon_google_docstring = True
napoleon_numpy_docstring = False

# A reader has the files that a page offers in the folder where they work.
doctest_global_setup = f"""
def work_beside(folder):
    import os, sys
    os.chdir({str(Path(__file__).parents[1] / "examples")!r})
    os.chdir(folder)
    sys.path.insert(0, os.getcwd())
"""


def _signature(
    app: Sphinx,
    what: str,
    name: str,
    thing: object,
    options: object,
    written: str | None,
    returns: str | None,
) -> tuple[str, str | None] | None:
    """Leave out the parameters of what only the package makes, and the marks before a name that is no link."""
    if written is None:
        return None
    if what == "class" and "structsync._core" in written:
        return "", returns
    return re.sub(r"~(?:[\w.]+\.)?~?(?=[A-Z]\b)", "", written), returns


def _public_types(
    app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]
) -> None:
    """Call the type of an attribute as users import it, where napoleon names the module that has it."""
    lines[:] = [
        re.sub(r"\bstructsync\.(\w+)\._[\w.]+\.(?=[A-Z])", r"~structsync.\1.", line)
        if line.lstrip().startswith(":type")
        else line
        for line in lines
    ]


def setup(app: Sphinx) -> None:
    app.connect("autodoc-process-signature", _signature)
    # after napoleon
    app.connect("autodoc-process-docstring", _public_types, priority=900)
