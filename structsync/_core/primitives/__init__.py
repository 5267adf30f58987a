"""One core per primitive: its state and the functions that the arbiter calls."""
