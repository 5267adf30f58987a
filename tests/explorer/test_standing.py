"""What stands before a search is known by a number, and what has changed of it is in each state."""

from __future__ import annotations

import collections
import contextvars
import types
from collections.abc import Callable
from typing import Any, TypeAlias, cast

import pytest

from structsync.testing import Verdict, explore
from structsync.testing._search import search
from structsync.testing._search.audit import Audit
from structsync.testing._search.priorities import RandomPriorities, UnseenStates
from structsync.testing._search.search import what_stands
from structsync.testing._state.fingerprint import Fingerprinter
from structsync.testing._state.standing import Standing, Unsteady

from . import standing_program
from .standing_program import PLACES, Plain, program

Fault: TypeAlias = Callable[[pytest.MonkeyPatch], None]


@pytest.fixture
def no_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "audit", lambda *_: Audit(0, 0))


def verdict(name: str) -> Verdict:
    found = explore(program(name), search="states", cancels=0)
    PLACES[name].note(0)
    return found.verdict


@pytest.mark.unmeasured
@pytest.mark.usefixtures("no_audit")
@pytest.mark.parametrize("name", PLACES)
def test_a_change_of_what_stands_tells_states_apart(name: str) -> None:
    assert verdict(name) is Verdict.REFUTED


@pytest.mark.unmeasured
@pytest.mark.usefixtures("no_audit")
@pytest.mark.parametrize("name", PLACES)
def test_a_change_of_what_stands_is_missed_if_it_is_not_watched(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Standing, "check", lambda self: None)
    assert verdict(name) is Verdict.CONFIRMED


def without(*names: str) -> Fault:
    """Return the fault that these attributes are empty when the collector's view is noted."""
    note = Standing._note

    def faulty(self: Standing) -> None:
        note(self)
        for name in names:
            setattr(self, name, [])

    return lambda patch: patch.setattr(Standing, "_note", faulty)


def nothing_by_content(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        Standing, "_exactly", property(lambda self: [], lambda self, value: None), raising=False
    )


def no_table_behind_a_proxy(patch: pytest.MonkeyPatch) -> None:
    see = Standing._see

    def faulty(self: Standing, thing: Any, behind: Any) -> None:
        if not (isinstance(behind, type) and thing is not behind):
            see(self, thing, behind)

    patch.setattr(Standing, "_see", faulty)


FAULTS: dict[str, Fault] = {
    "a global": without("_things", "_referents"),
    "an item of a list": without("_things", "_referents"),
    "a closure": without("_things", "_referents"),
    "a default": without("_things", "_referents"),
    "a key of a dictionary": without("_tables", "_keys"),
    "the name of a class": without("_classes", "_names"),
    "an attribute of a class": no_table_behind_a_proxy,
    "a slot": nothing_by_content,
    "an item of a deque": nothing_by_content,
    "an item of a set": nothing_by_content,
    "the class of an object": nothing_by_content,
}


@pytest.mark.unmeasured
@pytest.mark.usefixtures("no_audit")
@pytest.mark.parametrize("name", FAULTS)
def test_each_part_of_the_watch_is_needed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    FAULTS[name](monkeypatch)
    assert verdict(name) is Verdict.CONFIRMED


@pytest.mark.usefixtures("no_audit")
def test_states_say_all_where_too_much_does_not_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MOST_BEGINNINGS", 0)
    assert verdict("a global") is Verdict.REFUTED


def test_the_search_begins_anew_where_something_does_not_stand() -> None:
    begun = list[object]()

    def noted(test: Any, unsteady: list[object]) -> Standing:
        begun.append([*unsteady])
        return what_stands(test, unsteady)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "what_stands", noted)
        assert verdict("an item of a list") is Verdict.REFUTED
    assert begun[0] == []
    assert any(one is standing_program.LIST for one in cast("list[Any]", begun[-1]))


def standing_by(*things: object) -> Standing:
    """Return what stands if a list with these is all that there is."""
    return Standing([[*things]])


def test_what_only_looks_as_if_it_had_changed_stands() -> None:
    def function() -> int:
        return 1

    made = standing_by(function)
    function.__module__ = str(function.__module__ + " ").strip()  # equal, and another object
    made.check()
    assert function in made._exactly
    made.check()
    function.__defaults__ = (1,)
    with pytest.raises(Unsteady) as caught:
        made.check()
    assert caught.value.things == [function]


def test_a_global_variable_that_no_code_names_may_change() -> None:
    module: Any = types.ModuleType("a_module_of_the_program")
    source = "named = [1]\nother = [2]\ndef function(): return named"
    exec(compile(source, "a_file.py", "exec"), vars(module))
    made = standing_by(module.function)
    module.other = [3]
    made.check()
    made.check()
    module.named = [3]
    with pytest.raises(Unsteady):
        made.check()


def test_equal_texts_and_numbers_are_the_same_and_others_are_not() -> None:
    large = 10**20
    thing = Plain()
    thing.last = large
    made = standing_by(thing)
    thing.last = large + 0 * len(str(thing))
    made.check()
    thing.last = cast(Any, float(large))
    with pytest.raises(Unsteady):
        made.check()


def test_a_default_that_is_equal_and_of_another_type_has_changed() -> None:
    function = types.FunctionType(collections.namedtuple.__code__, {"__name__": "collections"})
    function.__defaults__ = (1,)
    made = standing_by(function)
    function.__defaults__ = (True,)
    with pytest.raises(Unsteady):
        made.check()


class Raises:
    """An object that is not to be looked at when it has been told so."""

    now = False

    def __init__(self) -> None:
        self.inside = [1]

    def __explore_state__(self) -> object:
        if self.now:
            raise ValueError
        return self.inside


def test_what_cannot_be_looked_at_any_more_has_changed() -> None:
    thing = Raises()
    made = standing_by(thing)
    made.check()
    thing.now = True
    with pytest.raises(Unsteady) as caught:
        made.check()
    assert caught.value.things == [thing]


def test_what_is_seen_by_a_walk_alone_is_walked_in_each_state() -> None:
    variable, iterator, refuses = contextvars.ContextVar[int]("v"), iter([1]), Raises()
    refuses.now = True
    made = standing_by(variable, iterator, refuses)
    assert {id(one) for one in made.always} == {id(variable), id(iterator), id(refuses)}


def test_a_test_without_code_of_its_own_names_nothing() -> None:
    class Callable:
        async def __call__(self) -> None: ...

    assert not what_stands(Callable(), []).numbers


def test_an_estimate_of_unseen_states_ends_where_something_does_not_stand() -> None:
    class Moved(Fingerprinter):
        def __call__(self, _: object) -> bytes:
            raise Unsteady([])

    class First:
        def choose(self, _: object, options: tuple[Any, ...]) -> Any:
            return options[0]

    look = Moved(symmetry=True, exact=False)
    counter = UnseenStates(cast(RandomPriorities, First()), set(), look)
    options = cast(Any, (types.SimpleNamespace(kind="run"), types.SimpleNamespace(kind="run")))
    assert counter.choose(cast(Any, None), options) is options[0]
    assert counter.summary() == ""
