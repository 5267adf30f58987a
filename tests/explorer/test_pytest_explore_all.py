"""``pytest --explore-all`` over a suite of pytest-trio that knows nothing of the explorer."""

from __future__ import annotations

import re
import shlex
import xml.etree.ElementTree as ET
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from structsync.testing._pytest import replay_command

from .test_pytest_inside import Ran, run

HEAD = """
    import warnings
    import pytest, trio
    from hypothesis import given, strategies

    NOTES = open("notes", "a")  # once: the explorer notes what a program itself opens

    def note(text):
        NOTES.write(text + "\\n")
        NOTES.flush()
"""

SUITE = """
    async def clock():
        return trio.lowlevel.current_clock()

    CLOCK = trio.run(clock)

    class Counter:
        def __init__(self):
            self.value = 0

        async def add(self):
            seen = self.value
            await trio.lowlevel.checkpoint()
            self.value = seen + 1

    @pytest.fixture
    def counter():
        return Counter()

    @pytest.fixture
    async def echo(nursery):
        send, receive = trio.open_memory_channel(0)
        heard = []

        async def listen():
            async for one in receive:
                heard.append(one)

        nursery.start_soon(listen)
        yield send, heard
        await send.aclose()

    @pytest.mark.parametrize("tasks", [1, 2])
    async def test_lost_update(counter, tasks):
        async with trio.open_nursery() as nursery:
            for number in range(tasks):
                nursery.start_soon(counter.add)
                if number == 0:
                    await trio.testing.wait_all_tasks_blocked()
        assert counter.value == tasks

    async def test_order(capsys, caplog):
        print("once")
        seen = []

        async def worker(name):
            await trio.lowlevel.checkpoint()
            seen.append(name)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(worker, "a")
            nursery.start_soon(worker, "b")
        assert capsys.readouterr().out == "once\\n"
        assert len(seen) == 2

    async def test_that_assumes_an_order():
        seen = []

        async def worker(name):
            for _ in range(20):
                seen.append(name)
                await trio.lowlevel.checkpoint()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(worker, "a")
            nursery.start_soon(worker, "b")
        assert seen != ["b", "a"] * 20  # trio chooses anew in each round: one run in a million

    async def test_fixtures(echo, autojump_clock):
        send, heard = echo
        await send.send("hello")
        await trio.sleep(3600)
        assert heard == ["hello"]
        assert trio.current_time() == 3600

    async def test_mock_clock(mock_clock, nursery):
        woke = trio.Event()

        async def sleeper():
            await trio.sleep(5)
            woke.set()

        nursery.start_soon(sleeper)
        await trio.testing.wait_all_tasks_blocked()
        assert not woke.is_set()
        mock_clock.jump(5)
        await woke.wait()

    class TestOfAClass:
        def setup_method(self):
            self.base = 1

        async def test_method(self, counter, monkeypatch):
            assert not hasattr(Counter, "patched"), "left by another execution"
            monkeypatch.setattr(Counter, "patched", 1, raising=False)
            assert self.base == 1
            self.base = 2
            await counter.add()

    @pytest.mark.parametrize("left", [[1, 2]], ids=["list"])
    async def test_that_empties_its_parameter(left):
        assert [left.pop(), left.pop()] == [2, 1]

    def test_that_is_sync():
        pass

    async def test_thread():
        await trio.to_thread.run_sync(int)

    async def test_other_thread():
        await trio.to_thread.run_sync(int)

    async def test_socket():
        trio.socket.socket().close()

    @pytest.fixture(scope="module")
    def shared():
        return trio.Event()

    async def test_shared(shared):
        shared.set()

    @pytest.fixture
    def by_finalizer(request):
        note("up")
        request.addfinalizer(lambda: note("down"))

    async def test_finalizer(by_finalizer):
        pass

    @given(strategies.integers())
    async def test_hypothesis(number):
        pass

    def other_run(*args, **kwargs):
        return trio.run(*args, **kwargs)

    @pytest.mark.trio(run=other_run)
    async def test_other_runner():
        pass

    @pytest.mark.skip(reason="marked")
    async def test_marked_skip():
        pass

    async def test_skips():
        pytest.skip("by itself")

    @pytest.mark.xfail(strict=True)
    async def test_xfail():
        assert False

    @pytest.mark.xfail(strict=True)
    async def test_xfail_of_the_clock():
        assert not isinstance(trio.lowlevel.current_clock(), type(CLOCK))

    async def test_broken():
        assert False, "in any order"
"""
RED = "test_program.py::test_that_assumes_an_order[explored]"
OPTIONS = ["-o", "trio_mode=true", "--explore-all", "--explore-executions=60"]


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """One run, of which several tests look at one part each; any warning would be an error."""
    folder = tmp_path_factory.mktemp("suite")
    strict = ["-v", "-rs", "-W", "error", "--junitxml=junit.xml", "--explore-report=pages"]
    return run(folder, SUITE, *OPTIONS, *strict, head=HEAD)


