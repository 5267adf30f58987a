"""The number of an object while it lives."""

from collections.abc import Callable

#: ``id`` would do, but each call of it is an event for which the interpreter calls audit hooks, of
#: which the explorer has one, and a walk asks for thousands of addresses.
address_of: Callable[[object], int] = object.__hash__
