"""What exploring a test raises, besides the failure of the test itself."""


class NotExhaustive(AssertionError):
    """The search ended before everything was seen, and ``exhaustive=True`` was set."""


class NotExhaustiveWarning(UserWarning):
    """The search ended before everything was seen; nothing is proven beyond what it says."""


class ExploreUsageError(ValueError):
    """A test cannot be explored; the message gives the reason and a fix."""


class NondeterminismError(RuntimeError):
    """The test behaves differently under the same schedule: something besides the schedule decides."""


class ReplayError(RuntimeError):
    """A token does not fit the test any more."""
