"""What callers and hosts send to each other: data (MessagePack), of a bounded size, that may come from any process."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import msgspec

from structsync._core.shared.calls import SLOTS, Ticket, Verdict
from structsync.distributed.engine import LONGEST

Number: TypeAlias = Annotated[int, msgspec.Meta(ge=0, lt=1 << 62)]
SlotNumber: TypeAlias = Annotated[int, msgspec.Meta(ge=0, lt=SLOTS)]


class Message(msgspec.Struct, array_like=True, frozen=True):
    """Of which host it is: its name, and the token of the grant under which it has that name."""

    host: str
    token: Number


class ToHost(Message, frozen=True):
    """From a caller."""

    caller: str


class Call(ToHost, frozen=True, tag="call"):
    """Carry this out."""

    slot: SlotNumber
    number: Number
    method: str
    arguments: dict[str, msgspec.Raw]

    @property
    def ticket(self) -> Ticket:
        return Ticket(self.caller, self.slot, self.number)


class Cancel(ToHost, frozen=True, tag="cancel"):
    """The caller wants this no more; it waits for the answer all the same."""

    slot: SlotNumber
    number: Number

    @property
    def ticket(self) -> Ticket:
        return Ticket(self.caller, self.slot, self.number)


class Ask(ToHost, frozen=True, tag="ask"):
    """What has become of these, slots and numbers? A message may have been lost."""

    calls: Annotated[list[tuple[SlotNumber, Number]], msgspec.Meta(max_length=SLOTS)]


class Answer(Message, frozen=True):
    """What has become of a call."""

    slot: SlotNumber
    number: Number


class Returned(Answer, frozen=True, tag="returned"):
    """It has returned this."""

    value: msgspec.Raw


class Raised(Answer, frozen=True, tag="raised"):
    """It has raised something: its name, its arguments if they are data, its text and where it was raised."""

    error: str
    arguments: list[Any] | None
    text: str
    traceback: str


class Cancelled(Answer, frozen=True, tag="cancelled"):
    """It was cancelled, because the caller wanted that."""


class NotTaken(Answer, frozen=True, tag="not taken"):
    """It was not begun, and never will be."""


class Stopped(Answer, frozen=True, tag="stopped"):
    """It was begun, and cancelled because the host stopped."""


#: How the answers are called that a host gives without a method's result.
VERDICTS: dict[type[Answer], Verdict] = {
    NotTaken: Verdict.NOT_TAKEN,
    Cancelled: Verdict.CANCELLED,
    Stopped: Verdict.STOPPED,
}
ANSWERS = {verdict: answer for answer, verdict in VERDICTS.items()}


class Gone(Message, frozen=True, tag="gone"):
    """There is no such host here; what was not answered by now never will be."""


AnyMessage: TypeAlias = (
    Call | Cancel | Ask | Returned | Raised | Cancelled | NotTaken | Stopped | Gone
)

#: What is raised by bytes that are no such data; a text that is none raises no error of msgspec's.
UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)

_decoder: msgspec.msgpack.Decoder[AnyMessage] = msgspec.msgpack.Decoder(AnyMessage)
encode = msgspec.msgpack.Encoder().encode


def decode(data: bytes) -> AnyMessage | None:
    """Return a message; None if it is none: any user of the engine can send one at any time."""
    if len(data) > LONGEST:
        return None
    try:
        return _decoder.decode(data)
    except UNREADABLE:
        return None
