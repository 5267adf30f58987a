"""Small parts of a state, and of what compares states, each by itself."""

from __future__ import annotations

import io
import logging
import sys
from random import Random
from types import FunctionType, ModuleType
from typing import Any

import pytest
import trio
from _pytest.capture import CaptureIO

from structsync.testing import NondeterminismError, Settings, Verdict, explore
from structsync.testing._execution.schedule import Choice
from structsync.testing._exploration import with_handle
from structsync.testing._parallel.program import NotPortable
from structsync.testing._runner import _built
from structsync.testing._search import audit_of_cycles, differences
from structsync.testing._search.runs import Runs
from structsync.testing._search.search import fingerprinter
from structsync.testing._search.starvation import TransitionMap
from structsync.testing._state import (
    builtin_types,
    expanders,
    global_variables,
    identity,
    libraries,
    named_by_code,
)
from structsync.testing._state.across_processes import comparable

from . import hidden_elsewhere
from .conftest import two_checkpoints


def some_runs() -> Runs:
    return Runs(with_handle(two_checkpoints), Settings(cancels=0))


def test_an_audit_of_cycles_refuses_a_prefix_that_is_no_longer_possible() -> None:
    runs = some_runs()
    graph = TransitionMap(fingerprinter(runs.settings))
    walk = audit_of_cycles._Walk([Choice("run", "no task")], graph, Random(0))
    with runs.open(), pytest.raises(NondeterminismError, match="run no task"):
        runs.execute(walk)


def test_an_audit_of_cycles_sees_a_state_that_the_graph_has_not() -> None:
    runs = some_runs()
    walk = audit_of_cycles._Walk([], TransitionMap(fingerprinter(runs.settings)), Random(0))
    with runs.open():
        assert walk.is_wrong(runs.execute(walk))


def test_between_an_execution_and_itself_there_is_no_difference() -> None:
    runs = some_runs()
    with runs.open():
        assert differences.difference(runs, (), ()) is None


def test_a_variable_that_has_no_value_yet_is_nothing_to_compare() -> None:
    def outer() -> object:
        def inner() -> object:
            return later

        assert isinstance(inner, FunctionType)
        found = [*differences._closure(inner)]
        later = 1
        return found, later

    assert outer() == ([], 1)


def test_other_processes_know_a_logger_by_its_name() -> None:
    numbers = []
    for name in ("some", "some", "other"):
        with comparable():
            numbers.append(identity.number_of(logging.getLogger(name)))
    assert numbers[0] == numbers[1] != numbers[2]


def test_a_name_that_is_gone_from_a_library_is_seen_also_where_another_came() -> None:
    namespace: dict[str, object] = {"kept": 1, "gone": 2}
    watched = libraries.Library("a_library", namespace)
    watched.want(["kept", "gone"])
    before = watched.__explore_state__()
    del namespace["gone"]
    namespace["new"] = 3
    assert before != watched.__explore_state__() == ["a_library", "no gone"]


@pytest.mark.parametrize("name", ["getLogger", "filterwarnings", "getlocale"])
def test_what_is_set_for_the_process_is_read_where_code_could_ask_for_it(name: str) -> None:
    _, one = libraries.named((name,), [], ["structsync"])
    assert one.__explore_state__()


def test_an_import_of_a_library_is_no_part_of_a_state() -> None:
    assert named_by_code._Imports("json").__explore_state__() is None


@pytest.mark.parametrize(
    ("name", "level", "full"), [("a", 1, "over.under.a"), ("a", 2, "over.a"), ("", 2, "over")]
)
def test_a_relative_import_has_the_full_name(name: str, level: int, full: str) -> None:
    assert named_by_code._absolute(name, level, {"__package__": "over.under"}) == full


def test_what_cannot_be_sent_to_another_process_is_an_error_outside_of_a_suite() -> None:
    @explore(cancels=0, workers=2)
    async def local() -> None:
        await two_checkpoints()

    with pytest.raises(NotPortable, match="local"):
        local()


def test_another_process_builds_the_same_test() -> None:
    async def waits() -> None:
        pass

    assert callable(_built(waits, (), {}, ()))


def test_what_an_exception_carries_is_in_the_state() -> None:
    class Counted(Exception):
        count = 0

    async def test() -> None:
        error = Counted("the first")

        async def first() -> None:
            await trio.lowlevel.checkpoint()
            error.count = error.count * 2 + 1

        async def second() -> None:
            await trio.lowlevel.checkpoint()
            error.count *= 3

        async with trio.open_nursery() as nursery:
            nursery.start_soon(first)
            nursery.start_soon(second)
        await trio.lowlevel.checkpoint()
        assert error.count == 3, "first, then second"

    found = explore(test, search="states", cancels=0)
    assert found.verdict is Verdict.REFUTED


def test_a_module_of_a_class_of_its_own_is_walked_like_any_other() -> None:
    class Deprecating(ModuleType):
        pass

    assert expanders.expander(Deprecating) is expanders.expander(ModuleType) is builtin_types.module


def test_code_that_an_execution_makes_for_itself_is_not_kept_after_it() -> None:
    alone: dict[str, Any] = {"__name__": "made_at_run_time", "x": []}
    exec("def look(): return x", alone)
    code = alone["look"].__code__
    found = global_variables.data_of_code(code, alone)
    assert found, "what it can reach is a part of the state"
    assert all(code not in key for key in global_variables._of_code)


def test_what_the_explorer_keeps_for_itself_is_no_part_of_a_state() -> None:
    assert libraries.library(expanders) is None
    assert libraries.library(identity.Opaque) is None
    assert libraries.library(logging) is not None


def test_what_imports_modules_is_no_part_of_a_state() -> None:
    found = libraries.Library("sys", vars(sys))
    found.want(["meta_path", "path"])
    assert found.__explore_state__() == ["sys", "path", sys.path]


def test_the_namespace_of_a_module_is_that_module() -> None:
    of_the_program, children = builtin_types.mapping(vars(hidden_elsewhere))
    assert of_the_program == ("module", hidden_elsewhere.__name__)
    assert children
    assert builtin_types.mapping(vars(logging)) == (identity.number_of(logging), [])
    assert builtin_types.mapping({"__spec__": None, "__name__": "logging"})[0] == "dict"


def test_what_pytest_captures_is_no_file_of_the_program() -> None:
    class Own(io.TextIOWrapper):
        pass

    assert global_variables._is_open_file(Own(io.BytesIO()))
    assert not global_variables._is_open_file(CaptureIO())
