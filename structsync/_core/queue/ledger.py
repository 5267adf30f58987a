"""Which tasks took how much and have not released it, by the events."""

from __future__ import annotations

from collections.abc import Hashable


class Ledger:
    """Units taken minus units released, for each task that did either."""

    def __init__(self) -> None:
        self._balances: dict[Hashable, int] = {}

    def note(self, who: Hashable, units: int) -> None:
        """Add units taken (positive) or released (negative); a task that is square is forgotten."""
        balance = self._balances.get(who, 0) + units
        if balance:
            self._balances[who] = balance
        else:
            self._balances.pop(who, None)

    def total(self) -> int:
        """Return the units that are held, whichever tasks took and released them."""
        return sum(self._balances.values())

    def debtors(self) -> list[tuple[Hashable, int]]:
        """Return those that took more than they released, and how much more."""
        return [(who, units) for who, units in self._balances.items() if units > 0]
