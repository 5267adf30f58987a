"""A test that asks for one of these fixtures runs once for each such kind of primitive."""

from collections.abc import Callable

import pytest

from .kinds import KINDS, Kind
from .striking import Interrupts


def kinds(chosen: Callable[[Kind], bool]) -> list[pytest.ParameterSet]:
    found = [pytest.param(kind, id=kind.name.replace(" ", "-")) for kind in KINDS if chosen(kind)]
    assert found, "this would be green by emptiness"
    return found


@pytest.fixture(params=kinds(lambda kind: True))
def kind(request: pytest.FixtureRequest) -> Kind:
    """Every kind."""
    found: Kind = request.param
    return found


@pytest.fixture(params=kinds(lambda kind: kind.passes))
def passing(request: pytest.FixtureRequest) -> Kind:
    """Kinds whose take can pass without a wait."""
    found: Kind = request.param
    return found


@pytest.fixture(params=kinds(lambda kind: kind.moves))
def movable(request: pytest.FixtureRequest) -> Kind:
    """Kinds that a run in another thread may use once no task waits or holds them."""
    found: Kind = request.param
    return found


@pytest.fixture(params=kinds(lambda kind: kind.crowd))
def crowd(request: pytest.FixtureRequest) -> Kind:
    """Kinds on which several tasks may wait."""
    found: Kind = request.param
    return found


@pytest.fixture(params=kinds(lambda kind: kind.lends))
def lending(request: pytest.FixtureRequest) -> Kind:
    """Kinds whose take holds something."""
    found: Kind = request.param
    return found


@pytest.fixture(
    params=[
        pytest.param(False, id="where it may differ", marks=pytest.mark.slow),
        pytest.param(True, id="each", marks=pytest.mark.nightly),
    ]
)
def interrupted(request: pytest.FixtureRequest) -> Interrupts:
    """Runs a program with SIGINT at an instruction: of those where it may make a difference, or of all of them."""
    return Interrupts(at_each=request.param)
