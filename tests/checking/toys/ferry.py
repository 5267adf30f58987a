"""A wolf, a goat and a cabbage can cross; the checker finds the way as a counterexample."""

from structsync.checking import Spec, action, invariant, start

ALL = frozenset({"farmer", "wolf", "goat", "cabbage"})


def safe(bank: frozenset[str]) -> bool:
    return "farmer" in bank or not ({"wolf", "goat"} <= bank or {"goat", "cabbage"} <= bank)


def can_cross(spec: "Ferry", what: str) -> bool:
    beside = ("farmer" in spec.left) == (what in spec.left)
    after = spec.left ^ {"farmer", what}
    return beside and safe(after) and safe(ALL - after)


class Ferry(Spec):
    """Who is still on the left bank."""

    left: frozenset[str] = start(frozenset, ALL)

    @action(what=sorted(ALL), when=can_cross)
    def cross(self, what: str) -> None:
        self.left = self.left ^ {"farmer", what}

    @invariant
    def not_all_are_across(self) -> bool:
        return bool(self.left)
