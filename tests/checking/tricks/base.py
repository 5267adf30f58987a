"""What every trick is a variation of, and how it is seen that one does not end green."""

from collections.abc import Callable

from structsync.checking import (
    Spec,
    SpecError,
    Verdict,
    action,
    check,
    invariant,
    start,
)


class Base(Spec):
    """Five positions, and never beyond them."""

    abstract = True
    n: int = start(int)

    @action
    def turn(self) -> None:
        self.n = (self.n + 1) % 5

    @invariant
    def in_range(self) -> bool:
        return 0 <= self.n < 5


TRICKS: list[Callable[[], type[Spec]]] = []


def trick(make: Callable[[], type[Spec]]) -> Callable[[], type[Spec]]:
    TRICKS.append(make)
    return make


def not_green(make: Callable[[], type[Spec]]) -> str:
    """Return how a trick ends; fail if it ends green."""
    try:
        result = check(make(), seconds=20)
    except SpecError as error:
        return str(error)
    assert result.verdict is not Verdict.CONFIRMED
    return str(result.verdict.value)
