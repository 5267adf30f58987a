"""The errors of structsync's own; for everything else trio's and Python's are used."""

from __future__ import annotations


class RequestWithdrawn(Exception):
    """The request that was waited for is withdrawn.

    Raised by :meth:`Request.wait`, whether the withdrawal came before or meanwhile.
    """


class PermitLeakError(Exception):
    """A scope ended, and something that it owned was not released.

    Raised at the end of :func:`open_scope`. The message names each such primitive, and the tasks
    that took more than they released.
    """


class JobFailed(Exception):
    """A job that was waited for has failed; ``__cause__`` is its error.

    The error itself went to the pool, which it cancelled.
    """


class JobCancelled(Exception):
    """A job that was waited for was cancelled: by ``Job.cancel()``, or because its pool ended."""
