"""Async fixtures are set up in each execution, in a real pytest: order, scopes, state, forms."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trio

from structsync.testing._execution.fixtures import Placeholder, with_fixtures

from .test_pytest_inside import Ran, run

ORDER = """
    @pytest.fixture(autouse=True)
    async def first():
        note("first up")
        try:
            yield
        finally:
            note("first down")

    @pytest.fixture
    async def pool(request):
        await trio.lowlevel.checkpoint()
        note("pool up")
        yield {"used": 0}
        note("pool down")

    @pytest.fixture
    def plain(pool):
        note("plain up")
        yield [pool]
        note("plain down")

    @pytest.fixture
    async def made(plain, pool):
        assert plain == [pool]
        note("made")
        return pool

    @explore(cancels=0)
    async def test_one(made, pool, plain):
        assert made is pool and plain[0] is pool
        assert pool["used"] == 0, "left by another execution"
        pool["used"] = 1
        note("body")
        CASE
        await two_tasks()
"""
WHOLE = ["first up", "pool up", "plain up", "made", "body", "plain down", "pool down", "first down"]
SHARED = """
    from structsync.testing._execution import fixtures

    first = {}
    setup = fixtures._FixtureRun.__aenter__

    async def remember(self):
        if self._name not in first:
            first[self._name] = await setup(self)
        return first[self._name]

    async def keep(self, *error):
        return False

    fixtures._FixtureRun.__aenter__ = remember
    fixtures._FixtureRun.__aexit__ = keep
"""


def executions(notes: list[str]) -> list[list[str]]:
    starts = [n for n, text in enumerate(notes) if text == WHOLE[0]]
    ends = [*starts[1:], len(notes)]
    return [notes[start:end] for start, end in zip(starts, ends, strict=True)]


def out_of_order(notes: list[str]) -> list[list[str]]:
    """The executions in which fixtures were not set up, or not torn down, as they should be."""
    # One that the search abandons is cancelled: of it only what stands in a "finally" runs.
    allowed = [WHOLE, ["first up", "first down"]]
    found = executions(notes)
    assert found
    return [one for one in found if one not in allowed] + ([] if WHOLE in found else [WHOLE])


@pytest.mark.parametrize(
    ("case", "outcome", "printed"),
    [("", "passed", ""), ("raise ValueError('of the test')", "failed", "ValueError: of the test")],
    ids=["passes", "fails"],
)
def test_async_fixtures_go_up_in_order_and_down_in_reverse(
    tmp_path: Path, case: str, outcome: str, printed: str
) -> None:
    """Also if the test fails, and then with the error of the test, which the fixtures do not see."""
    ran = run(tmp_path, ORDER.replace("CASE", case))
    assert ran.outcomes == {outcome: 1}, ran.printed
    assert printed in ran.printed
    assert out_of_order(ran.notes) == []


@pytest.mark.slow
def test_a_fixture_that_is_set_up_once_for_all_executions_is_noticed(tmp_path: Path) -> None:
    """The planted fault: nothing goes down, and what the first execution has made serves all."""
    ran = run(tmp_path, ORDER.replace("CASE", ""), conftest=SHARED)
    assert ran.outcomes == {"failed": 1}, ran.printed
    assert out_of_order(ran.notes) != []


SCOPES = """
    @pytest.fixture
    async def scope():
        with trio.CancelScope() as scope:
            yield scope
        note(f"scope left, caught {scope.cancelled_caught}")

    @pytest.fixture
    async def nursery():
        async with trio.open_nursery() as nursery:
            yield nursery
            note("nursery ends")
            nursery.cancel_scope.cancel()

    @explore(cancels=0)
    async def test_a_cancelled_scope_of_a_fixture_ends_the_test(scope):
        await two_tasks()
        scope.cancel()
        await trio.lowlevel.checkpoint()
        raise AssertionError("not cancelled")

    @explore(cancels=0)
    async def test_a_nursery_of_a_fixture_runs_what_the_test_starts(nursery):
        nursery.start_soon(trio.sleep_forever)
        await trio.lowlevel.checkpoint()

    @explore(cancels=0)
    async def test_a_crash_in_a_nursery_of_a_fixture_fails_the_test(nursery):
        async def crash():
            raise ValueError("in the background")
        nursery.start_soon(crash)
        await trio.sleep_forever()

    @explore(cancels=1)
    async def test_a_scope_of_a_fixture_is_cancelled_as_one_of_the_test(scope):
        await trio.lowlevel.checkpoint()
        note("not cancelled")
"""


NEVER_THROWN = """
    from structsync.testing._execution import fixtures

    step = fixtures._step

    async def blind(made, error=None):
        return await step(made)

    fixtures._step = blind
