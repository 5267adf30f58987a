"""What can go wrong between processes and nowhere else."""

from __future__ import annotations


class LeaseLost(Exception):
    """What this session held, it holds no more; others may hold it already.

    Raised at the end of the block, which was cancelled, and by whoever waits at that time. What the
    block did after that must be refused where it was done, by its token.

    Attributes:
      name: of what was held or waited for.
      token: of the grant; 0 for a wait.
    """

    name: str
    token: int

    def __init__(self, name: str, token: int = 0) -> None:
        held = f"the grant {token} of {name!r} is" if token else f"the wait for {name!r} is"
        super().__init__(f"{held} over: the session's lease has ended; open a new session")
        self.name = name
        self.token = token


class ReplicasDiffer(Exception):
    """Two processes have read the same log and come to different states; the session ends.

    They run different versions of structsync, or there is a bug: please report it.
    """


class SessionEnded(Exception):
    """The engine says that this session is over; the session makes a :exc:`LeaseLost` of it."""


class DeliveryFailed(Exception):
    """A request to the engine got no answer. Whether it was carried out is unknown; it is sent again."""
