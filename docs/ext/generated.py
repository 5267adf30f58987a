"""Directives whose content is produced at each build, so that no page repeats what the code knows.

``.. life:: REQUEST`` draws how requests live (``lives.py``, ``drawing.py``), ``.. command:: check``
lists the options of a command, and ``.. on-record:: specs`` counts what is checked (``record.py``).
``.. ran:: structsync check FILE`` and ``.. ran:: pytest FILE`` run that command as a reader would, in an empty
folder for each page, and show what it printed; ``{token}`` in it is the token that the page showed last. ``.. picture-of:: FILE``
explores a file and shows the page of the failure, and ``.. measured:: sizes`` explores programs and
counts (``sizes.py``). ``.. unreleased::`` shows the fragments of the changelog (``fragments.py``).
``.. literalinclude::`` names the file, and offers it whole; ``:into: FILE`` of ``.. testcode::`` does so with what the
page itself puts into one.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path

import click
import drawing
import fragments
import lives
import record
import sizes
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.directives.code import LiteralInclude, container_wrapper
from sphinx.ext.doctest import TestcodeDirective
from sphinx.util.docutils import SphinxDirective

from structsync import cli
from structsync.testing._pytest import plugin

# -P: the installed package, not the folder of that name in the repository
_PROGRAMS = {
    "structsync": ["-P", "-m", "structsync.cli"],
    "pytest": ["-P", "-m", "pytest", "-p", "no:cacheprovider"],
}
# One width, these plugins: what is shown does not depend on where the pages are built.
_ENVIRONMENT = {
    "COLUMNS": "100",
    "PYTEST_ADDOPTS": "--no-header",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    "PYTEST_PLUGINS": f"{plugin.__name__},pytest_trio.plugin",
    "PYTHONDONTWRITEBYTECODE": "1",
}
_TOKEN = re.compile(r"\bx1[at]:[^:\s]*:\d+\.[0-9a-f]{4}")


class Generated(SphinxDirective):
    """A directive that reads more than the page, which is therefore read anew at every build.

    Unless ``-D read_once=1`` says that the builds follow each other, and nothing changes in between.
    """

    def run(self) -> list[nodes.Node]:
        if not self.config.read_once:
            self.env.note_reread()
        return self.generate()

    def generate(self) -> list[nodes.Node]:
        """Return the content."""
        raise NotImplementedError

    def execute(self, shown: str, code: int) -> str:
        """Run a command in the page's folder; return what it printed, if it ended with this code."""
        program, *words = shlex.split(shown)
        if program not in _PROGRAMS:
            raise self.error(f"this shows runs of {[*_PROGRAMS]}, not of {program!r}")
        ran = subprocess.run(
            [sys.executable, *_PROGRAMS[program], *words],
            cwd=self.folder(),
            env=os.environ | _ENVIRONMENT,
            capture_output=True,
            text=True,
        )
        if ran.returncode != code:
            raise self.error(f"{shown} ended with {ran.returncode}: {ran.stdout}{ran.stderr}")
        return ran.stdout

    def folder(self) -> str:
        """Return a folder that has only what the commands of this page have put there."""
        if "structsync folder" not in self.env.temp_data:
            # Outside of the repository, whose settings of pytest a reader does not have.
            self.env.temp_data["structsync folder"] = tempfile.mkdtemp(dir=self.config.followed)
        return str(self.env.temp_data["structsync folder"])


class Life(Generated):
    """A picture of the stages of a request, and the same in words for other builders."""

    required_arguments = 1

    def generate(self) -> list[nodes.Node]:
        name = self.arguments[0]
        found = lives.edges(getattr(lives, name))
        picture = drawing.Drawing(name.lower(), found).svg()
        figure = nodes.raw("", f'<figure class="life">{picture}</figure>', format="html")
        return [figure]


