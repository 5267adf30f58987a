"""What an entry of a log makes of a request, in each situation in which that can be.

The request is the first of the session "mine"; the session "other" has one as well.
"""

from __future__ import annotations

from typing import Any

from structsync._core.shared.core import SharedCore
from structsync._core.shared.operations import Operation, Outcome, Result, Verb, Want
from structsync._core.shared.plain import encode
from structsync._core.shared.preview import preview

LOCK, PERMIT = Want("lock", "lock"), Want("permits", "semaphore", 1, 1)
BOTH = (LOCK, PERMIT)
MINE, LAST = ("mine", 0), ("mine", 9)

#: What has become of the request.
UNKNOWN, WAITS, OWNS, HOLDS, HAS_BOTH, IN_WAIT, WITHDRAWN, RELEASED = range(8)
#: What is held in each.
HELD: dict[int, tuple[Want, ...]] = {OWNS: (LOCK,), HOLDS: (PERMIT,), HAS_BOTH: BOTH}


class Log:
    """A replica to which entries are appended."""

    def __init__(self) -> None:
        self.core = SharedCore()
        for session in ("mine", "other"):
            self.append(Verb.JOIN, (session, -1))

    def append(self, verb: Verb, key: tuple[str, int], *details: Any, stamp: int = 0) -> list[Any]:
        return self.core.apply(Operation(verb, *key, details), stamp)

    def waiting(self, name: str) -> list[Any]:
        found = self.core.named.get(name)
        return [] if found is None else [one.waiter for one in found.core.queue]

    def rest(self) -> tuple[Any, ...]:
        """Return all but the numbers up to which the operations of the sessions are known."""
        version, token, sessions, *rest = self.core.snapshot()
        return (version, token, [name for name, _ in sessions], *rest)


def log(situation: int) -> Log:
    """Return a log in which the request is in one of the situations."""
    made = Log()
    if situation == WAITS:
        made.append(Verb.ACQUIRE, ("other", 0), [LOCK])
    if situation != UNKNOWN:
        made.append(Verb.ACQUIRE, MINE, HELD.get(situation, (LOCK,)))
    if situation == IN_WAIT:
        made.append(Verb.WAIT, ("mine", 1), "changed", 0)
    if situation == WITHDRAWN:
        made.append(Verb.WITHDRAW, ("mine", 1), 0)
    if situation in (WITHDRAWN, RELEASED):
        made.append(Verb.RELEASE, ("mine", 2), 0)
    return made


def refused(outcomes: list[Outcome], words: str) -> bool:
    return [one.result for one in outcomes] == [Result.REFUSED] and words in str(outcomes[0].value)


def what_is_held_is_released_and_nothing_else(situation: int) -> None:
    assert 0 <= situation < 8
    made = log(situation)
    before = made.rest()
    outcomes = made.append(Verb.RELEASE, LAST, 0)
    if situation in (OWNS, HOLDS, HAS_BOTH):
        assert outcomes == [Outcome(LAST, Result.DONE)]
        assert not made.core.places
        assert not made.core.named
    else:
        assert refused(outcomes, "nothing is held under this number")
        assert outcomes[0].key == LAST
        assert made.rest() == before


def only_the_owner_of_the_lock_waits_and_notifies(situation: int, is_wait: bool) -> None:
    assert 0 <= situation < 8
    made = log(situation)
    before = made.rest()
    if is_wait:
        outcomes = made.append(Verb.WAIT, LAST, "changed", 0)
    else:
        outcomes = made.append(Verb.NOTIFY, LAST, "changed", 0, None)
    if situation != OWNS:
        assert refused(outcomes, "must hold the lock of the condition, and nothing else with it")
        assert made.rest() == before
    elif is_wait:
        assert outcomes == []
        assert made.core.places[MINE].token == 0
        assert made.core.places[LAST].hold == MINE
    else:
        assert outcomes == [Outcome(LAST, Result.DONE)]
        assert made.rest() == before


def a_waiter_is_withdrawn_and_no_other(situation: int) -> None:
    assert 0 <= situation < 8
    made = log(situation)
    before = made.rest()
    outcomes = made.append(Verb.WITHDRAW, LAST, 0)
    if situation == WAITS:
        assert outcomes == [Outcome(MINE, Result.WITHDRAWN)]
        assert MINE not in made.core.places
        assert not made.core.named["lock"].core.queue
    else:
        assert outcomes == []
        assert made.rest() == before


