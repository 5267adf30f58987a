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
