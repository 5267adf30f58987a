"""The messages of a call as a specification has them, and what becomes of them on their way.

Where msgspec is installed, each goes through the encoder that ships.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from structsync._core.shared.calls import Verdict

wire: Any
try:
    import msgspec

    from structsync.distributed._calls import messages as wire
except ImportError:  # the states are the same
    wire = None

HOST, CALLER, METHOD = "counter", "there", "add"


class Message(NamedTuple):
    """Something that was said, and has not arrived.

    Attributes:
      to: the session it is for.
      kind: what it is called in the encoding.
      token: of the host that it is about.
      number: of the call; 0, if it is about none.
      what: of a call its argument, of an answer its result.
    """

    to: str
    kind: str
    token: int
    number: int = 0
    what: str = ""


@cache  # the same few messages are sent from thousands of states
def sent(message: Message) -> Message:
    """Return what arrives of a message."""
    return message if wire is None else _decoded(message.to, _encoded(message))


def _encoded(message: Message) -> bytes:
    slot, number = 0, message.number
    about = (HOST, message.token)
    its: Any
    what = msgspec.Raw(wire.encode(message.what))
    if message.kind == "call":
        its = wire.Call(*about, CALLER, slot, number, METHOD, {"what": what})
    elif message.kind == "cancel":
        its = wire.Cancel(*about, CALLER, slot, number)
    elif message.kind == "ask":
        its = wire.Ask(*about, CALLER, [(slot, number)])
    elif message.kind == "returned":
        its = wire.Returned(*about, slot, number, what)
    elif message.kind == "gone":
        its = wire.Gone(*about)
    else:
        its = wire.ANSWERS[Verdict(message.kind)](*about, slot, number)
    data: bytes = wire.encode(its)
    return data


def _decoded(to: str, data: bytes) -> Message:
    its: Any = wire.decode(data)
    kind = type(its).__struct_config__.tag
    if kind == "gone":
        return Message(to, kind, its.token)
    if kind == "ask":
        ((_, number),) = its.calls
        return Message(to, kind, its.token, number)
    raw = {"call": lambda: its.arguments["what"], "returned": lambda: its.value}.get(kind)
    what = msgspec.msgpack.decode(raw()) if raw else ""
    return Message(to, kind, its.token, its.number, what)
