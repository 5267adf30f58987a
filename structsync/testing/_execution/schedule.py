"""A schedule as data: choices by name, and the token that replays them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from structsync.testing._errors import ReplayError

Kind: TypeAlias = Literal["run", "cancel", "scope", "clock"]


class Choice(NamedTuple):
    """What happens next: a task runs until its next trap, or something is injected.

    ``run`` a task; ``cancel`` a task (parked: now; runnable: as it runs its next step); cancel a
    ``scope`` of the program; let the ``clock`` reach the next deadline (its name is empty).
    """

    kind: Kind
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}".rstrip()


@dataclass(frozen=True, slots=True)
class Schedule:
    """The steps of one execution in which it did not do the first thing on offer.

    Attributes:
      order: the ``order`` of the settings, which decides what is first.
      deviations: what was chosen instead, by number of the step (from 0).
      length: the number of steps.
      checksum: of all choices, so that a test that has changed is noticed.
    """

    order: str
    deviations: tuple[tuple[int, Choice], ...]
    length: int
    checksum: str

    @classmethod
    def of(cls, order: str, choices: Sequence[Choice], firsts: Sequence[Choice]) -> Schedule:
        """Return the schedule with these choices, where ``firsts`` were on offer first."""
        pairs = enumerate(zip(choices, firsts, strict=True))
        deviations = tuple((step, chosen) for step, (chosen, first) in pairs if chosen != first)
        return cls(order, deviations, len(choices), checksum(choices))

    @property
    def token(self) -> str:
        """The schedule as one word, without a character that a shell would touch."""
        steps = ",".join(f"{n}{_LETTERS[kind]}{name}" for n, (kind, name) in self.deviations)
        return f"x1{self.order[0]}:{steps}:{self.length}.{self.checksum}"

    @classmethod
    def parse(cls, token: str) -> Schedule:
        """Return the schedule that a token stands for.

        Raises:
          ReplayError: if it is no token, or one of another version.
        """
        found = _TOKEN.fullmatch(token)
        if found is None:
            raise ReplayError(
                f"{token!r} is no schedule token; one looks like 'x1a:2cworker#1,3rworker#0:6.5f2c'"
                " and is in the report of a failure"
            )
        order, steps, length, known = found.groups()
        parsed = [_STEP.fullmatch(one) for one in steps.split(",") if one]
        if not all(parsed):
            raise ReplayError(f"{token!r} is damaged: copy the whole word after --explore-replay")
        deviations = tuple(
            (int(one[1]), Choice(_KINDS[one[2]], one[3])) for one in parsed if one is not None
        )
        return cls(_ORDERS[order], deviations, int(length), known)


def checksum(choices: Iterable[Choice]) -> str:
    """Return four characters that differ, most likely, for different sequences of choices."""
    text = ",".join(map(str, choices)).encode()
    return hashlib.blake2b(text, digest_size=2).hexdigest()


_LETTERS: dict[Kind, str] = {"run": "r", "cancel": "c", "scope": "s", "clock": "t"}
_KINDS: dict[str, Kind] = {letter: kind for kind, letter in _LETTERS.items()}
_ORDERS = {"a": "any", "t": "trio"}
_TOKEN = re.compile(r"x1([at]):([^:]*):(\d+)\.([0-9a-f]{4})")
_STEP = re.compile(r"(\d+)([rcst])([^\s,:]*)")
