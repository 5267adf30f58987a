"""Numbers and lists as people write them."""

from __future__ import annotations

from collections.abc import Sequence


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 step``, ``2,000 steps``."""
    return f"{number:,} {noun}" + "s" * (number != 1)


def steps_repeat(number: int) -> str:
    """Return what a cycle does: ``step repeats``, ``3 steps repeat``."""
    return "step repeats" if number == 1 else f"{number:,} steps repeat"


def listed(names: Sequence[str], most: int | None = None) -> str:
    """Return names as a sentence has them: ``a``, ``a and b``, ``a, b and 3 more``."""
    shown = list(names)
    if most is not None and len(shown) > most:
        shown[most - 1 :] = [f"{len(shown) - most + 1} more"]
    if len(shown) < 2:
        return "".join(shown)
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def an(noun: str) -> str:
    """Return a noun with its article: ``a Lock``, ``an Event``."""
    return f"{'an' if noun[:1].lower() in tuple('aeiou') else 'a'} {noun}"
