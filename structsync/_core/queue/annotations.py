"""The annotations of a class, as far as they can be evaluated while the class is being made."""

from __future__ import annotations

import inspect
import sys
from typing import Any

# From Python 3.14 on an annotation may name what does not exist yet, or only for a type checker; it is a forward
# reference in this format (annotationlib.Format.FORWARDREF), and was a NameError in the usual one.
_FORMAT: dict[str, Any] = {"format": 3} if sys.version_info >= (3, 14) else {}


def annotations_of(cls: type) -> dict[str, Any]:
    """Return the annotations that a class has itself, by their names."""
    return inspect.get_annotations(cls, **_FORMAT)
