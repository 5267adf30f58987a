"""Monitors: entries with guards, the two disciplines of conditions, rules over several monitors."""
