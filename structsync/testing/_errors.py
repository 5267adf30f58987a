"""What exploring a test raises, besides the failure of the test itself."""


class NotExhaustive(AssertionError):
    """The search ended before everything was seen, and ``exhaustive=True`` was set."""

    __module__ = "structsync.testing"


class NotExhaustiveWarning(UserWarning):
    """The search ended before everything was seen; nothing is proven beyond what it says."""

    __module__ = "structsync.testing"


class ExploreUsageError(ValueError):
    """A test cannot be explored; the message gives the reason and a fix."""

    __module__ = "structsync.testing"


class NondeterminismError(RuntimeError):
    """The test behaves differently under the same schedule: something besides the schedule decides."""

    __module__ = "structsync.testing"


class ReplayError(RuntimeError):
    """A token does not fit the test any more."""

    __module__ = "structsync.testing"
