"""As little as a sweep of the gate looks at again, it does not confirm what no state holds."""

from __future__ import annotations

import pytest

from structsync.testing import Verdict
from structsync.testing._state import global_variables

from ..explorer.hidden_state import HIDDEN  # noqa: TID252 - what is hidden has one home
from .sweeping import ASKED, AUDITED, Size, Sweep


def verdict(name: str) -> Verdict:
    hidden = HIDDEN[name].program()

    async def program(_x: object, _tasks: int) -> None:
        await hidden()

    settings = {"exhaustive": False, "outside": "ignore"}
    return Sweep(program, settings).explore(Size(3, 0)).verdict


@pytest.mark.usefixtures("blind")
@pytest.mark.parametrize("name", ["a global Decimal", "a global path"])
def test_what_no_state_holds_is_not_confirmed_by_a_sweep(name: str) -> None:
    assert verdict(name) is not Verdict.CONFIRMED


@pytest.fixture
def blind(monkeypatch: pytest.MonkeyPatch) -> None:
    """No name that code can use is a part of the state."""
    monkeypatch.setattr(global_variables.Bindings, "__call__", lambda self: [])


@pytest.mark.usefixtures("blind")
@pytest.mark.skipif(ASKED is not None, reason="a longer search keeps the amounts of a single one")
@pytest.mark.parametrize("name", ["a global Decimal", "a global path"])
def test_without_its_audit_it_would_be(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for part in ("FEWEST_MERGES", "FEWEST_SCHEDULES"):
        monkeypatch.setitem(AUDITED, part, 0)
    assert verdict(name) is Verdict.CONFIRMED