def a_wait_that_is_withdrawn_owns_the_lock_before_it_ends(is_free: bool, is_twice: bool) -> None:
    assert is_free in (False, True)
    made = log(IN_WAIT)
    token = made.core.token
    if not is_free:
        made.append(Verb.ACQUIRE, ("other", 0), [LOCK])
        token += 1
    outcomes = made.append(Verb.WITHDRAW, LAST, 1)
    ended = [Outcome(("mine", 1), Result.WITHDRAWN, token + 1)]
    assert outcomes == (ended if is_free else [])
    if is_twice:
        assert made.append(Verb.WITHDRAW, ("mine", 10), 1) == []
    if not is_free:
        released = made.append(Verb.RELEASE, ("other", 1), 0)
        assert released == [Outcome(("other", 1), Result.DONE), *ended]
    assert made.core.places[MINE].token == token + 1
    assert ("mine", 1) not in made.core.places


def a_token_is_larger_than_all_before_it_and_the_stamp_if_that_is(stamp: int) -> None:
    assert 0 <= stamp <= 9
    made = log(OWNS)
    (granted,) = made.append(Verb.ACQUIRE, LAST, [PERMIT], stamp=stamp)
    assert made.core.encode() == encode(made.core.snapshot())
    assert granted == Outcome(LAST, Result.GRANTED, max(2, stamp))
    assert made.core.places[LAST].token == made.core.token == granted.token


def those_that_a_release_lets_in_are_foreseen(situation: int, behind: int) -> None:
    assert 0 <= situation < IN_WAIT
    assert 0 <= behind <= 2
    made = log(situation)
    wants = [(), (LOCK,), BOTH][behind]
    if wants and situation == OWNS:
        made.append(Verb.ACQUIRE, ("other", 0), wants)
        made.append(Verb.ACQUIRE, ("other", 1), [LOCK])
    before = made.core.snapshot()
    seen = preview(made.core, MINE)
    assert made.core.snapshot() == before
    if situation not in (OWNS, HOLDS) or (situation == OWNS and behind == 2):
        assert seen is None  # only doing it can tell, or there is nothing to do
    else:
        assert seen == ((("other", 0),) if situation == OWNS and behind else ())


def what_an_engine_writes_of_a_session_has_no_number(is_end: bool) -> None:
    assert is_end in (False, True)
    entry = Operation(Verb.END if is_end else Verb.JOIN, "mine")
    assert Operation.decode(entry.encode()) == (entry.verb, "mine", -1, ())
    made = log(OWNS)
    made.append(Verb.ACQUIRE, ("other", 0), [LOCK])
    outcomes = made.core.apply(entry)
    ended = [Outcome(("other", 0), Result.GRANTED, 2)]
    assert outcomes == (ended if is_end else [])
    assert ("mine" in made.core.sessions) == (not is_end)
    assert made.append(Verb.ACQUIRE, ("stranger", 0), [PERMIT]) == []


def a_death_in_a_wait_that_was_withdrawn_wakes_no_other(is_withdrawn: bool) -> None:
    assert is_withdrawn in (False, True)
    made = log(IN_WAIT)
    made.append(Verb.ACQUIRE, ("other", 0), [LOCK])
    made.append(Verb.WAIT, ("other", 1), "changed", 0)
    made.append(Verb.JOIN, ("third", -1))
    made.append(Verb.ACQUIRE, ("third", 0), [LOCK])
    made.append(Verb.WITHDRAW if is_withdrawn else Verb.RELEASE, LAST, 1)
    assert made.core.places["mine", 1].raises == is_withdrawn
    assert made.append(Verb.END, ("mine", -1)) == []
    assert made.waiting("changed") == [("other", 1)]
    assert made.waiting("lock") == []
    assert {key[0] for key in made.core.places} == {"other", "third"}


def a_name_is_free_once_all_waiters_are_notified(is_used_again: bool) -> None:
    assert is_used_again in (False, True)
    made = log(IN_WAIT)
    made.append(Verb.ACQUIRE, ("other", 0), [LOCK])
    made.append(Verb.NOTIFY, ("other", 1), "changed", 0, None)
    assert "changed" not in made.core.named
    if is_used_again:
        made.append(Verb.ACQUIRE, ("other", 2), [Want("another", "lock")])
        made.append(Verb.WAIT, ("other", 3), "changed", 2)
    made.append(Verb.JOIN, ("third", -1))
    made.append(Verb.ACQUIRE, ("third", 0), [LOCK])
    assert made.append(Verb.WITHDRAW, LAST, 1) == []  # so it is the last for the lock
    assert made.waiting("lock") == [("third", 0), ("mine", 1)]
    released = made.append(Verb.RELEASE, ("other", 4), 0)
    assert [one.key for one in released] == [("other", 4), ("third", 0)]
    token = released[1].token + 1
    released = made.append(Verb.RELEASE, ("third", 1), 0)
    assert released[1:] == [Outcome(("mine", 1), Result.WITHDRAWN, token)]
    assert ("changed" in made.core.named) == is_used_again
