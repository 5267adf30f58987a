"""Judge of what several processes did: who held what, from when to when, with which token."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple


class Held(NamedTuple):
    """One block of one process.

    Attributes:
      token: of the grant.
      start: when the body began, by the machine's monotonic clock.
      end: when it ended; None if the process was killed inside.
      permits: how many were held.
      asked: the position of the request in the log; None where that is not known.
    """

    token: int
    start: int
    end: int | None
    permits: int = 1
    asked: int | None = None


def complaints(history: Iterable[Held], capacity: int) -> list[str]:
    """Return what is wrong with a history; nothing, if all is well.

    A body begins after its grant and ends before its release, so bodies that overlap were granted together.
    Where several may hold, one may begin later than another that was granted after it.
    """
    ordered = sorted(history, key=lambda one: one.start)
    found = []
    times = Counter(one.token for one in ordered)
    found += [f"two grants have the token {one}" for one in times if times[one] > 1]
    changes = [(one.start, one.permits) for one in ordered]
    changes += [(one.end, -one.permits) for one in ordered if one.end is not None]
    out = 0
    for when, change in sorted(changes):  # at one instant, who leaves goes first
        out += change
        if out > capacity:
            found.append(f"{out} of {capacity} permits are held at {when}")
    ended = sorted((one.end, one.token) for one in ordered if one.end is not None)
    before = last = 0  # how many have ended before, and the largest token of those
    for one in ordered if capacity == 1 else ():
        while before < len(ended) and ended[before][0] < one.start:
            last = max(last, ended[before][1])
            before += 1
        if one.token < last:
            found.append(f"the token {one.token} came after {last}")
    queue = sorted((one.asked, one.token) for one in ordered if one.asked is not None)
    for (asked, token), (later, earlier) in pairwise(queue):
        if earlier < token:
            found.append(f"the request at {later} was granted before the one at {asked}")
    return found
