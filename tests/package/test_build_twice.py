"""The comparison of two builds is able to complain."""

import pytest

from .build_twice import differences

SAME = {"one.whl": "a", "one.tar.gz": "b"}


@pytest.mark.parametrize(
    ("other", "found"),
    [
        (SAME, []),
        (SAME | {"one.whl": "c"}, ["one.whl"]),
        ({"one.whl": "a"}, ["one.tar.gz"]),
        (SAME | {"two.whl": "c"}, ["two.whl"]),
    ],
)
def test_what_differs_is_named(other: dict[str, str], found: list[str]) -> None:
    assert differences(SAME, other) == found
