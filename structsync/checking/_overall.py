"""How far a run of many searches has come, and how long the rest may take."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping


class Overall:
    """Counts the searches of a run, and estimates the time that is left from those that ended.

    A spec with a record is expected to take as long for each transition as the others did; one
    without, and a planted fault, as long as the others of its kind.
    """

    def __init__(
        self,
        kinds: Mapping[str, str],
        transitions: Mapping[str, float],
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Plan a run.

        Args:
            kinds: the names of all searches, each with "spec" or "fault".
            transitions: those of the names that are on record with their size.
            clock: what tells the time, in seconds.
        """
        self._left = dict(kinds)
        self._total = len(kinds)
        known = [transitions[name] for name in kinds if name in transitions]
        usual = sum(known) / len(known) if known else 1.0
        self._weight = {name: transitions.get(name, usual) for name in kinds}
        self._spent: dict[str, tuple[float, float]] = {}
        self._clock = clock
        self._began: dict[str, float] = {}
        self.lanes = 1
        """How many searches run at once."""

    def weight(self, name: str) -> float:
        """Return how large a search is expected to be, compared with the others."""
        return self._weight.get(name, 0.0)

    def starts(self, name: str) -> None:
        """Note that a search begins, or that it runs."""
        self._began.setdefault(name, self._clock())

    def ends(self, name: str) -> None:
        """Note that a search is over."""
        kind = self._left.pop(name, None)
        began = self._began.pop(name, None)
        if kind is not None and began is not None:
            seconds, weight = self._spent.get(kind, (0.0, 0.0))
            self._spent[kind] = (seconds + self._clock() - began, weight + self._weight[name])

    def __str__(self) -> str:
        """Return the number of the search that runs, and the time left as far as it is known."""
        if self._total < 2 or not self._left:
            return ""
        number = f"{self._total - len(self._left) + 1} of {self._total}"
        if not self._spent:
            return number
        minutes, seconds = divmod(round(self._seconds_left()), 60)
        unknown = set(self._left.values()) - self._spent.keys()
        about = "at least" if unknown else "about"
        return f"{number}, {about} {minutes}:{seconds:02} left"

    def _seconds_left(self) -> float:
        found = 0.0
        for kind, (seconds, weight) in self._spent.items():
            to_do = sum(self._weight[name] for name, one in self._left.items() if one == kind)
            found += seconds / max(weight, 1e-9) * to_do
        now = self._clock()
        found -= sum(now - began for began in self._began.values())
        return max(0.0, found / self.lanes)
