"""What users get wrong, and what pytest then prints: the rule, the values, the repair."""

from __future__ import annotations

from pathlib import Path

import pytest

from .test_pytest_inside import Ran, run

MISTAKES = """
    @explore()
    async def test_nursery(nursery):
        pass

    @explore()
    async def test_clock(autojump_clock):
        pass

    @explore(clock="explore")
    async def test_mock_clock(mock_clock):
        pass

    @pytest.fixture(scope="module")
    async def pool():
        return structsync.Semaphore(1)

    @explore()
    async def test_scope(pool):
        pass

    @pytest.fixture
    def lock():
        return structsync.Lock()

    @explore()
    async def test_shared(lock):
        async with lock:
            pass

    @pytest.fixture
    def channel():
        return trio.open_memory_channel(1)

    @explore()
    async def test_channel(channel):
        pass

    @pytest.fixture
    async def late():
        return []

    @pytest.fixture
    def early(request):
        request.getfixturevalue("late").append(1)

    @explore()
    async def test_early(early):
        pass
"""


@pytest.fixture(scope="module")
def mistakes(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    return run(tmp_path_factory.mktemp("mistakes"), MISTAKES)


@pytest.mark.parametrize(
    "text",
    [
        "E   the fixture 'nursery' of pytest-trio does not work in an explored test; open one in "
        "the test: async with trio.open_nursery() as nursery",
        "E   the fixture 'autojump_clock' of pytest-trio does not work in an explored test; leave "
        "it out: here the time passes as soon as every task waits",
        'and with @explore(clock="explore") early as well',
        "E   the async fixture 'pool' has the scope 'module', but an explored test sets it up anew "
        "in each execution: leave the scope out, or write a plain function",
        "E   the fixture 'lock' makes one Lock for all executions of the test",
        "write it as an async function (async def), which is set up anew in each execution",
        "E   the fixture 'channel' makes one MemorySendChannel for all executions of the test",
        "AttributeError: the fixture 'late' has a value (with 'append') inside an execution only, "
        "and not for request.getfixturevalue(): name it as a parameter",
    ],
)
def test_a_fixture_that_cannot_work_is_refused_with_the_repair(mistakes: Ran, text: str) -> None:
    assert text in mistakes.printed


def test_each_mistake_fails_its_test_and_shows_none_of_our_frames(mistakes: Ran) -> None:
    assert mistakes.outcomes == {"failed": 2, "error": 5}, mistakes.printed
    assert "structsync/testing" not in mistakes.printed


def test_the_decorator_needs_parentheses(tmp_path: Path) -> None:
    program = """
        @explore
        async def test_bare():
            await two_tasks()
    """
    ran = run(tmp_path, program)
    assert ran.outcomes == {"error": 1}, ran.printed
    assert "test_bare was explored while it was imported, and is no test: write @explore()" in (
        ran.printed
    )


def test_the_decorator_needs_parentheses_also_on_a_test_with_fixtures(tmp_path: Path) -> None:
    program = """
        @explore
        async def test_bare(x, tmp_path):
            await two_tasks()
    """
    ran = run(tmp_path, program)
    assert ran.outcomes == {"error": 1}, ran.printed
    expected = "the function has the parameters (x, tmp_path), but it is given no more than the"
    assert expected in ran.printed
    assert "or write @explore() with parentheses to decorate a test" in ran.printed


def test_a_result_under_another_name_is_no_mistake(tmp_path: Path) -> None:
    program = """
        async def program():
            await two_tasks()

        found = explore(program)

        def test_found():
            found.check()
    """
    assert run(tmp_path, program).outcomes == {"passed": 1}


def test_a_plain_function_cannot_be_explored(tmp_path: Path) -> None:
    ran = run(tmp_path, "@explore()\ndef test_plain():\n    pass\n")
    assert ran.outcomes == {"error": 1}, ran.printed
    assert "TypeError" in ran.printed
    assert "async" in ran.printed


TWO = """
    @explore()
    async def test_one():
        await two_tasks()

    @explore()
    async def test_two():
        await two_tasks()
"""


def test_a_test_with_nothing_to_explore_is_refused(tmp_path: Path) -> None:
    ran = run(tmp_path, TWO.replace("await two_tasks()", "await trio.lowlevel.checkpoint()"))
    assert ran.outcomes == {"failed": 2}, ran.printed
    assert "E   no task was spawned and nothing can be cancelled" in ran.section("FAILURES")
    assert "structsync/testing" not in ran.printed


@pytest.mark.parametrize(
    ("chosen", "number"), [("test", 2), pytest.param("test_none", 0, marks=pytest.mark.slow)]
)
def test_a_replay_is_for_one_test(tmp_path: Path, chosen: str, number: int) -> None:
    ran = run(tmp_path, TWO, "-k", chosen, "--explore-replay", "x1a::1.abcd")
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    expected = f"--explore-replay is for one explored test, and {number} are selected: give the id"
    assert expected in ran.printed


def test_a_token_of_an_existing_test_needs_the_option_that_made_it(tmp_path: Path) -> None:
    ran = run(tmp_path, TWO, "-k", "test_none", "--explore-replay", "x1a::1.abcd")
    assert "; one that --explore-all has explored needs that, too" in ran.printed


@pytest.mark.parametrize(
    "setting", ["cancelled=1", "cancels=-1", "search='all'"], ids=["name", "value", "word"]
)
def test_a_wrong_setting_is_shown_at_the_line_of_its_decorator(
    tmp_path: Path, setting: str
) -> None:
    program = f"""
        @explore({setting})
        async def test_one():
            await two_tasks()
    """
    ran = run(tmp_path, program)
    assert ran.outcomes == {"error": 1}, ran.printed
    assert f"@explore({setting})" in ran.printed
    assert "structsync/testing" not in ran.printed


@pytest.mark.parametrize(
    ("token", "text"),
    [("nonsense", "'nonsense' is no schedule token"), ("x1a:0rnobody#1:4.0000", "")],
)
def test_a_token_that_does_not_fit_is_explained(tmp_path: Path, token: str, text: str) -> None:
    ran = run(tmp_path, TWO, "-k", "test_one", "--explore-replay", token)
    assert ran.outcomes == {"failed": 1, "deselected": 1}, ran.printed
    assert f"E   {text}" in ran.section("FAILURES")
    assert "structsync/testing" not in ran.printed


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ("--explore-seconds=-1", "--explore-seconds must be > 0, not -1: leave the option out"),
        ("--explore-report=test_program.py", "--explore-report must be a folder that can be made"),
        pytest.param(
            "--explore-seconds=nan",
            "--explore-seconds must be > 0, not nan: leave the option out",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "--explore-executions=0",
            "--explore-executions must be > 0, not 0: leave the option out",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "--explore-seconds=soon", "invalid float value: 'soon'", marks=pytest.mark.slow
        ),
        pytest.param("--explore-order=lifo", "invalid choice: 'lifo'", marks=pytest.mark.slow),
    ],
)
def test_a_bad_option_ends_pytest_at_once(tmp_path: Path, option: str, text: str) -> None:
    ran = run(tmp_path, TWO, option)
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert text in ran.printed
