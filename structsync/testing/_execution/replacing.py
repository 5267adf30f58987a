"""A name of a module or a class that stands for something else while a block runs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def replaced(owner: Any, name: str, new: object) -> Iterator[None]:
    missing = object()
    own = vars(owner).get(name, missing)
    setattr(owner, name, new)
    try:
        yield
    finally:
        if own is missing:
            delattr(owner, name)
        else:
            setattr(owner, name, own)
