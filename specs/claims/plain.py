"""What is written into a log is read as it was, and what means nothing is refused."""

from __future__ import annotations

from typing import Any

from structsync._core.primitives.rwlock import READ, WRITE, Access
from structsync._core.shared import plain
from structsync._core.shared.calls import SLOTS
from structsync._core.shared.operations import Operation, Verb
from structsync._core.shared.state import SharedState

#: One of each kind of value, and some within others.
VALUES: list[Any] = [
    None,
    True,
    -3,
    "name",
    (),
    (1, (None, "two"), False),
    frozenset(),
    frozenset([3, 1, 2]),
    frozenset([("a", 1), ("b", None)]),
    Access(READ, ("session", 1)),
    Access(WRITE, "task"),
    (Access(READ, 1), frozenset([(1, 2)])),
]

#: What two processes have to agree on, which may have two versions of this.
WRITTEN: list[tuple[Any, bytes]] = [
    ("tür", '"tür"'.encode()),
    ((1, (None, True), -2), b"[1,[null,true],-2]"),
    (SharedState().snapshot(), b"[1,0,[],[],[]]"),
    (("join", "session", *Operation(Verb.JOIN, "session")[2:]), b'["join","session",-1,[]]'),
    (SLOTS, b"256"),
]

#: What no log has.
NO_VALUES: list[Any] = [1.5, b"bytes", {"a": 1}, 1j, {1, 2}, (1, (2.5,)), Access(READ, 1.5)]

#: Bytes that are none of an entry, or not of a value.
NO_ENTRIES = [
    b"",
    b"{",
    b"{}",
    b'{"other":[]}',
    b'{"set":[1],"access":[]}',
    b'{"access":["read",1],"set":[]}',
    b'{"access":["read"]}',
    b'{"access":["fly",1]}',
    b'{"set":3}',
    b"[" * 100_000,
    b'[[{"none":1}]]',
    b"\xff",
]

#: What can be read, and is no operation.
NO_OPERATIONS: list[Any] = [
    None,
    ("join", "session", 1),
    (1, "session", 1, ()),
    ("join", 2, 1, ()),
    ("join", "session", "1", ()),
    ("join", "session", 1, None),
    ("leap", "session", 1, ()),
]


def what_is_encoded_comes_back_as_it_was(which: int) -> None:
    assert 0 <= which < 12
    value = VALUES[which]
    decoded = plain.decode(plain.encode(value))
    assert decoded == value
    assert type(decoded) is type(value)


def equal_sets_have_equal_bytes(first: int, second: int, third: int) -> None:
    assert 0 <= first < second < third <= 4
    one, other = plain.encode(frozenset([first, second, third])), b'{"set":[%d,%d,%d]}'
    assert one == other % (first, second, third)
    assert plain.digest(one) == plain.digest(other % (first, second, third))
    assert len(plain.digest(one)) == 32
    assert plain.digest(one) != plain.digest(other % (first, second, third + 1))


def what_is_no_plain_value_is_refused(which: int) -> None:
    assert 0 <= which < 7
    try:
        plain.encode(NO_VALUES[which])
    except TypeError as error:
        words = str(error)
    else:
        raise AssertionError("encoded")
    assert "is not plain data, so it cannot" in words


def what_means_nothing_is_refused(which: int) -> None:
    assert 0 <= which < 12
    try:
        plain.decode(NO_ENTRIES[which])
    except ValueError as error:
        words = str(error)
    else:
        raise AssertionError("decoded")
    assert words.startswith("not an entry of a log of structsync: ")


def an_operation_comes_back_as_it_was(verb: int, is_numbered: bool, has_details: bool) -> None:
    assert 0 <= verb < 9
    number = 7 if is_numbered else -1
    operation = Operation([*Verb][verb], "session", number, (1, "two") if has_details else ())
    assert Operation.decode(operation.encode()) == operation
    assert type(Operation.decode(operation.encode()).verb) is Verb


def what_is_no_operation_is_refused(which: int) -> None:
    assert 0 <= which < 7
    try:
        Operation.decode(plain.encode(NO_OPERATIONS[which]))
    except ValueError:
        assert which >= 0
    else:
        raise AssertionError("decoded")


def what_is_written_is_what_other_versions_read(which: int) -> None:
    assert 0 <= which < 5
    value, written = WRITTEN[which]
    assert plain.encode(value) == written
    assert plain.decode(written) == value
