"""What the pool does is what its specification allows."""

from __future__ import annotations

import pytest
from connections import ForgetfulPool, Pool
from traced import traced

from structsync import checking


def test_the_pool_does_what_is_allowed() -> None:
    assert traced(Pool) == 6


def test_the_wrong_pool_is_found() -> None:
    with pytest.raises(checking.TraceRefuted, match="waiting is 1, and 0 in the specification"):
        traced(ForgetfulPool)
