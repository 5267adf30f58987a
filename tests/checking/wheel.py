"""The specification that tests of the checker begin with: five positions, and never beyond them."""

from structsync.checking import Spec, action, invariant, start


class Wheel(Spec):
    """Turns through five positions."""

    n: int = start(int)

    @action(fair=True)
    def turn(self) -> None:
        self.n = (self.n + 1) % 5

    @invariant
    def in_range(self) -> bool:
        return 0 <= self.n < 5


#: A module that has it, for tests of the command.
SOURCE = """
    from structsync.checking import Spec, action, fault, invariant, start

    class Wheel(Spec):
        n: int = start(int)

        @action
        def turn(self):
            self.n = (self.n + 1) % 5

        @invariant
        def in_range(self):
            return self.n < 5
    """
