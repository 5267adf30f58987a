"""Directives whose content is produced at each build, so that no page repeats what the code knows.

``.. life:: REQUEST`` draws how requests live (``lives.py``, ``drawing.py``), ``.. command:: check``
lists the options of a command, ``.. on-record:: specs`` counts what is checked (``record.py``), and
``.. ran:: structsync check FILE`` runs that command in the repository and shows what it printed.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys

import click
import drawing
import lives
import record
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from structsync import cli

# The pages that use these directives.
_GENERATED = [
    "explanation/how-a-request-lives",
    "explanation/how-it-is-tested",
    "how-to/check-a-specification",
    "reference/command-line",
    "tutorial/write-your-own-primitive",
]


class Life(SphinxDirective):
    """A picture of the stages of a request, and the same in words for other builders."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        found = lives.edges(getattr(lives, name))
        picture = drawing.Drawing(name.lower(), found).svg()
        figure = nodes.raw("", f'<figure class="life">{picture}</figure>', format="html")
        return [figure]


class Command(SphinxDirective):
    """The usage, the help and the options of a command, as the command itself tells them."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
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
        return [shown, *(nodes.paragraph("", text) for text in told), options]


class Ran(SphinxDirective):
    """A command and its output; the build fails if the exit code is not the one that is told."""

    required_arguments = 1
    final_argument_whitespace = True
    option_spec = {"exit": directives.nonnegative_int}  # noqa: RUF012 - as docutils declares it

    def run(self) -> list[nodes.Node]:
        shown = self.arguments[0]
        program, *words = shlex.split(shown)
        if program != "structsync":
            raise self.error(f"this shows runs of structsync, not of {program!r}")
        ran = subprocess.run(
            # -P: the installed package, not the folder of that name in the repository
            [sys.executable, "-P", "-m", "structsync.cli", *words],
            cwd=record.ROOT,
            capture_output=True,
            text=True,
        )
        if ran.returncode != self.options.get("exit", 0):
            raise self.error(f"{shown} ended with {ran.returncode}: {ran.stdout}{ran.stderr}")
        lines = [line.rstrip() for line in ran.stdout.splitlines()]
        text = re.sub(r"\n{2,}", "\n\n", "\n".join([f"$ {shown}", *lines]))
        return [nodes.literal_block(text, text, language="text")]


class OnRecord(SphinxDirective):
    """A table made from what the repository has on record."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        try:
            heads, rows = getattr(record, self.arguments[0])()
        except FileNotFoundError as missing:
            raise self.error(f"nothing is on record: {missing}") from missing
        return [_table(heads, rows)]


def _definition(term: str, text: str) -> nodes.definition_list_item:
    literal = nodes.literal(term, term)
    body = nodes.definition("", nodes.paragraph("", text))
    return nodes.definition_list_item("", nodes.term("", "", literal), body)


def _table(heads: list[str], rows: list[list[str]]) -> nodes.table:
    group = nodes.tgroup(cols=len(heads))
    group += [nodes.colspec(colwidth=1) for _ in heads]
    group += nodes.thead("", _row(heads))
    group += nodes.tbody("", *(_row(row) for row in rows))
    return nodes.table("", group)


def _row(cells: list[str]) -> nodes.row:
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", cell)) for cell in cells))


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx of the directives."""
    app.add_directive("life", Life)
    app.add_directive("command", Command)
    app.add_directive("on-record", OnRecord)
    app.add_directive("ran", Ran)
    # What they read is no source file of Sphinx: read the pages again at every build.
    app.connect("env-get-outdated", lambda *_: _GENERATED)
    return {"parallel_read_safe": True}