def of_each_test(ran: Ran) -> dict[str, str]:
    found = re.findall(r"^test_program\.py::(\S+) (\w+)", ran.printed, re.MULTILINE)
    return dict(found)


def test_each_async_test_has_a_second_item_beside_the_plain_one(suite: Ran) -> None:
    outcomes = of_each_test(suite)
    both = {name for name in outcomes if f"{name}[explored]" in outcomes}
    assert {"test_order", "test_fixtures", "test_thread", "TestOfAClass::test_method"} <= both
    assert "test_that_is_sync" in outcomes
    assert "test_that_is_sync[explored]" not in outcomes
    assert outcomes["test_lost_update[1]"] == outcomes["test_lost_update[1-explored]"] == "PASSED"
    assert suite.outcomes == {"failed": 2, "passed": 24, "skipped": 12, "xfailed": 3}, suite.printed


def test_only_the_second_item_of_a_test_fails_that_depends_on_the_order(suite: Ran) -> None:
    outcomes = of_each_test(suite)
    assert outcomes["test_that_assumes_an_order"] == "PASSED"
    assert outcomes["test_that_assumes_an_order[explored]"] == "FAILED"
    shown = suite.section("FAILURES")
    assert "worker#" in shown
    assert "structsync/testing" not in shown


def test_what_fails_without_exploring_fails_once(suite: Ran) -> None:
    outcomes = of_each_test(suite)
    assert outcomes["test_broken"] == "FAILED"
    assert outcomes["test_broken[explored]"] == "SKIPPED"


@pytest.mark.parametrize(
    ("test", "reason"),
    [
        ("test_socket", r"the test uses a socket"),
        ("test_shared", "the fixture 'shared' makes one Event for all executions"),
        ("test_hypothesis", "Hypothesis chooses its examples"),
        ("test_other_runner", r"it is run by test_program.other_run\(\)"),
        ("test_xfail_of_the_clock", "it is expected to fail, and does not fail here"),
        ("test_broken", "it fails in each of 31 executions, so no order decides: .*in any order"),
    ],
)
def test_what_is_not_explored_is_listed_with_the_reason(suite: Ran, test: str, reason: str) -> None:
    listed = " ".join(suite.section("existing tests explored").split())
    assert re.search(rf"not explored test_program\.py::{test}\[explored\] {reason}", listed), listed


def test_a_reason_that_several_tests_share_is_listed_once(suite: Ran) -> None:
    lines = suite.section("existing tests explored").splitlines()
    (first,) = (n for n, one in enumerate(lines) if "2 tests: the test starts a thread" in one)
    assert lines[first].startswith("not explored  2 tests: ")
    names = [
        f"{'':14}test_program.py::{one}[explored]" for one in ("test_thread", "test_other_thread")
    ]
    # What is told of both takes two lines here, and no word of it is cut.
    assert lines[first + 2 : first + 4] == names, lines[first : first + 5]


def test_the_summary_counts_and_lists_every_test(suite: Ran) -> None:
    lines = suite.section("existing tests explored").strip().splitlines()
    assert lines[0] == "17 tests: 8 confirmed, 8 not explored, 1 refuted"
    assert lines[1] == f"refuted       {RED}"
    assert lines[2].startswith(f"{'':14}error; ")
    assert lines[3].strip().startswith("report: ")
    assert sum("[explored]" in one or "-explored]" in one for one in lines) == 17
    assert "schedules explored" not in suite.printed.replace("tests explored", "")


def test_skips_and_expected_failures_stay_what_they_are(suite: Ran) -> None:
    outcomes = of_each_test(suite)
    assert outcomes["test_marked_skip[explored]"] == outcomes["test_skips[explored]"] == "SKIPPED"
    assert outcomes["test_xfail[explored]"] == "XFAIL"
    assert re.search(r"test_program.py:\d+: by itself", suite.printed)


