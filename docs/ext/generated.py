"""Directives whose content is produced at each build, so that no page repeats what the code knows.

``.. life:: REQUEST`` draws how requests live (``lives.py``, ``drawing.py``), ``.. command:: check``
lists the options of a command, ``.. on-record::`` counts what is checked (``record.py``).
"""

from __future__ import annotations

import click
import drawing
import lives
import record
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from structsync import cli


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
        found: list[nodes.Node] = [nodes.literal_block(usage, usage, language="text")]
        for paragraph in (command.help or "").split("\n\n"):
            found.append(nodes.paragraph("", " ".join(paragraph.split())))
        options = nodes.definition_list()
        for one in command.params:
            written = one.get_help_record(context)
            if written:
                options += _definition(*written)
        return [*found, options]


class OnRecord(SphinxDirective):
    """A table, or a number, made from what the repository has on record."""

    required_arguments = 1
    option_spec = {"kind": directives.unchanged}  # noqa: RUF012 - as docutils declares it

    def run(self) -> list[nodes.Node]:
        heads, rows = getattr(record, self.arguments[0])()
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
    # What they read is no source file of Sphinx: read the pages again at every build.
    app.connect("env-get-outdated", lambda *_: ["explanation/how-a-request-lives", *_GENERATED])
    return {"parallel_read_safe": True}


_GENERATED = ("explanation/how-it-is-tested", "reference/command-line")
