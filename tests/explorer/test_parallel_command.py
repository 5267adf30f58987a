"""Several processes and shards, as the command line and pytest ask for them."""

from __future__ import annotations

import copy
import json
import sys
import types
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from structsync.checking import Verdict
from structsync.cli import main
from structsync.testing._command.merge import digest_of_sources, merge, versions

from .test_pytest_inside import run

TARGET = f"{Path(__file__).parent / 'parallel_programs.py'}:with_a_semaphore"


def explored(*options: str) -> Any:
    ran = CliRunner().invoke(main, ["explore", TARGET, "--cancels=0", "--json", *options])
    return ran, json.loads(ran.stdout)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """What three machines have written."""
    folder = tmp_path_factory.mktemp("shards")
    found = []
    for number in (1, 2, 3):
        ran, document = explored("--search=plain", f"--shard={number}/3", "-j1")
        assert ran.exit_code == 0
        assert document["explored"][0]["verdict"] == "not finished"
        found.append(folder / f"{number}.json")
        found[-1].write_text(ran.stdout)
    return found


def merged(*files: Path) -> Any:
    return CliRunner().invoke(main, ["merge-shards", "--json", *map(str, files)])


def test_all_shards_of_a_search_confirm_it(files: list[Path]) -> None:
    ran = merged(*files)
    assert ran.exit_code == 0
    (one,) = json.loads(ran.stdout)["tests"]
    assert one["verdict"] == "confirmed"
    assert one["because"].startswith("3 shards are complete: ")
    shown = CliRunner().invoke(main, ["merge-shards", *map(str, files)])
    assert "confirmed" in shown.stdout


def test_without_one_of_them_nothing_is_confirmed(files: list[Path]) -> None:
    ran = merged(files[0], files[2])
    assert ran.exit_code == 2
    assert json.loads(ran.stdout)["tests"][0]["because"] == "of 3 shards there is no 2"


def results(files: list[Path]) -> list[Any]:
    return [{**json.loads(one.read_text())["explored"][0], "versions": versions()} for one in files]


CHANGES: dict[str, tuple[tuple[str, ...], object, str]] = {
    "settings": (("settings", "cancels"), 3, "the settings (cancels) differ"),
    "versions": (("versions", "python"), "3.0", "the versions differ"),
    "modules": (("sources",), "another", "the modules of the test differ"),
    "prefixes": (
        ("shard", "digest"),
        "another",
        "the prefixes, or how they were shared out, differ",
    ),
    "incomplete": (("shard", "complete"), False, "shard 2/3 is not complete: shard 2 of 3"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_shards_of_two_searches_confirm_nothing(what: str, files: list[Path]) -> None:
    place, value, reason = CHANGES[what]
    shards = results(files)
    assert merge(shards)[0] is Verdict.CONFIRMED
    other = changed = copy.deepcopy(shards[1])
    for name in place[:-1]:
        changed = changed[name]
    changed[place[-1]] = value
    verdict, why = merge([shards[0], other, shards[2]])
    assert verdict is Verdict.UNFINISHED
    assert reason in why


def test_a_failure_of_one_shard_is_one_of_all(files: list[Path]) -> None:
    shards = results(files)
    shards[2]["failure"] = {"message": "a deadlock", "token": "x1a::1.0000"}
    verdict, why = merge(shards)
    assert verdict is Verdict.REFUTED
    assert why == "shard 3/3: a deadlock; x1a::1.0000"


def test_other_files_are_refused(files: list[Path], tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    for text in ("nothing", "[]", "{}"):
        other.write_text(text)
        assert "is not what 'structsync explore --json' prints" in merged(other).stderr
    document = json.loads(files[0].read_text())
    document["explored"][0]["shard"] = None
    other.write_text(json.dumps(document))
    ran = merged(other)
    assert ran.exit_code == 64
    assert "what it has was not explored with --shard K/N" in ran.stderr


def test_a_module_that_the_test_imports_is_part_of_the_search(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    module = types.ModuleType("helper_of_the_test")
    module.__file__ = str(tmp_path / "helper_of_the_test.py")
    before = digest_of_sources()
    Path(module.__file__).write_text("check = None\n")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    imported = digest_of_sources()
    Path(module.__file__).write_text("def check(): ...\n")
    assert len({before, imported, digest_of_sources()}) == 3


@pytest.mark.parametrize("text", ["3", "0/4", "5/4", "a/b"])
def test_a_shard_is_one_of_several(text: str) -> None:
    ran = CliRunner().invoke(main, ["explore", TARGET, f"--shard={text}"])
    assert ran.exit_code == 64
    assert f"{text!r} is none of several" in ran.stderr


def test_a_shard_that_is_not_complete_has_an_exit_code() -> None:
    ran, document = explored("--search=plain", "--shard=1/3", "--executions=30")
    assert ran.exit_code == 2
    assert document["explored"][0]["shard"]["complete"] is False


def test_what_replays_a_failure_asks_for_one_process() -> None:
    failing = TARGET.replace("with_a_semaphore", "one_order_in_many_fails")
    ran = CliRunner().invoke(main, ["explore", failing, "-j2", "--cancels=0", "--search=plain"])
    assert ran.exit_code == 1
    (command,) = (line for line in ran.stdout.splitlines() if "--replay" in line)
    assert "--cancels=0" in command
    assert "workers" not in command
    local = CliRunner().invoke(
        main, ["explore", TARGET.replace("with_a_semaphore", "handler"), "-j2"]
    )
    assert local.exit_code == 64


PROGRAM = """
    async def crossing(*args):
        async with trio.open_nursery() as nursery:
            for _ in range(2):
                nursery.start_soon(trio.lowlevel.checkpoint)

    @explore(cancels=0)
    async def test_of_the_module():
        await crossing()

    @explore(cancels=0)
    async def test_with_a_fixture(tmp_path):
        await crossing()

    @pytest.mark.parametrize("what", [lambda: None], ids=["local"])
    @explore(cancels=0)
    async def test_with_a_function(what):
        await crossing()
"""


def test_pytest_explores_in_processes_what_other_processes_can_import(tmp_path: Path) -> None:
    ran = run(tmp_path, PROGRAM, "--explore-workers", "2")
    assert ran.code == 0
    _, *told = " ".join(ran.printed.split()).split(" confirmed ")
    of_the_module, with_a_fixture, with_a_function = told
    assert of_the_module.endswith("workers=2")
    assert with_a_fixture.endswith(
        "in one process: fixtures were set up in it (tmp_path_factory, tmp_path)"
    )
    assert "in one process: workers= runs the test in other processes" in with_a_function
