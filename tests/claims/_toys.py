"""Claims that must not be believed. (Not in a test module: pytest would rewrite their asserts.)"""

from crosshair import IgnoreAttempt
from crosshair.statespace import context_statespace


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


def with_branches_that_return(n: int) -> None:
    assert n >= 0
    for _ in range(2):
        if n > 5:
            return
        if n == 5:
            break
        if n == 4:
            continue


def with_a_branch_whose_path_is_given_up(n: int) -> None:
    assert n >= 0
    given_up = False
    if n == 3:
        given_up = True
    if given_up:
        raise IgnoreAttempt


def with_a_branch_whose_path_took_too_much_for_granted(n: int) -> None:
    assert n >= 0
    context_statespace().defer_assumption("not three", lambda: n != 3)
    double = 0
    if n == 3:
        double = 2 * n
    assert double in {0, 6}


def with_a_branch_whose_path_contradicts_itself(n: int) -> None:
    assert n >= 0
    is_three = n == 3
    if n > 3:
        context_statespace().add(is_three)


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
