"""One log of operations, replayed by every process that is concerned: the decisions of shared primitives."""