class Command(Generated):
    """The usage, the help and the options of a command, as the command itself tells them."""

    required_arguments = 1

    def generate(self) -> list[nodes.Node]:
        command = cli.main.commands[self.arguments[0]]
        context = click.Context(command, info_name=f"structsync {self.arguments[0]}")
        usage = context.get_usage().partition("Usage: ")[2]
        told = (" ".join(text.split()) for text in (command.help or "").split("\n\n"))
        options = nodes.definition_list()
        for one in command.params:
            written = one.get_help_record(context)
            if written and isinstance(one, click.Option):
                options += _definition(*written)
        shown = nodes.literal_block(usage, usage, language="text")
        return [shown, *map(_paragraph, told), options]


class Ran(Generated):
    """A command and its output; the build fails if the exit code is not the one that is told.

    With ``:section:`` only what was printed under this title; with ``:lines:`` only so many.
    """

    required_arguments = 1
    final_argument_whitespace = True
    option_spec = {  # noqa: RUF012 - as docutils declares it
        "exit": directives.nonnegative_int,
        "lines": directives.positive_int,
        "section": directives.unchanged,
    }

    def generate(self) -> list[nodes.Node]:
        shown = self.arguments[0]
        if "{token}" in shown:
            shown = shown.replace("{token}", self.env.temp_data["structsync token"])
        printed = self.execute(shown, self.options.get("exit", 0))
        if section := self.options.get("section"):
            printed = self._part(printed, section)
        if tokens := _TOKEN.findall(printed):
            self.env.temp_data["structsync token"] = tokens[-1]
        lines = [line.rstrip() for line in printed.splitlines()]
        most = self.options.get("lines", len(lines))
        lines[most:] = ["..."] * (len(lines) > most)
        text = re.sub(r"\n{2,}", "\n\n", "\n".join([f"$ {shown}", *lines]))
        classes = ["ran", f"exit-{self.options.get('exit', 0)}"]
        return [nodes.literal_block(text, text, language="text", classes=classes)]

    def _part(self, printed: str, title: str) -> str:
        """Return the part of what was printed from a title to the next empty line."""
        part = printed.partition(f"{title}:\n")[2].partition("\n\n")[0]
        if not part:
            raise self.error(f"nothing was printed under {title!r}: {printed}")
        return part


class PictureOf(Generated):
    """The page of the failure that exploring a file finds, as a user gets it with a report."""

    required_arguments = 1
    option_spec = {"height": directives.positive_int}  # noqa: RUF012 - as docutils declares it

    def generate(self) -> list[nodes.Node]:
        name = Path(self.arguments[0]).stem
        place = Path(self.env.app.outdir) / "reports" / f"{name}.html"
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            command = ["structsync", "explore", self.arguments[0], "--report", folder]
            self.execute(shlex.join(command), 1)
            (page,) = Path(folder).glob("*.html")
            shutil.copy(page, place)
        address = "../" * self.env.docname.count("/") + f"reports/{place.name}"
        title = escape(f"the schedule that breaks {self.arguments[0]}")
        picture = (
            f'<iframe class="report" src="{address}" title="{title}" loading="lazy" '
            f'height="{self.options.get("height", 600)}"></iframe>'
            f'<p><a href="{address}">The page alone</a></p>'
        )
        return [nodes.raw("", picture, format="html")]


class Included(LiteralInclude):
    """A file under its name, by which it can be downloaded; or a part, which says that it is one.

    With ``:end-before:`` alone the beginning, with ``:continued:`` what is to be added to it.
    """

    option_spec = LiteralInclude.option_spec | {"continued": directives.flag}

    def run(self) -> list[nodes.Node]:
        path = self.arguments[0]
        name = path.removeprefix("/../")
        if "--to examples" not in Path(self.env.doc2path(self.env.docname)).read_text("utf-8"):
            name = name.removeprefix("examples/")  # no command of the page puts it there
        caption = f":download:`{name} <{path}>`"
        if "continued" in self.options:
            caption += ", continued"
        elif "end-before" in self.options and "start-at" not in self.options:
            caption += ", first part"
        elif {"pyobject", "start-at", "start-after"} & self.options.keys():
            caption = f"excerpt of {caption}"
        self.options.setdefault("caption", caption)
        if path.endswith(".py"):
            self.options.setdefault("language", "python")
        return super().run()


