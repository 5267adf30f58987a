"""Primitives over a log: what an entry changes, what is refused, and replicas that agree."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structsync._core.primitives.rwlock import Access, Mode
from structsync._core.shared.core import SharedCore
from structsync._core.shared.operations import Key, Operation, Outcome, Result, Verb, Want
from structsync._core.shared.plain import decode, digest, encode
from structsync._core.shared.preview import preview

DB = Want("db", "semaphore", 1, 1)
LOCK = Want("lock", "lock")
READ, WRITE = Want("page", "rwlock", None, "read"), Want("page", "rwlock", None, "write")


class Log:
    """A log and one replica of it; sessions join with their first operation."""

    def __init__(self) -> None:
        self.core = SharedCore()
        self.entries: list[Operation] = []

    def append(self, verb: Verb, session: str, *details: Any) -> list[Outcome]:
        if session not in self.core.sessions and verb is not Verb.END:
            self._apply(Operation(Verb.JOIN, session))
        number = self.core.sessions.get(session, -1) + 1
        return self._apply(Operation(verb, session, number, details))

    def _apply(self, entry: Operation) -> list[Outcome]:
        self.entries.append(entry)
        return self.core.apply(Operation.decode(entry.encode()), len(self.entries))

    def acquire(self, session: str, *wants: Want) -> Key:
        self.append(Verb.ACQUIRE, session, wants)
        return (session, self.core.sessions[session])

    def holds(self, key: Key) -> bool:
        return key in self.core.places and self.core.places[key].token > 0


@pytest.fixture
def log() -> Log:
    return Log()


def results(outcomes: list[Outcome]) -> list[tuple[Key, str]]:
    return [(one.key, one.result.value) for one in outcomes]


def error_of(outcomes: list[Outcome]) -> str:
    ((_, result, _, (_, text)),) = outcomes
    assert result is Result.REFUSED
    return str(text)


# ==== Grants ====


def test_what_is_free_is_granted_in_the_entry_that_asks(log: Log) -> None:
    (granted,) = log.append(Verb.ACQUIRE, "s", (DB,))
    assert granted == Outcome(("s", 0), Result.GRANTED, token=2)


def test_a_release_lets_in_the_next_and_its_token_is_larger(log: Log) -> None:
    first, second = log.acquire("s", DB), log.acquire("t", DB)
    outcomes = log.append(Verb.RELEASE, "s", first[1])
    assert results(outcomes) == [(("s", 1), "done"), (second, "granted")]
    assert outcomes[1].token > 2


def test_what_was_withdrawn_lets_in_those_behind_it(log: Log) -> None:
    log.acquire("s", READ)
    writer, reader = log.acquire("t", WRITE), log.acquire("u", READ)
    outcomes = log.append(Verb.WITHDRAW, "t", writer[1])
    assert results(outcomes) == [(writer, "withdrawn"), (reader, "granted")]


def test_a_withdrawal_that_comes_after_the_grant_changes_nothing(log: Log) -> None:
    key = log.acquire("s", DB)
    assert log.append(Verb.WITHDRAW, "s", key[1]) == []
    assert log.holds(key)


def test_a_group_is_granted_as_a_whole_and_given_back_as_a_whole(log: Log) -> None:
    one = log.acquire("s", LOCK)
    both, behind = log.acquire("t", DB, LOCK), log.acquire("u", DB)
    assert not log.holds(behind)
    assert results(log.append(Verb.RELEASE, "s", one[1]))[1:] == [(both, "granted")]
    outcomes = log.append(Verb.RELEASE, "t", both[1])
    assert results(outcomes)[1:] == [(behind, "granted")]


def test_a_group_that_is_free_is_granted_at_once(log: Log) -> None:
    assert log.holds(log.acquire("s", DB, LOCK))


def test_a_group_that_is_withdrawn_leaves_every_queue(log: Log) -> None:
    log.acquire("s", LOCK)
    both, behind = log.acquire("t", DB, LOCK), log.acquire("u", DB)
    outcomes = log.append(Verb.WITHDRAW, "t", both[1])
    assert results(outcomes) == [(both, "withdrawn"), (behind, "granted")]


# ==== What is refused changes nothing ====


@pytest.mark.parametrize(
    ("wants", "problem"),
    [
        ((Want("x", "spoon"),), "no shared primitive of the kind 'spoon'"),
        ((Want("x", "semaphore", 0, 1),), "permits must be an int >= 1, not 0"),
        ((Want("x", "semaphore", 2, True),), "permits must be an int >= 1, not True"),
        ((Want("x", "semaphore", 2, 3),), "cannot acquire 3 permits"),
        ((Want("x", "rwlock", None, "rite"),), "'rite' is not a valid Mode"),
        ((Want("db", "lock"),), "'db' is in use as a semaphore of 1, and cannot be a lock"),
        ((DB, DB), "each primitive once"),
        ((DB, Want("x", "latch", 1)), "a group consists of"),
    ],
)
def test_what_cannot_be_is_refused(log: Log, wants: tuple[Want, ...], problem: str) -> None:
    log.acquire("s", DB)
    log.core.apply(Operation(Verb.JOIN, "t"))
    log.core.sessions["t"] = 0
    before = log.core.encode()
    assert problem in error_of(log.core.apply(Operation(Verb.ACQUIRE, "t", 1, (wants,))))
    log.core.sessions["t"] = 0
    assert log.core.encode() == before


def test_what_is_not_held_cannot_be_given_back(log: Log) -> None:
    log.acquire("s", DB)
    waits = log.acquire("t", DB)
    assert "nothing is held" in error_of(log.append(Verb.RELEASE, "t", waits[1]))
    assert "nothing is held" in error_of(log.append(Verb.RELEASE, "t", 99))


def test_a_name_that_no_session_uses_may_become_something_else(log: Log) -> None:
    key = log.acquire("s", DB)
    log.append(Verb.RELEASE, "s", key[1])
    assert log.holds(log.acquire("s", Want("db", "lock")))


# ==== Latches, barriers, conditions ====


def test_a_size_that_only_equals_the_one_that_was_in_use_before_is_refused(log: Log) -> None:
    log.append(Verb.RELEASE, "s", log.acquire("s", DB)[1])
    outcomes = log.append(Verb.ACQUIRE, "s", (DB._replace(size=True),))
    assert "must be an int >= 1, not True" in error_of(outcomes)


def test_a_latch_that_is_counted_down_lets_every_task_in(log: Log) -> None:
    waits = log.acquire("s", Want("start", "latch", 2))
    assert results(log.append(Verb.COUNT_DOWN, "t", Want("start", "latch", 2, 1))) == [
        (("t", 0), "done")
    ]
    assert results(log.append(Verb.COUNT_DOWN, "t", Want("start", "latch", 2, 1)))[1:] == [
        (waits, "granted")
    ]
    assert "2 is left" not in error_of(
        log.append(Verb.COUNT_DOWN, "t", Want("start", "latch", 2, 1))
    )
    (again,) = log.append(Verb.ACQUIRE, "s", (Want("start", "latch", 2),))
    assert again.result is Result.GRANTED


def test_a_round_of_a_barrier_is_numbered(log: Log) -> None:
    want = Want("round", "barrier", 2)
    first = log.acquire("s", want)
    outcomes = log.append(Verb.ACQUIRE, "t", (want,))
    assert [(one.key, one.value) for one in outcomes] == [(first, 0), (("t", 0), 1)]


def test_a_wait_gives_up_the_lock_and_owns_it_again(log: Log) -> None:
    owner, other = log.acquire("s", LOCK), log.acquire("t", LOCK)
    assert results(log.append(Verb.WAIT, "s", "changed", owner[1])) == [(other, "granted")]
    log.append(Verb.NOTIFY, "t", "changed", other[1], 1)
    outcomes = log.append(Verb.RELEASE, "t", other[1])
    assert results(outcomes)[1:] == [(("s", 1), "granted")]
    assert log.core.places[owner].token == outcomes[1].token


def test_who_does_not_hold_the_lock_can_neither_wait_nor_notify(log: Log) -> None:
    held = log.acquire("s", DB)
    for verb, details in ((Verb.WAIT, ()), (Verb.NOTIFY, (1,))):
        for number in (held[1], 99):
            outcomes = log.append(verb, "s", "changed", number, *details)
            assert "must hold the lock" in error_of(outcomes)
    assert [*log.core.named] == ["db"]


def test_a_withdrawn_wait_ends_once_it_owns_the_lock(log: Log) -> None:
    owner, other = log.acquire("s", LOCK), log.acquire("t", LOCK)
    log.append(Verb.WAIT, "s", "changed", owner[1])
    assert log.append(Verb.WITHDRAW, "s", 1) == []
    assert log.append(Verb.WITHDRAW, "s", 1) == []  # twice is once
    outcomes = log.append(Verb.RELEASE, "t", other[1])
    assert results(outcomes)[1:] == [(("s", 1), "withdrawn")]
    assert log.holds(owner)


def test_a_notified_wait_can_be_withdrawn_although_its_condition_is_something_else(
    log: Log,
) -> None:
    owner, other = log.acquire("s", LOCK), log.acquire("t", LOCK)
    log.append(Verb.WAIT, "s", "changed", owner[1])
    log.append(Verb.NOTIFY, "t", "changed", other[1], None)
    log.acquire("u", Want("changed", "lock"))
    assert log.append(Verb.WITHDRAW, "s", 1) == []
    outcomes = log.append(Verb.RELEASE, "t", other[1])
    assert results(outcomes)[1:] == [(("s", 1), "withdrawn")]


@pytest.mark.parametrize("how", ["waiting", "notified", "withdrawn"])
def test_a_session_that_dies_in_a_wait_leaves_the_lock_to_others(log: Log, how: str) -> None:
    owner, other = log.acquire("s", LOCK), log.acquire("t", LOCK)
    log.append(Verb.WAIT, "s", "changed", owner[1])
    if how == "notified":
        log.append(Verb.NOTIFY, "t", "changed", other[1], 1)
    elif how == "withdrawn":
        log.append(Verb.WITHDRAW, "s", 1)
    assert log.append(Verb.END, "s") == []
    log.append(Verb.RELEASE, "t", other[1])
    assert log.core.named == {}


# ==== Sessions ====


def test_the_end_of_a_session_hands_on_all_that_it_held(log: Log) -> None:
    log.acquire("s", DB)
    log.acquire("s", LOCK)
    log.acquire("s", DB)
    first, second = log.acquire("t", DB), log.acquire("t", LOCK)
    assert results(log.append(Verb.END, "s")) == [(first, "granted"), (second, "granted")]


def test_what_comes_after_the_end_changes_nothing(log: Log) -> None:
    log.acquire("s", DB)
    log.append(Verb.END, "s")
    assert log.core.apply(Operation(Verb.ACQUIRE, "s", 7, ((DB,),))) == []
    assert log.core.apply(Operation(Verb.END, "s")) == []


def test_with_the_last_session_everything_is_forgotten(log: Log) -> None:
    log.append(Verb.COUNT_DOWN, "s", Want("start", "latch", 2, 1))
    assert log.core.named
    log.append(Verb.END, "s")
    assert not log.core.named


def test_to_join_twice_is_to_join_once(log: Log) -> None:
    log.acquire("s", DB)
    log.core.apply(Operation(Verb.JOIN, "s"))
    assert log.core.sessions == {"s": 0}


def test_an_operation_that_is_sent_again_changes_nothing(log: Log) -> None:
    log.acquire("s", DB)
    before = log.core.encode()
    assert log.core.apply(log.entries[-1]) == []
    assert log.core.encode() == before


# ==== Previews ====


def test_a_preview_names_those_who_fit(log: Log) -> None:
    writer = log.acquire("s", WRITE)
    readers = [log.acquire("t", READ), log.acquire("u", READ)]
    log.acquire("v", WRITE)
    before = log.core.encode()
    assert preview(log.core, writer) == tuple(readers)
    assert log.core.encode() == before


def test_a_preview_with_no_task_behind_is_empty(log: Log) -> None:
    assert preview(log.core, log.acquire("s", DB)) == ()


def test_a_preview_ends_with_the_queue(log: Log) -> None:
    held = log.acquire("s", DB)
    waits = log.acquire("t", DB)
    assert preview(log.core, held) == (waits,)


def test_a_preview_does_not_know_of_groups(log: Log) -> None:
    one = log.acquire("s", DB)
    both = log.acquire("t", DB, LOCK)
    assert preview(log.core, one) is None
    log.append(Verb.RELEASE, "s", one[1])
    assert preview(log.core, both) is None
    assert preview(log.core, ("s", 99)) is None


# ==== Bytes ====


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        -3,
        "ä",
        (1, ("s", None)),
        frozenset({("s", 2), ("s", 1)}),
        Access(Mode.READ, "s"),
    ],
)
def test_what_is_encoded_comes_back(value: object) -> None:
    assert decode(encode(value)) == value
    assert type(decode(encode(value))) is type(value)


@pytest.mark.parametrize("session", ["0a1b", "session 1", "tür", 'a "b", c', "a\\", "\n", ""])
@pytest.mark.parametrize("details", [(), (0,), (-1,), (17,), ("a", None), ((DB, LOCK),), (True,)])
def test_an_operation_comes_back_however_it_is_written(session: str, details: Any) -> None:
    operation = Operation(Verb.WAIT, session, 3, details)
    decoded = Operation.decode(operation.encode())
    assert decoded == operation
    assert [type(one) for one in decoded.details] in ([type(one) for one in details], [tuple])


@pytest.mark.parametrize("session", ["0a1b", 'a "b", c'])
@pytest.mark.parametrize("size", [1, True, None])
def test_what_is_wanted_is_written_as_all_else_whatever_was_before(
    session: str, size: int | None
) -> None:
    wants = (Want("tür", "semaphore", size, 1), LOCK)
    entry = Operation(Verb.ACQUIRE, session, 3, (wants,)).encode()
    assert entry == encode(("acquire", session, 3, (wants,)))


@pytest.mark.parametrize(
    "data",
    [
        b'["join","s",01,[]]',
        b'["join","s",1,[01]]',
        b'["join","s",1,[1],[2]]',
        b'["join","s",1,[],[]]',
        b'["join","s",1,[],1]',
        b'["join","s",1,[[]]',
        b'["join","a\nb",1,[]]',
        b'["join","\xff",1,[]]',
        b'["leap","s",1,[]]',
    ],
)
def test_what_only_looks_like_an_operation_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - of either parser
        Operation.decode(data)


def test_members_of_enums_are_encoded_as_what_they_are() -> None:
    assert encode((Verb.JOIN, HTTPStatus.OK)) == b'["join",200]'


def test_what_is_no_plain_value_is_not_encoded() -> None:
    with pytest.raises(TypeError, match="is not plain data"):
        encode((1, object()))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"{}",
        b'{"set":[1],"more":2}',
        b'{"odd":1}',
        b'{"odd":["read",1]}',
        b'{"access":[1]}',
        b'{"access":["x",1]}',
        b"\xff",
    ],
)
def test_garbage_is_not_decoded(data: bytes) -> None:
    with pytest.raises(ValueError, match="not an entry of a log"):
        decode(data)


@pytest.mark.parametrize("data", [b"{}", b'{"odd":["read",1]}'])
def test_an_object_without_a_known_tag_has_no_meaning(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"\} has no meaning in a log"):
        decode(data)


@pytest.mark.parametrize("data", [b"1", b'["acquire","s",1]', b'["steal","s",1,[]]'])
def test_what_is_no_operation_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"operation|Verb"):
        Operation.decode(data)


def test_a_log_of_another_version_is_refused(log: Log) -> None:
    _, *rest = log.core.snapshot()
    with pytest.raises(ValueError, match="written in version 99, and this structsync speaks 1"):
        SharedCore().restore((99, *rest))


# ==== Replicas ====


def test_a_snapshot_knows_who_waits_for_a_notification(log: Log) -> None:
    owner, other = log.acquire("s", LOCK), log.acquire("t", LOCK)
    log.append(Verb.WAIT, "s", "changed", owner[1])
    twin = SharedCore()
    twin.restore(decode(log.core.encode()))
    assert twin.encode() == log.core.encode()
    twin.apply(Operation(Verb.NOTIFY, "t", 1, ("changed", other[1], None)))
    outcomes = twin.apply(Operation(Verb.RELEASE, "t", 2, (other[1],)))
    assert results(outcomes)[1:] == [(("s", 1), "granted")]


NAMES: list[tuple[Want, ...]] = [(DB,), (LOCK,), (READ,), (WRITE,), (DB, LOCK), (LOCK, READ)]
MORE: list[tuple[Want, ...]] = [(Want("round", "barrier", 2),), (Want("start", "latch", 2),)]


@settings(max_examples=60)
@given(st.data())
def test_replicas_that_begin_with_a_snapshot_agree_with_those_that_were_there(data: Any) -> None:
    log, begun = Log(), SharedCore()
    sessions, verbs = st.sampled_from("stu"), st.sampled_from([Verb.ACQUIRE, *Verb])
    for _ in range(data.draw(st.integers(1, 25))):
        session, verb = data.draw(sessions), data.draw(verbs)
        mine = [key for key in log.core.places if key[0] == session] or [(session, 0)]
        number = data.draw(st.sampled_from(mine))[1]
        details: dict[Verb, tuple[Any, ...]] = {
            Verb.ACQUIRE: (data.draw(st.sampled_from(NAMES + MORE)),),
            Verb.WITHDRAW: (number,),
            Verb.RELEASE: (number,),
            Verb.COUNT_DOWN: (Want("start", "latch", 2, 1),),
            Verb.WAIT: ("changed", number),
            Verb.NOTIFY: ("changed", number, data.draw(st.sampled_from([1, None]))),
            Verb.END: (),
        }
        if verb not in details:
            continue
        since = len(log.entries)
        log.append(verb, session, *details[verb])
        for stamp, entry in enumerate(log.entries[since:], since + 1):
            twin = SharedCore()
            twin.restore(decode(begun.encode()))
            begun = twin
            begun.apply(entry, stamp)
        assert digest(begun.encode()) == digest(log.core.encode())
