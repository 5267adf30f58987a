"""The example projects work where a user copies them: in a folder of their own, with their pytest.

Each test copies one, and may spoil the copy to see that its tests are able to fail.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from ..children import environment, pytest_command  # noqa: TID252 - the one home of how a child is started

EXAMPLES = Path(__file__).parents[2] / "examples"


@dataclass(frozen=True)
class Project:
    """A copy of one project."""

    folder: Path

    def pytest(self, *arguments: str, autoload: bool = False) -> tuple[int, str]:
        """Run its tests; return the exit code and what was printed."""
        ran = pytest_command(*arguments, cwd=self.folder, autoload=autoload)
        return ran.returncode, ran.stdout + ran.stderr

    def replace(self, file: str, old: str, new: str) -> None:
        """Change one place in a file."""
        path = self.folder / file
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {file}"
        path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.fixture
def copy(tmp_path: Path) -> Callable[[str], Project]:
    def copied(name: str) -> Project:
        ignored = shutil.ignore_patterns("__pycache__", ".*")
        return Project(shutil.copytree(EXAMPLES / name, tmp_path / name, ignore=ignored))

    return copied


def verdicts(printed: str) -> list[tuple[str, str]]:
    """Return the explored tests with their verdicts, as the summary tells them."""
    return re.findall(
        r"^(confirmed|refuted|not finished) +\S+::(\w+)(?:  |$)", printed, re.MULTILINE
    )


def failed(printed: str) -> list[str]:
    return re.findall(r"^FAILED \S+::(\w+)", printed, re.MULTILINE)


# ==== the courier ====


def test_the_tests_of_the_courier_pass_and_its_searches_see_everything(
    copy: Callable[[str], Project],
) -> None:
    code, printed = copy("courier").pytest(autoload=True)
    assert code == 0, printed
    found = verdicts(printed)
    assert len(found) >= 4
    assert {verdict for verdict, _ in found} == {"confirmed"}


@pytest.mark.parametrize(
    ("file", "old", "new", "name"),
    [
        (
            "courier/delivery.py",
            "            except BaseException:\n                self.outbox.put_back(letter)\n",
            "            except BaseException:\n                self.outbox.done()\n",
            "test_every_letter_ends_up_in_one_place",
        ),
        (
            "courier/delivery.py",
            "                self.delivered.append(letter)\n",
            "                await trio.lowlevel.checkpoint()\n"
            "                self.delivered.append(letter)\n",
            "test_every_letter_ends_up_in_one_place",
        ),
        (
            "courier/outbox.py",
            "        self._closed = True\n        self._arrived.wake_all()\n",
            "        self._closed = True\n        self._arrived.wake()\n",
            "test_waiting_for_letters_ends_when_none_will_come",
        ),
        (
            "courier/delivery.py",
            "                except OSError:\n                    continue\n",
            "                except OSError:\n                    return\n",
            "test_a_letter_whose_first_attempt_fails_is_not_lost",
        ),
        (
            "tests/first_version.py",
            "                self.outbox.done()\n                await self.outbox.put(letter)",
            "                self.outbox.put_back(letter)",
            "test_the_first_version_lost_a_letter",
        ),
    ],
    ids=[
        "letter not given back",
        "arrived, but not counted",
        "one of two woken",
        "not tried again",
        "no bug",
    ],
)
def test_a_spoiled_courier_fails(
    copy: Callable[[str], Project], file: str, old: str, new: str, name: str
) -> None:
    project = copy("courier")
    project.replace(file, old, new)
    code, printed = project.pytest("tests/test_delivery.py", "-k", name)
    assert code == 1, printed
    assert failed(printed) == [name]


@pytest.mark.parametrize(
    ("target", "confirmed"),
    [
        ("tests/test_delivery.py::test_what_takes_too_long_is_unsent", 1),
        pytest.param("tests/test_delivery.py", 5, marks=pytest.mark.nightly),
    ],
    ids=["one test", "all of them"],
)
def test_the_shards_of_its_workflow_come_to_a_verdict(
    copy: Callable[[str], Project], target: str, confirmed: int
) -> None:
    workflow = EXAMPLES / "courier" / ".github" / "workflows" / "tests.yml"
    commands = re.findall(r"- run: (.*)", workflow.read_text(encoding="utf-8"))
    explore, merge = [one for one in commands if one.startswith("structsync ")]
    assert " tests/test_delivery.py " in explore
    explore = explore.replace("tests/test_delivery.py", target)
    shards = [explore.replace("${{ matrix.shard }}", str(k)) for k in (1, 2)]
    folder = copy("courier").folder
    printed = ""
    for command in [*shards, merge]:
        ran = subprocess.run(
            f"{shlex.quote(sys.executable)} -m {command}",
            shell=True,  # as a workflow does
            cwd=folder,
            env=environment() | {"PYTHONPATH": os.pathsep.join([str(folder), *sys.path])},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        printed = ran.stdout
    assert printed.count("confirmed") == confirmed, printed


# ==== from an issue to a test ====


@pytest.mark.parametrize(
    ("version", "said"),
    [("cache", "patient#0 waits for arrived"), ("hasty", "KeyError: 'logo'"), ("fixed", "")],
)
def test_a_client_that_leaves_stops_the_other_until_there_is_a_lock(
    copy: Callable[[str], Project], version: str, said: str
) -> None:
    code, printed = copy("single_flight").pytest(f"test_{version}.py")
    assert (code, said in printed) == (bool(said), True), printed


def test_a_cache_that_does_not_look_again_is_found(copy: Callable[[str], Project]) -> None:
    project = copy("single_flight")
    project.replace("fixed_cache.py", "if key not in self._values:", "if True:")
    code, printed = project.pytest("test_fixed.py")
    assert code == 1
    assert "it was fetched twice" in printed


# ==== the queue of the tutorial ====


def test_ordinary_tests_do_not_show_the_lost_wakeup(copy: Callable[[str], Project]) -> None:
    code, printed = copy("bounded_queue").pytest("test_ordinary.py")
    assert code == 0, printed


def test_exploring_shows_the_lost_wakeup_and_the_token_shows_it_again(
    copy: Callable[[str], Project],
) -> None:
    project = copy("bounded_queue")
    code, printed = project.pytest("test_explored.py")
    assert code == 1
    assert "DEADLOCK" in printed
    (token,) = re.findall(r"--explore-replay '?(\S+?)'?$", printed, re.MULTILINE)
    code, again = project.pytest("test_explored.py", "--explore-replay", token)
    assert code == 1
    assert "DEADLOCK" in again


def test_the_cured_queue_is_confirmed(copy: Callable[[str], Project]) -> None:
    code, printed = copy("bounded_queue").pytest("test_fixed_queue.py")
    assert code == 0, printed
    assert verdicts(printed) == [("confirmed", "test_all_tasks_are_served")]


def test_the_cure_is_one_line() -> None:
    folder = EXAMPLES / "bounded_queue"
    lossy = (folder / "bounded_queue.py").read_text(encoding="utf-8").splitlines()
    cured = (folder / "fixed_queue.py").read_text(encoding="utf-8").splitlines()
    different = [pair for pair in zip(lossy, cured, strict=True) if pair[0] != pair[1]]
    assert different == [
        ("from trio import Condition, Lock", "from structsync import Condition, Lock")
    ]


# ==== the suite that knows nothing of the explorer ====


def test_the_flaky_test_of_a_suite_is_found_and_replayed(copy: Callable[[str], Project]) -> None:
    project = copy("existing_suite")
    code, printed = project.pytest("--explore-all", "-k", "explored")
    assert code == 1
    assert "3 tests: 1 confirmed, 1 not explored, 1 refuted" in printed
    (command,) = re.findall(r"^E +pytest (.*--explore-replay.*)$", printed, re.MULTILINE)
    code, again = project.pytest(*shlex.split(command))
    assert code == 1
    assert "1 failed" in again


def test_the_cured_batcher_is_confirmed(copy: Callable[[str], Project]) -> None:
    project = copy("existing_suite")
    project.replace(
        "batcher.py",
        "await self.sink.send(list(self.items))\n        self.items.clear()",
        "items, self.items = self.items, []\n        await self.sink.send(items)",
    )
    code, printed = project.pytest("--explore-all")
    assert code == 0, printed
    assert "3 tests: 2 confirmed, 1 not explored" in printed


# ==== a pool and its specification ====


def test_the_pool_of_the_tutorial_keeps_to_its_specification(
    copy: Callable[[str], Project],
) -> None:
    code, printed = copy("checked_pool").pytest()
    assert (code, "4 passed" in printed) == (0, True)


def test_a_wrong_pool_is_found_in_some_schedule(copy: Callable[[str], Project]) -> None:
    project = copy("checked_pool")
    project.replace("test_pool_explored.py", "import Pool", "import ForgetfulPool as Pool")
    code, printed = project.pytest("test_pool_explored.py")
    assert code == 1
    assert "TraceRefuted" in printed
    assert "give_up(who=b)" in printed


def test_the_machine_of_the_tutorial_finds_the_wrong_pool_in_three_steps(
    copy: Callable[[str], Project],
) -> None:
    project = copy("checked_pool")
    project.replace("test_pool_machine.py", "import Pool", "import ForgetfulPool as Pool")
    code, printed = project.pytest("test_pool_machine.py")
    assert code == 1
    assert "after give_up(who='b') waiting is 1, and 0 in the specification" in printed
    assert len(set(re.findall("Draw [0-9]+ [(]step[)]", printed))) == 3
