"""What can go wrong between processes and nowhere else."""

from __future__ import annotations

#: Why a session is over.
LEASE_ENDED = "the session's lease has ended; open a new session"
TAKEN_FOR_DEAD = "another session has found no process that has this one; open a new session"
HAS_FAILED = (
    "the session has failed, with the error that its block raises; fix that, and open a new session"
)
IS_PARENTS = (
    "the session is that of the process that this one was forked from; open one of its own in a process that was "
    "started by spawn"
)
WAS_LEFT = "the block of the session was left; end all that uses a session before you leave it"


class LeaseLost(Exception):
    """This session no longer holds what it held; another session may hold it already.

    Raised at the end of the block, which was cancelled, and by each call that is waiting. Whatever the
    block changed after that must refuse it, by its token.

    Attributes:
      name: the name of what was held or waited for.
      token: the token of the grant; 0 for a wait.
      why: what has ended the session.
    """

    name: str
    token: int
    why: str

    def __init__(self, name: str, token: int = 0, why: str = LEASE_ENDED) -> None:
        super().__init__(name, token, why)
        self.name = name
        self.token = token
        self.why = why

    def __str__(self) -> str:
        what = f"grant {self.token} of" if self.token else "wait for"
        return f"the {what} {self.name!r} is over: {self.why}"


class CallOutcomeUnknown(Exception):
    """A call was sent to a host, and its outcome cannot be known.

    The host died or stopped while it had the call, or this session is over. The call is never sent again:
    it may have been carried out completely, partly or not at all.

    Attributes:
      name: the name of the hosted object.
      method: the method that was called.
    """

    name: str
    method: str

    def __init__(self, name: str, method: str) -> None:
        super().__init__(name, method)
        self.name = name
        self.method = method

    def __str__(self) -> str:
        return (
            f"it is not known whether {self.method!r} of {self.name!r} was carried out: its host is gone, or this "
            "session is over; look at what it was to change before you call it again"
        )


class RemoteError(Exception):
    """A call raised an error whose type the caller does not know, or its result is not as declared.

    Attributes:
      error: the name of the type of the error.
      text: the text of the error.
      traceback: where it was raised, on the host.
    """

    error: str
    text: str
    traceback: str

    def __init__(self, error: str, text: str, traceback: str) -> None:
        super().__init__(error, text, traceback)
        self.error = error
        self.text = text
        self.traceback = traceback

    def __str__(self) -> str:
        return f"{self.error}: {self.text}" + (f"\n{self.traceback}" if self.traceback else "")


class ReplicasDiffer(Exception):
    """Two processes have read the same log and come to different states; the session ends.

    They run different versions of structsync, or there is a bug: please report it.
    """


class SessionEnded(Exception):
    """The engine says that this session is over; the session makes a :exc:`LeaseLost` of it."""


class DeliveryFailed(Exception):
    """A request to the engine got no answer. Whether it was carried out is unknown; it is sent again."""
