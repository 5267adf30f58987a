"""Operations and snapshots as bytes, and back: what is stored in a log and sent between processes.

It is JSON, so that a person who looks into a log can read it. Tuples come back as tuples, and what the cores
that ship keep in their snapshots beside plain values is tagged. Nothing else is encoded, and nothing that
is decoded runs code.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import blake2b
from json.encoder import encode_basestring
from typing import Any

from structsync._core.primitives.rwlock import Access, Mode

ACCESS, SET = "access", "set"

#: How what JSON has as we have it is written. Most of an operation is of these types, so they are told apart
#: before a call; and json makes an encoder for each call, which takes longer than this.
PLAIN: dict[type, Callable[[Any], str]] = {
    type(None): lambda _: "null",
    bool: {True: "true", False: "false"}.__getitem__,
    int: int.__repr__,
    str: encode_basestring,
}


def encode(value: Any) -> bytes:
    """Return the bytes of a value; equal values have equal bytes.

    Raises:
      TypeError: if there is something in it that is no plain value.
    """
    return encode_text(value).encode()


def decode(data: bytes) -> Any:
    """Return the value of these bytes.

    Raises:
      ValueError: if they are not what :func:`encode` returns.
    """
    try:
        # json would look for the encoding of bytes first, which takes longer than to decode them
        return _untagged(json.loads(data.decode()))
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"not an entry of a log of structsync: {error}") from None


def digest(data: bytes) -> str:
    """Return a short text that tells two snapshots apart."""
    return blake2b(data, digest_size=16).hexdigest()


def encode_text(value: Any) -> str:
    """Return the same as text."""
    if type(value) in PLAIN:
        return PLAIN[type(value)](value)
    if isinstance(value, Access):
        return f'{{"{ACCESS}":{encode_text([value.mode.value, value.claimant])}}}'
    if isinstance(value, tuple | list):
        parts = [PLAIN[type(one)](one) if type(one) in PLAIN else encode_text(one) for one in value]
        return f"[{','.join(parts)}]"
    if isinstance(value, frozenset):
        # in an order that does not depend on the process
        return f'{{"{SET}":[{",".join(sorted(map(encode_text, value)))}]}}'
    for kind in (str, int):  # of which there are subclasses: a name may be a member of an enum
        if isinstance(value, kind):
            return PLAIN[kind](value)
    raise TypeError(f"{value!r} is not plain data, so it cannot be sent to another process")


def _untagged(value: Any) -> Any:
    if isinstance(value, list):
        return tuple([one if type(one) in PLAIN else _untagged(one) for one in value])
    if not isinstance(value, dict):
        return value
    (tag, inner), *others = [*value.items()] or [("", ())]
    if tag == SET and not others:
        return frozenset(_untagged(inner))
    if tag == ACCESS and not others:
        mode, claimant = inner
        return Access(Mode(mode), _untagged(claimant))
    raise ValueError(f"{value!r} has no meaning in a log")
