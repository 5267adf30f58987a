"""What exploring a test raises, besides the failure of the test itself."""


class NotExhaustive(AssertionError):
    """The search ended before everything was seen, and ``exhaustive=True`` was asked for."""


class NotExhaustiveWarning(UserWarning):
    """The search ended before everything was seen; nothing is proven beyond what it says."""


class ExploreUsageError(ValueError):
    """A test that cannot be explored, with the reason and the repair."""


class NondeterminismError(RuntimeError):
    """The test does not do the same in the same schedule: something outside decides too."""


class ReplayError(RuntimeError):
    """A token does not fit the test any more."""
