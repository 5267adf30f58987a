"""The fast engine is used where it is proven to agree, and the one of public names elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

import pytest
import trio

from structsync.testing import Verdict, explore
from structsync.testing._execution.loop_engine import LoopEngine
from structsync.testing._execution.public_engine import PublicEngine
from structsync.testing._search import engine_choice
from structsync.testing._search.runs import Runs
from structsync.testing._settings import Settings

from .conftest import abba, python, run_once, workers


@pytest.fixture
def undecided() -> Iterator[None]:
    """Nothing is known of the engines yet, neither inside the test nor after it."""
    engine_choice.chosen.cache_clear()
    yield
    engine_choice.chosen.cache_clear()


@pytest.mark.usefixtures("undecided")
def test_the_fast_engine_agrees_with_this_trio() -> None:
    assert engine_choice.chosen() == (LoopEngine, None)


@pytest.mark.usefixtures("undecided")
def test_an_engine_that_disagrees_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LoopEngine, "_next_deadline", lambda engine: inf)
    engine, reason = engine_choice.chosen()
    assert engine is PublicEngine
    assert reason == f"the engines disagree about _time_runs_out with trio {trio.__version__}"


@pytest.mark.usefixtures("undecided")
def test_an_engine_that_crashes_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    # As when trio renames the attribute in which a task keeps what it is woken with.
    def crash(engine: LoopEngine, task: object) -> None:
        raise AttributeError("_next_send")

    monkeypatch.setattr(LoopEngine, "_step", crash)
    assert engine_choice.chosen() == (PublicEngine, "AttributeError: _next_send")


@pytest.mark.usefixtures("undecided")
def test_with_the_other_engine_everything_is_found_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fast, failing = explore(workers(3), search="states", cancels=0), explore(abba)
    monkeypatch.setattr(LoopEngine, "_next_deadline", lambda engine: inf)
    engine_choice.chosen.cache_clear()
    slow, also_failing = explore(workers(3), search="states", cancels=0), explore(abba)
    assert (slow.verdict, slow.executions) == (fast.verdict, fast.executions)
    assert slow.states == fast.states
    assert failing.failure is not None
    assert also_failing.failure is not None
    assert also_failing.failure.token == failing.failure.token


@pytest.mark.usefixtures("undecided")
def test_without_the_module_of_private_names_the_other_engine_explores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(engine_choice, "loop_engine", None)
    monkeypatch.setattr(engine_choice, "runner", None)
    monkeypatch.setattr(engine_choice, "_missing", "ImportError: moved")
    assert engine_choice.chosen() == (PublicEngine, "ImportError: moved")
    assert explore(workers(2), cancels=0).verdict is Verdict.CONFIRMED
    assert explore(abba).verdict is Verdict.REFUTED


@pytest.mark.parametrize(
    "removal",
    [
        "del trio._core._entry_queue.EntryQueue",
        "del trio._core._instrumentation.Instruments",
    ],
)
def test_a_trio_that_lacks_a_private_name_is_explored_by_public_ones(removal: str) -> None:
    ran = python(
        f"""
        import sys
        import trio
        import trio._core._entry_queue, trio._core._instrumentation
        {removal}
        from structsync.testing import explore
        from structsync.testing._search import engine_choice

        async def deadlocks():
            async with trio.open_nursery() as nursery:
                nursery.start_soon(trio.sleep_forever)
                nursery.start_soon(trio.lowlevel.checkpoint)

        engine, reason = engine_choice.chosen()
        failure = explore(deadlocks, cancels=0).failure
        sys.stdout.write(f"{{engine.__name__}} | {{reason}} | {{failure.kind}} {{failure.replayed}}")
        """
    )
    assert ran.stderr == ""
    engine, reason, failure = ran.stdout.split(" | ")
    assert engine == "PublicEngine"
    assert reason.startswith(("ImportError: ", "AttributeError: "))
    assert failure == "deadlock same"


def test_an_engine_can_be_demanded() -> None:
    """The replay in the real ``trio.run`` does not depend on which engine searches."""
    runs = Runs(lambda x: abba(), Settings(), engine=PublicEngine)
    assert runs.kind is PublicEngine


def test_what_the_real_run_itself_raises_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*args: object, **kwargs: object) -> None:
        raise OSError("no more sockets")

    monkeypatch.setattr(trio, "run", fails)
    with pytest.raises(OSError, match="no more sockets"):
        run_once(abba, kind=PublicEngine)
