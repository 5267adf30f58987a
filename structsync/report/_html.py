"""A counterexample as one self-contained HTML page with a drawing of its steps.

`_drawing.py` says where things stand, `counterexample.html.jinja` what is on the page,
`counterexample.css` holds all colours, and `counterexample.js` lets the keyboard step through; the
page is complete without it.
"""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from ._drawing import draw
from ._folding import Fold, rows
from ._model import Counterexample


def to_html(shown: Counterexample) -> str:
    """Return a counterexample as the text of one HTML file that refers to no other file."""
    style, script = _text("counterexample.css"), _text("counterexample.js")
    # The page forbids itself to fetch anything, and to run any script but this one.
    digest = b64encode(sha256(script.encode()).digest()).decode()
    return _template().render(
        shown=shown,
        drawing=draw(shown),
        folds={one.first: one for one in rows(shown) if isinstance(one, Fold)},
        style=style,
        script=script,
        digest=digest,
    )


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("structsync.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("counterexample.html.jinja")


@cache
def _text(name: str) -> str:
    return (resources.files("structsync.report") / name).read_text(encoding="utf-8")
