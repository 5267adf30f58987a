"""A pure core and its naive model, driven side by side; the base of the machines per primitive.

After each step the two agree on who was ended and in which order, on who stands where, and on how
every request stands; and the invariants hold. A rule may also replace the core by one that was
restored from its snapshot: it must go on as if nothing had happened.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from structsync._core.queue.arbiter import Arbiter, EndedForGood
from structsync._core.queue.request import PENDING, Request
from structsync.checking import invariants

from .models import Ended, QueueModel, Refused

PRIORITIES = st.integers(-2, 2)
POLICIES = st.sampled_from(["fifo", "eligible", "priority"])
AGEINGS = st.sampled_from([None, 0, 1, 3])


def one_of(names: Callable[[Any], list[str]]) -> st.SearchStrategy[str]:
    """Draw one of the machine's names; guard the rule by a precondition that there are any."""
    return st.runner().flatmap(lambda machine: st.sampled_from(names(machine)))


class CoreMachine(RuleBasedStateMachine):
    core: Arbiter[Any]
    model: QueueModel

    def __init__(self) -> None:
        super().__init__()
        self.requests: dict[str, Request[Any]] = {}  # the latest of each waiter
        self.statuses: dict[str, str] = {}  # how each should stand
        self.endings: Counter[str] = Counter()

    def newcomer(self) -> str:
        return f"w{len(self.requests)}"

    def situation(self) -> Hashable:
        """Everything that a refused transition must leave as it was."""
        return self.core.snapshot()

    # ==== one step of both ====

    def agree(
        self,
        real: Callable[[], list[Request[Any]]],
        model: Callable[[], Ended],
        refusal: type[Exception] = ValueError,
    ) -> None:
        """Do both; they must end the same requests in the same order, or both refuse."""
        before = self.situation()
        try:
            predicted = model()
        except Refused:
            try:
                real()
            except (refusal, EndedForGood):
                # A transition that refuses leaves the state as it was.
                assert self.situation() == before
                return
            raise AssertionError("the core did what it must refuse") from None
        self.note(real(), predicted)

    def note(self, ended: list[Request[Any]], predicted: Ended) -> None:
        assert [(one.waiter, one.status.value) for one in ended] == predicted
        for who, status in predicted:
            self.end(who, status)

    def end(self, who: str, status: str) -> None:
        self.statuses[who] = status
        self.endings[who] += 1

    def submit(
        self,
        claim: Any,
        priority: int = 0,
        *,
        who: str | None = None,
        refusal: type[Exception] = ValueError,
    ) -> str | None:
        """Let a task, by default a newcomer, submit a claim; return the name unless refused."""
        who = who or self.newcomer()
        assert self.core.admissible(claim, priority) == self.model.would_be_served(claim, priority)
        asked: list[Request[Any]] = []

        def real() -> list[Request[Any]]:
            asked.append(self.core.submit(claim, priority, who))
            return [one for one in asked if one.status is not PENDING]

        def model() -> Ended:
            ended = self.model.arrive(who, claim, priority)
            self.statuses[who], self.endings[who] = "pending", 0
            return ended

        self.agree(real, model, refusal)
        if not asked:
            return None
        self.requests[who] = asked[0]
        return who

    # ==== rules that every primitive has ====

    @precondition(lambda self: self.withdrawable())
    @rule(who=one_of(lambda self: self.withdrawable()))
    def withdraw(self, who: str) -> None:
        """Withdraw any request, ended ones too."""
        request = self.requests[who]
        before = self.situation()
        ended = self.core.withdraw(request)
        if self.statuses[who] == "pending":
            assert ended is not None
            self.end(who, "withdrawn")
            self.note(ended, self.model.withdraw(who))
        else:
            assert ended is None
            assert self.situation() == before

    def withdrawable(self) -> list[str]:
        return list(self.requests)

    @precondition(lambda self: self.model.arrivals > 20)  # later, or most runs end at once
    @rule()
    def close(self) -> None:
        self.agree(lambda: self.core.end("closed"), self.model.close)
        assert self.core.cause == "closed"

    @rule()
    def go_on_from_a_snapshot(self) -> None:
        snapshot = self.core.snapshot()
        restored = self.another_core()
        restored.restore(snapshot)
        assert restored.snapshot() == snapshot
        self.core = restored
        self.adopt()

    def another_core(self) -> Arbiter[Any]:
        raise NotImplementedError

    def adopt(self) -> None:
        """Exchange the pending requests for those of the restored core."""
        for request in self.core.waiting():
            self.requests[request.waiter] = request

    # ==== what holds after every step ====

    @invariant()
    def nothing_grantable_waits(self) -> None:
        if hasattr(self, "core"):
            assert invariants.nothing_grantable_waits(self.core)
            assert invariants.nothing_waits_when_closed_or_broken(self.core)

    @invariant()
    def every_task_stands_where_the_model_says(self) -> None:
        if hasattr(self, "core"):
            standing = [(entry.who, entry.claim) for entry in self.model.standing()]
            assert [(one.waiter, one.claim) for one in self.core.waiting()] == standing

    @invariant()
    def every_request_ends_at_most_once(self) -> None:
        for who, request in self.requests.items():
            assert request.status.value == self.statuses[who]
            assert self.endings[who] == (request.status is not PENDING)
