"""The machine of the lock map: real weak references, and who has what in lists."""

from __future__ import annotations

from typing import Any
from weakref import WeakValueDictionary

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from structsync._core.primitives.lock_map import KeyedLockCore, LockMapCore
from structsync._core.queue.request import Request

KEYS = st.sampled_from("xyz")
NUMBER = st.integers(0, 9)


class LockMapMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.entries: WeakValueDictionary[Any, KeyedLockCore] = WeakValueDictionary()
        self.map = LockMapCore(self.entries)
        self.had: list[tuple[str, KeyedLockCore]] = []  # references that a task keeps
        self.lines: dict[str, list[str]] = {key: [] for key in "xyz"}  # the first one holds
        self.requests: dict[str, Request[Any]] = {}  # of those in a line; each has its lock
        self.comers = 0

    def lock_of(self, key: str) -> KeyedLockCore:
        lock = self.entries.get(key)
        return lock or self.entries.setdefault(key, self.map.new_lock(key))

    # ==== rules ====

    @rule(key=KEYS)
    def keep(self, key: str) -> None:
        self.had.append((key, self.lock_of(key)))

    @precondition(lambda self: self.had)
    @rule(number=NUMBER)
    def lose(self, number: int) -> None:
        del self.had[number % len(self.had)]

    @rule(key=KEYS)
    def acquire(self, key: str) -> None:
        """Who waits has the lock; who holds it need not."""
        who = f"w{self.comers}"
        self.comers += 1
        lock = self.lock_of(key)
        request = self.requests[who] = lock.submit(who, waiter=who)
        request.primitive = lock if self.lines[key] else None
        self.lines[key].append(who)

    @precondition(lambda self: any(self.lines.values()))
    @rule(number=NUMBER)
    def release(self, number: int) -> None:
        key = self.one_of([key for key, line in self.lines.items() if line], number)
        self.end(key, self.lines[key][0], lambda lock, who: lock.release(who))

    @precondition(lambda self: any(line[1:] for line in self.lines.values()))
    @rule(number=NUMBER)
    def withdraw(self, number: int) -> None:
        who = self.one_of([who for line in self.lines.values() for who in line[1:]], number)
        key = next(key for key, line in self.lines.items() if who in line)
        self.end(key, who, lambda lock, who: lock.withdraw(self.requests[who]))

    @staticmethod
    def one_of(names: list[str], number: int) -> str:
        return names[number % len(names)]

    def end(self, key: str, who: str, how: Any) -> None:
        how(self.lock_of(key), who)
        self.lines[key].remove(who)
        del self.requests[who]
        for one in self.lines[key][:1]:
            self.requests[one].primitive = None

    # ==== what holds after every step ====

    @invariant()
    def each_line_has_its_first_as_owner(self) -> None:
        for key, line in self.lines.items():
            lock = self.entries.get(key)
            assert [one.waiter for one in lock.queue] == line[1:] if lock else not line
            assert (lock.owner if lock else None) == (line[0] if line else None)

    @invariant()
    def what_is_held_is_kept_and_what_no_task_has_is_not(self) -> None:
        held = {key for key, line in self.lines.items() if line}
        assert {*self.map.held} == held
        assert {*self.entries} == held | {key for key, _ in self.had}

    @invariant()
    def all_that_have_the_lock_of_a_key_have_the_same(self) -> None:
        for key, lock in self.had:
            assert self.entries[key] is lock
