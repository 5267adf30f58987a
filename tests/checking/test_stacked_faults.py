"""One planted bug may be named by several properties."""

from pathlib import Path
from textwrap import dedent

from structsync.checking._load import load

SOURCE = """
    from structsync.checking import Spec, action, fault, invariant, start

    class Wheel(Spec):
        n: int = start(int)

        @action
        def turn(self):
            self.n = (self.n + 1) % 5

        @invariant
        def starts_low(self):
            return self.n < 7

        @invariant
        def in_range(self):
            return self.n < 5

    @fault(Wheel, "n", refuted_by="in_range")
    @fault(Wheel, "n", refuted_by="starts_low")
    def out_of_range():
        "Starts beyond the range."
        return 8
    """


def test_every_property_that_a_planted_bug_names_is_checked(tmp_path: Path) -> None:
    """A second name on the same bug used to replace the first without a word."""
    file = tmp_path / "wheel.py"
    file.write_text(dedent(SOURCE), encoding="utf-8")
    faults = load(file).faults
    assert sorted(faults) == ["wheel.out_of_range[in_range]", "wheel.out_of_range[starts_low]"]
    assert {one.refuted_by for one in faults.values()} == {"in_range", "starts_low"}


TWO_SPECS = """
    from structsync.checking import Spec, action, fault, invariant, start

    class Small(Spec):
        n: int = start(int)

        @action
        def turn(self):
            self.n = (self.n + 1) % 5

        @invariant
        def in_range(self):
            return self.n < 5

    class Large(Small):
        @action
        def turn_back(self):
            self.n = (self.n - 1) % 5

    @fault(Small, "n", refuted_by="in_range")
    @fault(Large, "n", refuted_by="in_range")
    def out_of_range():
        "Starts beyond the range."
        return 8
    """


def test_a_planted_bug_that_two_specs_must_find_by_one_property_is_checked_for_both(
    tmp_path: Path,
) -> None:
    file = tmp_path / "two_wheels.py"
    file.write_text(dedent(TWO_SPECS), encoding="utf-8")
    faults = load(file).faults
    assert sorted(faults) == [
        f"two_wheels.out_of_range[{one}.in_range]" for one in ("Large", "Small")
    ]
    assert {one.spec.__name__ for one in faults.values()} == {"Large", "Small"}
