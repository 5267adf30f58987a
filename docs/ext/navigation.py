"""The sidebar shows the groups of a menu: the captions of its toctrees, each above the first page of its group.

Sphinx shows captions of the first page only, and those of the other menus in their own text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bs4 import BeautifulSoup  # which furo needs
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError

TREE = "furo_navigation_tree"


def groups(env: BuildEnvironment) -> Iterator[tuple[str, str]]:
    """Yield the caption of each group, and its first page."""
    for contents in env.tocs.values():
        for toctree in contents.findall(addnodes.toctree):
            if toctree.get("caption") and toctree["includefiles"]:
                yield toctree["caption"], toctree["includefiles"][0]


def show_groups(app: Sphinx, page: str, template: str, context: dict[str, Any], _: object) -> None:
    """Put the captions into the sidebar of a page."""
    tree = BeautifulSoup(context[TREE], "html.parser")
    for caption, first in groups(app.env):
        address = "#" if first == page else app.builder.get_relative_uri(page, first)
        link = tree.select_one(f'li > a[href="{address}"]')
        if link is None:
            raise ExtensionError(f"the sidebar of {page} has no link to {first}")
        item = tree.new_tag("li", attrs={"class": "caption"})
        item.string = caption
        link.parent.insert_before(item)
    context[TREE] = str(tree)


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx of the captions."""
    # after furo, which makes the tree
    app.connect("html-page-context", show_groups, priority=900)
    return {"parallel_read_safe": True}
