"""How far the checker looks for what changes outside of the state and in it."""

import functools
import sys
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

from structsync.checking import (
    SpecError,
    Verdict,
    action,
    check,
    invariant,
    load,
    start,
)
from structsync.checking._image import MOST_PARTS, difference, image_of
from structsync.checking._reach import Surroundings
from structsync.checking._values import same

from .wheel import Wheel

# ==== What is outside of the state ====


class Station:
    """Counts, by a method that others hold."""

    def __init__(self) -> None:
        self.calls = 0

    @functools.cached_property
    def name(self) -> str:
        return "station"

    def call(self) -> None:
        self.calls += 1


STATION = Station()
CALL = STATION.call
BY_PLACE = {(1, 2): 0}


def remembers() -> None:
    remembers.calls += 1  # type: ignore[attr-defined]


remembers.calls = 0  # type: ignore[attr-defined]


def by_method(spec: Any) -> None:
    CALL()


def by_place(spec: Any) -> None:
    BY_PLACE[1, 2] += 1


def by_function(spec: Any) -> None:
    remembers()


@pytest.mark.parametrize(
    ("act", "says"),
    [
        (by_method, "CALL.__self__.calls changed from 0 to"),
        (by_place, r"BY_PLACE\[key 0\] changed from 0 to"),
        (by_function, "remembers.calls changed from 0 to"),
    ],
)
def test_a_counter_is_found_wherever_it_is(act: Callable[[Any], None], says: str) -> None:
    class Counting(Wheel):
        @action
        def count(self) -> None:
            act(self)

    with pytest.raises(SpecError, match=says):
        check(Counting)


def test_a_value_that_is_computed_once_is_no_counter() -> None:
    class Asking(Wheel):
        @invariant
        def has_a_name(self) -> bool:
            return STATION.name == "station"

    STATION.__dict__.pop("name", None)
    assert check(Asking).verdict is Verdict.CONFIRMED


def test_a_counter_in_another_module_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "counters_of_ours.py").write_text("total = 0\n", "utf-8")
    (tmp_path / "wheel_that_counts.py").write_text(
        "import counters_of_ours\n"
        "from structsync.checking import Spec, action, invariant, start\n"
        "class Counting(Spec):\n"
        "    n = start(int)\n"
        "    @action\n"
        "    def turn(self):\n"
        "        self.n = 1 - self.n\n"
        "        counters_of_ours.total += 1\n"
        "    @invariant\n"
        "    def in_range(self):\n"
        "        return self.n < 2\n",
        "utf-8",
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    spec = load(tmp_path / "wheel_that_counts.py").specs["wheel_that_counts.Counting"]
    with pytest.raises(SpecError, match=r"counters_of_ours.total changed from 0 to"):
        check(spec)
    sys.modules.pop("counters_of_ours")


def test_a_name_without_a_value_yet_and_code_of_no_module_are_passed_over() -> None:
    def later() -> int:
        return value

    homeless = FunctionType(later.__code__, {}, closure=later.__closure__)
    surroundings = Surroundings(Wheel, [later, homeless])
    assert surroundings.change() is None
    value = 1
    changed = surroundings.change()
    assert changed is not None
    assert changed[1:] == ("'gone'", "1")


def test_of_a_large_object_only_so_much_is_looked_at() -> None:
    many = list(range(2 * MOST_PARTS))
    image = image_of({"many": many})
    assert len(image) == MOST_PARTS
    assert difference(image, image_of({"many": [*many, 0]})) is not None  # its length differs


# ==== Values ====


class Seat:
    """Slots alone, one of them private, and equality by its row."""

    __slots__ = ("__taken", "__weakref__", "row")

    def __init__(self, row: int, taken: bool = False) -> None:
        self.row = row
        self.__taken = taken

    @property
    def taken(self) -> bool:
        return self.__taken

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Seat) and other.row == self.row

    def __hash__(self) -> int:
        return self.row


FREE = object()


def test_slots_tell_states_apart_that_say_they_are_equal() -> None:
    class Seated(Wheel):
        seat: Seat = start(Seat, 1)

        @action
        def take(self) -> None:
            self.seat = Seat(1, taken=True)

        @invariant
        def stays_free(self) -> bool:
            return not self.seat.taken

    assert check(Seated)["stays_free"].verdict is Verdict.REFUTED


def test_an_object_that_marks_a_place_may_be_in_a_state() -> None:
    class Marked(Wheel):
        places: tuple[object, ...] = start(tuple, (FREE, 1))

        @action
        def swap(self) -> None:
            self.places = self.places[::-1]

        @invariant
        def one_is_free(self) -> bool:
            return self.places.count(FREE) == 1

    result = check(Marked)
    assert (result.verdict, result.states) == (Verdict.CONFIRMED, 10)


def test_an_object_that_never_changes_may_be_in_every_state() -> None:
    class Seated(Wheel):
        seat: Seat = start(Seat, 1)

    assert check(Seated).states == 5


def test_equal_numbers_are_the_same_whichever_objects_they_are() -> None:
    assert same(int("1000"), int("1000"))
    assert not same(int("1000"), float("1000"))
    assert same((int("1000"),), (int("1000"),))
    assert not same((int("1000"),), (float("1000"),))
