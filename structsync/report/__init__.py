"""Pictures of counterexamples: one data model, three renderings.

_model.py     what a counterexample is
_text.py      a table for the terminal (rich)
_html.py      one self-contained page with a drawing (jinja2, inline SVG)
_json.py      JSON, and trace events for Perfetto
_folder.py    the folder that reports go to
_progress.py  the line on which a search shows how far it has come
"""

from structsync._naming import name_all_after as _name_all_after

from ._html import to_html as to_html
from ._json import dumps as dumps
from ._json import from_json as from_json
from ._json import to_json as to_json
from ._json import to_trace_events as to_trace_events
from ._model import Blocked as Blocked
from ._model import Counterexample as Counterexample
from ._model import Sentence as Sentence
from ._model import Step as Step
from ._text import to_text as to_text

_name_all_after(__name__)
