"""The errors of structsync's own; for everything else trio's and Python's are used."""

from __future__ import annotations


class RequestWithdrawn(Exception):
    """The awaited request was withdrawn.

    Raised by :meth:`Request.wait`, whether the request was withdrawn before the call or during it.
    """


class PermitLeakError(Exception):
    """A scope ended, and something that it owned was not released.

    Raised at the end of :func:`open_scope`. The message names each such primitive, and the tasks
    that took more than they released.
    """


class JobFailed(Exception):
    """The awaited job failed; ``__cause__`` is its error.

    The error itself went to the pool, which it cancelled.
    """


class JobCancelled(Exception):
    """The awaited job was cancelled: by ``Job.cancel()``, or because its pool was."""
