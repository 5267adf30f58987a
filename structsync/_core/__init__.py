"""The pure core: every decision about which task may go next, and nothing else.

Rules of this folder (a test enforces the first two):

1. It imports the standard library alone: no trio, no clock, no randomness, no I/O.
2. It parks no task and wakes no task. A transition returns the requests that it ended; the shell wakes
   them afterwards, when the state is consistent again.
3. A transition that refuses (raises) leaves the state as it was.
4. Waiters are opaque: a task in a program, a name in a specification.
5. Each core has ``snapshot()`` (hashable) and ``restore()``, for the model checker and the explorer.
"""