def test_a_fixture_that_asks_pytest_is_set_up_once(suite: Ran) -> None:
    ups = [one for one in suite.notes if one in ("up", "down")]
    assert ups == ["up", "down"] * 2


def test_a_junit_file_tells_the_items_apart(suite: Ran) -> None:
    cases = {
        one.attrib["name"]: one for one in ET.parse(suite.folder / "junit.xml").iter("testcase")
    }
    assert cases["test_that_assumes_an_order"].find("failure") is None
    failed = cases["test_that_assumes_an_order[explored]"]
    assert failed.find("failure") is not None
    noted = {one.attrib["name"]: one.attrib["value"] for one in failed.iter("property")}
    assert noted["explored_verdict"] == "refuted"
    assert RED in noted["explored_replay"]


def command_of(ran: Ran) -> list[str]:
    # Where CI is true, pytest's summary has it once more.
    (command,) = {
        *re.findall(r"^(?:E +)?(pytest .*--explore-replay.*)$", ran.printed, re.MULTILINE)
    }
    program, *arguments = shlex.split(command)
    assert program == "pytest"
    return arguments


def test_the_command_in_a_failure_replays_it(suite: Ran) -> None:
    again = run(suite.folder, SUITE, *command_of(suite), head=HEAD)
    assert again.outcomes == {"failed": 1}, again.printed
    assert "1 tests: 1 refuted" in again.section("existing tests explored")


def test_the_command_has_what_decides_which_tests_there_are() -> None:
    given = {
        "plugins": ["no:terminal", "mine"],
        "override_ini": None,
        "inifilename": "a.ini",
        "rootdir": None,
        "importmode": "importlib",
    }
    config = SimpleNamespace(getoption=lambda name, *_: given.get(name))
    options = [*replay_command._options(cast(pytest.Config, config))]
    assert options[:5] == ["--explore-all", "-p", "mine", "-c", "a.ini"]
    assert "--import-mode=importlib" in options
    assert "no:terminal" not in options


@pytest.mark.unmeasured
def test_pytest_xdist_hands_everything_on(suite: Ran) -> None:
    """What a worker finds, its command too, which needs no worker."""
    some = ["-k", "assumes or socket", "-n", "1", "--import-mode=importlib"]
    ran = run(suite.folder, SUITE, *OPTIONS, *some, head=HEAD, autoload=True)
    assert ran.outcomes == {"failed": 1, "passed": 2, "skipped": 1}, ran.printed
    listed = ran.section("existing tests explored")
    assert "2 tests: 1 not explored, 1 refuted" in listed
    arguments = command_of(ran)
    assert "--import-mode=importlib" in arguments
    assert not {"-n", "no:terminal"} & {*arguments}
    assert RED in arguments


SWEPT = """
    @pytest.mark.trio
    async def test_good_end(nursery):
        nursery.start_soon(trio.sleep_forever)
        await trio.sleep(1)

    @pytest.mark.trio
    async def test_bad_end(nursery):
        try:
            await trio.sleep(1)
        except trio.Cancelled:
            raise ValueError("of the end") from None

    class Proxy:  # as web frameworks have them: looked at too early, they raise
        def __getattr__(self, name):
            raise RuntimeError("not within a request")

    proxy = Proxy()

    async def test_no_task_runs():
        pass

    @pytest.mark.anyio
    @pytest.mark.parametrize("anyio_backend", ["asyncio", ("trio", {})])
    async def test_of_anyio(anyio_backend):
        pass

    @pytest.fixture(scope="module")
    async def wide():
        pass

    @pytest.mark.trio
    async def test_wide(wide):
        pass

    @pytest.mark.trio
    async def test_many(nursery):
        async def works():
            for _ in range(9):
                await trio.lowlevel.checkpoint()

        for _ in range(9):
            nursery.start_soon(works)
        await trio.sleep(1)
"""