"""


@pytest.mark.slow
def test_a_cancellation_that_does_not_reach_the_fixtures_is_noticed(tmp_path: Path) -> None:
    """The planted fault: fixtures go on after their yield as if nothing had happened."""
    notes = run(tmp_path, SCOPES, conftest=NEVER_THROWN).notes
    assert "scope left, caught False" in notes
    assert "scope left, caught True" not in notes


def test_scopes_and_nurseries_of_fixtures_are_round_the_test(tmp_path: Path) -> None:
    ran = run(tmp_path, SCOPES)
    assert ran.outcomes == {"passed": 3, "failed": 1}, ran.printed
    assert "ValueError: in the background" in ran.printed
    ways = ["scope left, caught True", "scope left, caught False", "nursery ends", "not cancelled"]
    assert {*ways} <= {*ran.notes}


# Which task was first is known to a variable of the fixture alone, while it waits somewhere else.
STATE = """
    async def setter(shared):
        await trio.lowlevel.checkpoint()
        shared["set"] = True

    async def was_set_early():
        shared = {"set": False}
        async with trio.open_nursery() as nursery:
            nursery.start_soon(setter, shared)
            await trio.lowlevel.checkpoint()
            early = shared["set"]
            while not shared["set"]:
                await trio.lowlevel.checkpoint()
        return early

    @pytest.fixture
    async def in_the_setup():
        early = await was_set_early()
        await trio.lowlevel.checkpoint()
        yield [early]

    @pytest.fixture
    async def in_the_test():
        early, seen = await was_set_early(), []
        yield seen
        seen.append(early)
        assert seen[0] == seen[1]

    @pytest.fixture
    async def in_the_teardown():
        seen = []
        yield seen
        early = await was_set_early()
        await trio.lowlevel.checkpoint()
        assert early == seen[0]

    @pytest.mark.parametrize("assumed", [False, True])
    @explore(cancels=0)
    async def test_that_assumes_one_order(FIXTURE, assumed):
        FIXTURE.append(assumed)
        await trio.lowlevel.checkpoint()
        await trio.lowlevel.checkpoint()
        if "FIXTURE" == "in_the_setup":
            assert FIXTURE[0] == assumed
"""


@pytest.mark.slow
@pytest.mark.parametrize("fixture", ["in_the_setup", "in_the_test", "in_the_teardown"])
def test_the_variables_of_a_fixture_are_part_of_the_state(tmp_path: Path, fixture: str) -> None:
    """Else one of the two orders would be taken for the other, and never be tried to its end."""
    ran = run(tmp_path, STATE.replace("FIXTURE", fixture))
    assert ran.outcomes == {"failed": 2}, ran.printed


FORMS = """
    @pytest.fixture(params=[1, 2])
    async def number(request):
        await trio.lowlevel.checkpoint()
        return request.param

    @explore()
    async def test_parameters_of_a_fixture(number):
        await two_tasks()
        note(f"number {number}")

    class TestOfAClass:
        @pytest.fixture
        async def own(self):
            self.made = structsync.Lock()
            return self

        @explore()
        async def test_self_is_that_of_the_fixture_and_new_in_each_execution(self, own):
            assert own is self
            assert not hasattr(self, "left"), "left by another execution"
            self.left = True
            async with self.made:
                await two_tasks()

    @pytest.fixture
    async def without_a_value():
        if False:
            yield

    @pytest.fixture
    async def with_two_values():
        yield 1
        yield 2

    @pytest.fixture
    async def that_fails():
        raise ValueError("of the fixture")

    @explore(cancels=0)
    async def test_without_a_yield(without_a_value):
        pass

    @explore(cancels=0)
    async def test_two_yields(with_two_values):
        pass

    @explore(cancels=0)
    async def test_an_error(that_fails):
        pass
"""


@pytest.fixture(scope="module")
def forms(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    return run(tmp_path_factory.mktemp("forms"), FORMS)


def test_an_async_fixture_has_parameters_and_may_be_a_method(forms: Ran) -> None:
    assert forms.outcomes == {"passed": 3, "failed": 3}, forms.printed
    assert {"number 1", "number 2"} == {*forms.notes}


@pytest.mark.parametrize(
    "text",
    [
        "the fixture 'without_a_value' ended without a yield",
        "the fixture 'with_two_values' yields more than once",
        "ValueError: of the fixture",
    ],
)
def test_a_broken_fixture_fails_the_test_and_says_why(forms: Ran, text: str) -> None:
    assert text in forms.printed


def test_what_a_plain_fixture_makes_is_made_once(tmp_path: Path) -> None:
    program = """
        @pytest.fixture
        def plain():
            note("up")
            yield
            note("down")

        @explore()
        async def test_plain(plain):
            await two_tasks()
    """
    ran = run(tmp_path, program)
    assert ran.outcomes == {"passed": 1}, ran.printed
    assert ran.notes == ["up", "down"]


async def test_a_cancellation_is_raised_at_the_yield_of_a_fixture_and_goes_on() -> None:
    raised: list[BaseException] = []

    async def fixture() -> AsyncIterator[int]:
        try:
            yield 1
        except BaseException as error:
            raised.append(error)
            raise

    async def test(one: int) -> None:
        assert one == 1
        await trio.sleep_forever()

    placeholder = Placeholder("one", fixture, {})
    with trio.move_on_after(0) as scope:
        await with_fixtures([placeholder], test, {"one": placeholder})
    assert scope.cancelled_caught
    assert [type(one) for one in raised] == [trio.Cancelled]
