"""The judge of histories: it complains about what went wrong, and about nothing else."""

from __future__ import annotations

import pytest

from tests.distributed.history import Held, complaints


@pytest.mark.parametrize(
    ("history", "problem"),
    [
        ([Held(1, 0, 5), Held(2, 4, 9)], "2 of 1 permits"),
        ([Held(1, 0, None), Held(2, 4, 9)], "2 of 1 permits"),
        ([Held(1, 0, 2), Held(1, 4, 9)], "two grants have the token 1"),
        ([Held(2, 0, 2), Held(1, 4, 9)], "the token 1 came after 2"),
        ([Held(1, 0, 2, permits=2)], "2 of 1 permits"),
        ([Held(1, 0, 2, 1, asked=7), Held(2, 3, 4, 1, asked=5)], "at 7 was granted before"),
    ],
)
def test_a_history_that_went_wrong_is_complained_about(history: list[Held], problem: str) -> None:
    assert any(problem in one for one in complaints(history, 1))


def test_a_history_that_went_well_is_not_complained_about() -> None:
    assert complaints([Held(1, 0, 5), Held(2, 5, 9), Held(3, 10, None)], 1) == []
    assert complaints([Held(1, 0, 5, 1, asked=2), Held(2, 5, 9, 1, asked=4)], 1) == []
