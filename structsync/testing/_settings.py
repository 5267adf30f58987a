"""What is explored, how, and how far."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal, TypeAlias, TypedDict, get_args

Cancel: TypeAlias = Literal["scopes", "tasks", "own"]
Order: TypeAlias = Literal["any", "trio"]
ClockMode: TypeAlias = Literal["autojump", "explore"]
Search: TypeAlias = Literal["auto", "states", "deviations", "random", "pct", "plain", "sweep"]
#: How it was searched in the end: every schedule; each state once, with an audit; a sample.
Way: TypeAlias = Literal["plain", "merged", "sampled"]
Hashing: TypeAlias = Literal["128", "exact"]
Outside: TypeAlias = Literal["noted", "ignore"]


class Options(TypedDict, total=False):
    """The fields of :class:`Settings` as keyword arguments, for type checkers."""

    cancels: int
    cancel: Cancel
    order: Order
    clock: ClockMode
    liveness: bool
    search: Search
    symmetry: bool
    hashing: Hashing
    outside: Outside
    executions: int | None
    states: int | None
    seconds: float | None
    max_steps: int
    depth: int
    seed: int
    exhaustive: bool
    workers: int
    shard: tuple[int, int] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What is explored, how, and how far; the keyword arguments of ``explore``.

    Attributes:
      cancels: the most cancellations that are injected in one execution.
      cancel: what is cancelled: ``"scopes"``: any cancel scope or nursery that the program itself opened,
          if something in the program, its clock or its caller could cancel it, and the whole test in place
          of its outermost nursery, or of a guard around that; ``"tasks"``: any single task that runs in a
          nursery (not the test function itself); ``"own"``: the scopes that the test's own file opened, and
          each single task that it started; nothing internal to a library.
      order: ``"any"``: each runnable task may go next; ``"trio"``: as trio's scheduler does today,
          all tasks that are runnable run once, in any order, before anything newly runnable.
      clock: ``"autojump"``: time passes only when no task can run; ``"explore"``: the next deadline may
          also fire early, at any point. If deadlines that could race came only in their order,
          ``Exploration.notes`` says so.
      liveness: also look for starvation and livelock, on the graph of all states.
      search: ``"auto"``: every schedule, if they are few, else by states; ``"states"``: depth first, each
          state once, and an audit of what that leaves out; ``"deviations"``: fewest deviations from the
          first-in-first-out schedule first; ``"random"``: random schedules; ``"pct"``: schedules by random
          priorities, which find a fault of ``depth`` with a stated probability; ``"plain"``: every
          schedule; ``"sweep"``: the first-in-first-out schedule alone, with one cancellation at each of its
          steps in turn.
      symmetry: treat states that differ only in which of several like tasks is which as one.
      hashing: ``"128"``: keep 128 bits of each state; ``"exact"``: keep all of it.
      outside: ``"noted"``: a program that changes the world outside (a file, a database, the environment)
          is never confirmed, because no state shows that change, and no execution undoes it; neither is one
          that leaves behind in memory what its next execution begins with; ``"ignore"``: such changes
          make no difference to the program.
      executions: end after this many executions, not finished; ``None``: no bound.
      states: end after this many states, not finished; ``None``: no bound.
      seconds: end after this many seconds, not finished; ``None``: no bound.
      max_steps: an execution with more steps fails as ``endless``.
      depth: the number of orderings of steps that a fault needs that ``"pct"`` should find; most need one or two.
      seed: the seed of the random choices of ``search="random"`` and ``"pct"``, and of the audit.
      exhaustive: fail if the search ends before everything was seen.
      workers: search in this many processes, which import the test by its name, if the search is large enough and
          can be divided (``"auto"``, ``"states"``, ``"plain"``).
      shard: search one part of several, such as ``(3, 16)``, for machines that do not communicate;
          ``structsync merge-shards`` combines their results.
    """

    cancels: int = 1
    cancel: Cancel = "scopes"
    order: Order = "any"
    clock: ClockMode = "autojump"
    liveness: bool = False
    search: Search = "auto"
    symmetry: bool = True
    hashing: Hashing = "128"
    outside: Outside = "noted"
    executions: int | None = 20_000
    states: int | None = None
    seconds: float | None = None
    max_steps: int = 10_000
    depth: int = 3
    seed: int = 0
    exhaustive: bool = False
    workers: int = 1
    shard: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        for name, allowed in _CHOICES.items():
            if getattr(self, name) not in allowed:
                words = ", ".join(map(repr, allowed))
                raise ValueError(f"{name} must be one of {words}, not {getattr(self, name)!r}")
        for name, least in (
            ("cancels", 0),
            ("max_steps", 1),
            ("executions", 1),
            ("states", 1),
            ("depth", 1),
            ("workers", 1),
        ):
            value = getattr(self, name)
            if value is None and name in ("executions", "states"):
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ValueError(f"{name} must be an int >= {least}, not {value!r}")
        if self.seconds is not None and not self.seconds > 0:
            raise ValueError(f"seconds must be > 0 or None for no bound, not {self.seconds!r}")
        if self.search == "sweep" and self.cancels != 1:
            raise ValueError(
                f"a sweep makes one cancellation at a time, not cancels={self.cancels}"
            )
        endless = self.search in ("random", "pct")
        if endless and self.executions is None and self.seconds is None:
            raise ValueError(
                "a random search never ends by itself; give it executions= or seconds="
            )
        if self.shard is not None and not 1 <= self.shard[0] <= self.shard[1]:
            raise ValueError(f"shard must be one of several, such as (3, 16), not {self.shard!r}")
        if self.shard is not None and (self.liveness or self.search not in SHARED):
            kind = "liveness" if self.liveness else f"search={self.search!r}"
            raise ValueError(f"{kind} cannot be divided into shards: it is one search")
        if self.liveness and self.search not in ("auto", "states"):
            raise ValueError(f"liveness needs search='states', not {self.search!r}")


#: Searches that several processes can share.
SHARED = ("auto", "states", "plain")

_CHOICES: dict[str, tuple[str, ...]] = {
    "cancel": get_args(Cancel),
    "order": get_args(Order),
    "clock": get_args(ClockMode),
    "search": get_args(Search),
    "hashing": get_args(Hashing),
    "outside": get_args(Outside),
}

NAMES = frozenset(one.name for one in fields(Settings))