def test_a_sweep_cancels_whole_tests(tmp_path: Path) -> None:
    ini = ["-c", "other.ini", "--rootdir", ".", "-p", "no:doctest"]
    (tmp_path / "other.ini").write_text("[pytest]\nmarkers =\n    anyio: of another plugin\n")
    options = ["--explore-all", "--explore-sweep", "--explore-executions=50", "--explore-seed=5"]
    ran = run(tmp_path, SWEPT, *ini, *options, "-k", "explored", "-v", head=HEAD)
    listed = ran.section("existing tests explored")
    assert "5 tests: 2 confirmed, 1 not finished, 1 not explored, 1 refuted" in listed, ran.printed
    assert re.search(r"^refuted .*::test_bad_end\[explored\]\s+error", listed, re.MULTILINE)
    words = " ".join(listed.split())
    assert "the async fixture 'wide' has the scope 'module'" in words
    (cut,) = re.findall(r"not finished \S*test_many\S* (.*?) test_program", words + " test_program")
    assert "seed=5" in cut
    assert "test_of_anyio[anyio_backend1-explored]" in listed
    arguments = command_of(ran)
    again = run(tmp_path, SWEPT, *arguments, head=HEAD)
    assert again.outcomes == {"failed": 1}, again.printed


BEFORE_EACH = """
    FLAG = []

    def setup_function(function):
        note(f"set up {function.__name__}")
        FLAG.clear()

    def teardown_function():
        note("torn down")

    async def takes(name, flag, took):
        await trio.lowlevel.checkpoint()
        if not flag:
            flag.append(1)
            took.append(name)

    async def takes_it_once(flag):
        took = []
        async with trio.open_nursery() as nursery:
            for name in "ab":
                nursery.start_soon(takes, name, flag, took)
        assert took != ["b"]

    async def test_global():
        await takes_it_once(FLAG)

    class TestOfAClass:
        def setup_method(self):
            self.flag = []

        async def test_attribute(self):
            await takes_it_once(self.flag)
"""


def test_what_is_set_up_before_each_test_is_set_up_in_each_execution(tmp_path: Path) -> None:
    """The first one has changed it, and no other would find what a plain run finds."""
    ran = run(tmp_path, BEFORE_EACH, *OPTIONS, "-k", "explored", head=HEAD)
    listed = ran.section("existing tests explored")
    assert "2 tests: 2 refuted" in listed, ran.printed
    assert ran.outcomes["failed"] == 2
    assert ran.notes.count("set up test_global") == ran.notes.count("torn down") > 2


# ==== mistakes ====


def test_a_sweep_alone_is_refused(tmp_path: Path) -> None:
    ran = run(tmp_path, SWEPT, "--explore-sweep", head=HEAD)
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert "--explore-sweep belongs to --explore-all" in ran.printed


def test_an_old_pytest_is_refused(
    pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    from structsync.testing._pytest import hangs, plugin

    class Asked:
        def getoption(self, name: str) -> object:
            return name == "explore_all" or None

    monkeypatch.setattr(hangs, "configure", lambda config: None)
    monkeypatch.delattr(pytest, "HIDDEN_PARAM")
    with pytest.raises(pytest.UsageError, match=r"needs pytest 8\.4"):
        plugin.pytest_configure(Asked())  # type: ignore[arg-type]


NOTHING = "def test_sync():\n    pass\n"


def test_a_suite_without_a_test_of_trio_says_so(tmp_path: Path) -> None:
    ran = run(tmp_path, NOTHING, "--explore-all")
    assert "none: no async test that pytest-trio runs has run" in ran.printed


# ==== planted faults ====

FAULTS = {
    "fixtures are made once for all executions": (
        """
        from structsync.testing._pytest import all_fixtures

        all_fixtures._can_be_repeated = lambda name, function: False
        """,
        "not explored  test_program.py::TestOfAClass::test_method",
    ),
    "what fails in every schedule is a failure": (
        """
        from structsync.testing._search import existing

        existing._require_one_that_passes = lambda runs, test: None
        """,
        "refuted       test_program.py::test_broken",
    ),
    "a mock clock cannot be moved": (
        """
        from structsync.testing._execution import clock

        clock.MovedClock.jump = lambda self, seconds: None
        """,
        "not explored  test_program.py::test_mock_clock",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_changes_what_is_listed(tmp_path: Path, suite: Ran, fault: str) -> None:
    conftest, line = FAULTS[fault]
    assert line not in suite.printed
    test = line.rpartition(":")[2]
    ran = run(tmp_path, SUITE, *OPTIONS, "-k", f"explored and {test}", head=HEAD, conftest=conftest)
    assert line in ran.section("existing tests explored")
