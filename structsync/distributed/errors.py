"""What can go wrong between processes and nowhere else."""

from __future__ import annotations

from typing import Any


class LeaseLost(Exception):
    """This session no longer holds what it held; another session may hold it already.

    Raised at the end of the block, which was cancelled, and by each call that is waiting. Whatever the
    block changed after that must refuse it, by its token.

    Attributes:
      name: the name of what was held or waited for.
      token: the token of the grant; 0 for a wait.
    """

    __module__ = "structsync.distributed"

    name: str
    token: int

    def __init__(self, name: str, token: int = 0) -> None:
        held = f"the grant {token} of {name!r} is" if token else f"the wait for {name!r} is"
        super().__init__(f"{held} over: the session's lease has ended; open a new session")
        self.name = name
        self.token = token

    def __reduce__(self) -> tuple[Any, ...]:
        return LeaseLost, (self.name, self.token), vars(self)


class CallOutcomeUnknown(Exception):
    """A call was sent to a host, and its outcome cannot be known.

    The host died or stopped while it had the call, or this session is over. The call is never sent again:
    it may have been carried out completely, partly or not at all.

    Attributes:
      name: the name of the hosted object.
      method: the method that was called.
    """

    __module__ = "structsync.distributed"

    name: str
    method: str

    def __init__(self, name: str, method: str) -> None:
        super().__init__(
            f"it is not known whether {method!r} of {name!r} was carried out: its host is gone, or this session "
            "is over; look at what it was to change before you call it again"
        )
        self.name = name
        self.method = method

    def __reduce__(self) -> tuple[Any, ...]:
        return CallOutcomeUnknown, (self.name, self.method), vars(self)


class RemoteError(Exception):
    """A call raised an error whose type the caller does not know, or its result is not as declared.

    Attributes:
      error: the name of the type of the error.
      text: the text of the error.
      traceback: where it was raised, on the host.
    """

    __module__ = "structsync.distributed"

    error: str
    text: str
    traceback: str

    def __init__(self, error: str, text: str, traceback: str) -> None:
        super().__init__(f"{error}: {text}" + (f"\n{traceback}" if traceback else ""))
        self.error = error
        self.text = text
        self.traceback = traceback

    def __reduce__(self) -> tuple[Any, ...]:
        return RemoteError, (self.error, self.text, self.traceback), vars(self)


class ReplicasDiffer(Exception):
    """Two processes have read the same log and come to different states; the session ends.

    They run different versions of structsync, or there is a bug: please report it.
    """

    __module__ = "structsync.distributed"


class SessionEnded(Exception):
    """The engine says that this session is over; the session makes a :exc:`LeaseLost` of it."""


class DeliveryFailed(Exception):
    """A request to the engine got no answer. Whether it was carried out is unknown; it is sent again."""
