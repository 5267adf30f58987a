"""Claims that must not be believed. (Not in a test module: pytest would rewrite their asserts.)"""


def true_of_every_number(n: int) -> None:
    assert n >= 0
    double = 2 * n
    assert double >= n


def false_of_one_number(n: int) -> None:
    assert n >= 0
    double = 2 * n
    assert double != 84


def about_no_situation(n: int) -> None:
    assert n > n
    double = 2 * n
    assert double == 1


def with_a_branch_that_is_never_taken(n: int) -> None:
    assert n >= 0
    if n < 0:
        raise_the_dead = n
        assert raise_the_dead == 1


def that_crashes(n: int) -> None:
    assert n >= 0
    quotient = 1 // n
    assert quotient <= 1


def without_a_bound(numbers: list[int]) -> None:
    assert all(number > 0 for number in numbers)
    total = sum(numbers)
    assert total >= 0


def that_asserts_nothing_first(n: int) -> None:
    double = 2 * n
    assert double == 1