class Pasted(TestcodeDirective):
    """Code of the page; with ``:into:`` under the name of a file, which has all code of the page that goes there.

    The file is written beside the doctrees, which remain from one build to the next, as it does.
    """

    option_spec = TestcodeDirective.option_spec | {"into": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        (block,) = super().run()
        if "into" not in self.options:
            return [block]
        name = self.options["into"]
        parts = self.env.temp_data.setdefault("structsync parts", {}).setdefault(name, [])
        parts.append("\n".join([*self.content, ""]))
        place = Path(self.env.doctreedir) / "pasted" / self.env.docname / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("\n\n".join(parts), encoding="utf-8")
        path = Path(os.path.relpath(place, self.env.srcdir)).as_posix()
        caption = f":download:`{name} </{path}>`" + ", continued" * (len(parts) > 1)
        return [container_wrapper(self, block, caption)]


class Unreleased(Generated):
    """The fragments of the changelog that no release has collected yet."""

    def generate(self) -> list[nodes.Node]:
        return self.parse_text_to_nodes(fragments.unreleased())


class Measured(Generated):
    """A table of numbers that are measured now."""

    required_arguments = 1
    option_spec = {"dense": directives.flag}  # noqa: RUF012 - as docutils declares it

    def generate(self) -> list[nodes.Node]:
        return [_table(*getattr(sizes, self.arguments[0])(), dense="dense" in self.options)]


class OnRecord(Generated):
    """A table made from what the repository has on record."""

    required_arguments = 1
    option_spec = {"dense": directives.flag}  # noqa: RUF012 - as docutils declares it

    def generate(self) -> list[nodes.Node]:
        try:
            heads, rows = getattr(record, self.arguments[0])()
        except FileNotFoundError as missing:
            raise self.error(f"nothing is on record: {missing}") from missing
        return [_table(heads, rows, dense="dense" in self.options)]


def _definition(term: str, text: str) -> nodes.definition_list_item:
    literal = nodes.literal(term, term)
    body = nodes.definition("", _paragraph(text))
    return nodes.definition_list_item("", nodes.term("", "", literal), body)


def _paragraph(text: str) -> nodes.paragraph:
    """Return a text with its code and its options as they are typed: no dash becomes another one."""
    parts = re.split(r"`([^`]+)`|((?<!\S)--[\w-]+)", text)
    pieces: list[nodes.Node] = []
    for number, part in enumerate(parts):
        if part:
            pieces.append(nodes.literal(part, part) if number % 3 else nodes.Text(part))
    return nodes.paragraph("", "", *pieces)


def _table(heads: list[str], rows: list[list[str]], dense: bool = False) -> nodes.table:
    """Return a table; a dense one keeps to the page, with columns as wide as their longest cells need."""
    longest = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    widths = [min(max(one, 6), 30) if dense else 1 for one in longest]
    group = nodes.tgroup(cols=len(heads))
    group += [nodes.colspec(colwidth=width) for width in widths]
    group += nodes.thead("", _row(heads))
    group += nodes.tbody("", *(_row(row) for row in rows))
    return nodes.table("", group, classes=["dense"] if dense else [])


def _row(cells: list[str]) -> nodes.row:
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", cell)) for cell in cells))


def _make_folder(_: Sphinx, config: Config) -> None:
    config.followed = tempfile.mkdtemp()


def _remove_folder(app: Sphinx, _: Exception | None) -> None:
    shutil.rmtree(app.config.followed)


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx of the directives."""
    app.add_config_value("read_once", False, "")
    app.add_config_value("followed", "", "")
    app.connect("config-inited", _make_folder)
    app.connect("build-finished", _remove_folder)
    app.add_directive("life", Life)
    app.add_directive("command", Command)
    app.add_directive("on-record", OnRecord)
    app.add_directive("ran", Ran)
    app.add_directive("picture-of", PictureOf)
    app.add_directive("unreleased", Unreleased)
    app.add_directive("measured", Measured)
    app.add_directive("literalinclude", Included, override=True)
    app.setup_extension("sphinx.ext.doctest")
    app.add_directive("testcode", Pasted, override=True)
    return {"parallel_read_safe": True}
