"""Claims are imported with their asserts as they are written, whichever module imports them first."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from _pytest.assertion.rewrite import AssertionRewritingHook


@contextmanager
def asserts_as_written() -> Iterator[None]:
    """Keep pytest from rewriting the asserts of what is imported meanwhile.

    It does so in all of a package that has a plugin for it, and CrossHair finds no end in what comes of
    a claim.
    """
    finders = sys.meta_path[:]
    sys.meta_path[:] = [one for one in finders if not isinstance(one, AssertionRewritingHook)]
    try:
        yield
    finally:
        sys.meta_path[:] = finders
