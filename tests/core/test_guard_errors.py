"""A guard that raises ends its own request, and nobody else's."""

from __future__ import annotations

import pytest

from structsync._core.queue.arbiter import Arbiter


class Guarded(Arbiter[str]):
    """Grants what is not feared; raises for what is."""

    calm: bool = False

    def admits(self, claim: str) -> bool:
        if claim == "feared" and self.calm:
            raise LookupError(claim)
        return self.calm

    def admit(self, claim: str) -> None:
        pass

    def give_back(self, claim: str) -> None:
        self.calm = True


@pytest.mark.parametrize("policy", ["fifo", "eligible", "priority"])
def test_the_error_of_a_guard_ends_its_own_request_only(policy: str) -> None:
    core = Guarded(policy=policy)
    requests = [core.submit(claim) for claim in ("a", "feared", "b")]
    assert core.release("") == requests
    assert [one.status for one in requests] == ["granted", "broken", "granted"]
    assert isinstance(requests[1].cause, LookupError)
