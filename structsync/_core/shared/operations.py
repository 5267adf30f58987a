"""What a log consists of, and what comes of it: operations and outcomes."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias, final

from .plain import decode, encode_text

#: A request, and later what was granted for it: the session, and the number of the operation that asked.
Key: TypeAlias = tuple[str, int]


class Verb(StrEnum):
    """What a session, or the engine about a session, writes into a log."""

    JOIN = "join"  # by the engine, before the first operation of a session
    END = "end"  # by the engine: the session has closed, its lease has ended, or its process died
    ACQUIRE = "acquire"  # (wants)
    WITHDRAW = "withdraw"  # (number of the request)
    RELEASE = "release"  # (number of the request that was granted)
    COUNT_DOWN = "count_down"  # (want): of a latch
    WAIT = "wait"  # (condition, number of the request that was granted the lock)
    DIGEST = "digest"  # by the engine: what every replica must come to here; see the replica
    NOTIFY = "notify"  # (condition, number of the same, how many; None: all)


ACQUIRE = Verb.ACQUIRE


@lru_cache(maxsize=256, typed=True)
def _written(*want: Any) -> str:
    """Return what is wanted as it is written; a program wants the same again and again."""
    return encode_text(want)


# A session that waits decodes what all others do meanwhile, and that has mostly this form: a session whose name
# needs no quoting, and as details one number, or what others have asked for before. So it need not be parsed again.
_WRITTEN = {verb: f'"{verb.value}"' for verb in Verb}
_VERBS = {verb.value.encode(): verb for verb in Verb}
_usual = re.compile(
    rb'\["([a-z_]+)","([^"\\\x00-\x1f]*)",(-?(?:0|[1-9][0-9]*)),\[(?:(0|[1-9][0-9]*)|(.*))\]\]',
    re.DOTALL,
).fullmatch


@lru_cache(maxsize=256)
def _details(data: bytes) -> tuple[Any, ...]:
    details: tuple[Any, ...] = decode(b"[%b]" % data)
    return details


@final
class Operation(NamedTuple):
    """One entry of a log.

    Attributes:
      verb: what it is.
      session: whose.
      number: grows from one operation of a session to its next, so that a repeated one is noticed.
      details: depends on the verb.
    """

    verb: Verb
    session: str
    number: int = -1
    details: tuple[Any, ...] = ()

    def encode(self) -> bytes:
        """Return the bytes that a log keeps."""
        verb, session, number, details = self
        if verb is ACQUIRE and len(details) == 1:
            text = f"[{','.join([_written(*want) for want in details[0]])}]"
        else:
            text = ",".join([encode_text(one) for one in details])
        return f"[{_WRITTEN[verb]},{encode_text(session)},{number},[{text}]]".encode()

    @classmethod
    def decode(cls, data: bytes) -> Operation:
        """Return the operation of these bytes.

        Raises:
          ValueError: if they are none.
        """
        usual = _usual(data)
        if usual is not None and usual[1] in _VERBS:
            verb, session, number, one, more = usual.groups()
            details = _details(more) if one is None else (int(one),)
            return cls(_VERBS[verb], session.decode(), int(number), details)
        entry = decode(data)
        match entry:
            case (str(verb), str(session), int(number), tuple(details)):
                return cls(Verb(verb), session, number, details)
            case _:
                raise ValueError(f"{entry!r} is not an operation on shared primitives")


@final
class Want(NamedTuple):
    """What is claimed of the primitive of that name.

    Attributes:
      name: the name of the primitive.
      kind: ``"semaphore"``, ``"lock"``, ``"rwlock"``, ``"latch"`` or ``"barrier"``.
      size: the permits, count or parties that it was made with; None for a lock.
      amount: a number of permits or counts, or ``"read"`` or ``"write"``; else None.
    """

    name: str
    kind: str
    size: int | None = None
    amount: Any = None


class Result(StrEnum):
    """How an operation ended; of a request: of the operation that asked."""

    GRANTED = "granted"
    WITHDRAWN = "withdrawn"
    DONE = "done"
    REFUSED = "refused"


@final
class Outcome(NamedTuple):
    """What one entry of a log has changed for a member.

    Attributes:
      key: whose operation has ended.
      result: how.
      token: of a grant: greater than that of every grant before it.
      value: of a barrier the number within the round; of a refusal the name of the error and its text.
    """

    key: Key
    result: Result
    token: int = 0
    value: Any = None
