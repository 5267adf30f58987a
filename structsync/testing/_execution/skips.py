"""What a test raises to say that it is to be skipped: it is no failure, and it ends one execution only."""

from __future__ import annotations

import sys
from typing import Any

from .execution import Ending
from .origin import leaves_of


def skip_of(error: BaseException) -> BaseException | None:
    """Return what skips a test, if an error is nothing else; of several the first."""
    leaves, kinds = [*leaves_of(error)], _kinds()
    return leaves[0] if all(isinstance(one, kinds) for one in leaves) else None


def pass_on_a_skip(ending: Ending | None) -> None:
    """Raise what skips the test, if an execution has ended by that."""
    if ending is not None and ending.kind == "skipped":
        assert ending.error is not None
        raise ending.error


def _kinds() -> tuple[type[BaseException], ...]:
    # Code that raises one has imported it.
    unittest: Any = sys.modules.get("unittest")
    pytest: Any = sys.modules.get("pytest")
    of_unittest = () if unittest is None else (unittest.SkipTest,)
    of_pytest = () if pytest is None else (pytest.skip.Exception, pytest.xfail.Exception)
    return *of_unittest, *of_pytest
