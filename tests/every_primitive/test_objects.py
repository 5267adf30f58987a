"""C9 for every primitive: what it shows, and that it is one object that cannot be doubled."""

import copy
import dataclasses
import gc
import pickle
import weakref
from collections.abc import Callable
from typing import Any

import pytest
import trio

import structsync
from structsync import Monitor, Primitive
from structsync._runtime.transitions import of_this_thread
from tests.public_names import PUBLIC

from .attempt import Attempt, waiting
from .conftest import kinds
from .kinds import KINDS, Kind


async def test_statistics_count_the_waiters(kind: Kind) -> None:
    primitive = kind.make()
    kind.occupy(primitive)
    async with trio.open_nursery() as nursery:
        await waiting(kind, primitive, nursery)
        assert primitive.statistics().tasks_waiting == 1
        kind.free(primitive)


def test_statistics_are_frozen(kind: Kind) -> None:
    statistics = kind.make().statistics()
    with pytest.raises(dataclasses.FrozenInstanceError):
        statistics.tasks_waiting = 3


async def test_statistics_are_a_picture_of_their_moment(kind: Kind) -> None:
    primitive = kind.make()
    kind.occupy(primitive)
    async with trio.open_nursery() as nursery:
        picture = primitive.statistics()
        await waiting(kind, primitive, nursery)
        assert picture.tasks_waiting == 0
        kind.free(primitive)


def test_repr_names_the_class(kind: Kind) -> None:
    primitive = kind.make()
    assert repr(primitive).startswith(f"<{type(primitive).__name__} at 0x")


def test_a_name_is_shown_wherever_it_is_mentioned(kind: Kind) -> None:
    primitive = kind.make()
    assert primitive.name is None
    primitive.name = "the one"
    assert primitive.name == "the one"
    assert repr(primitive).startswith(f"<{type(primitive).__name__} 'the one' at 0x")
    primitive.name = None
    assert repr(primitive).startswith(f"<{type(primitive).__name__} at 0x")


def test_a_name_is_a_text(kind: Kind) -> None:
    primitive = kind.make()
    with pytest.raises(TypeError, match="name must be a str or None, not 3"):
        primitive.name = 3
    assert primitive.name is None


async def test_the_error_of_a_closed_one_has_its_name(kind: Kind) -> None:
    primitive = kind.make()
    primitive.name = "the one"
    primitive.close()
    with pytest.raises(trio.ClosedResourceError, match="'the one' was closed"):
        await kind.take(primitive)


def test_it_says_that_it_is_closed_and_not_that_it_is_broken(kind: Kind) -> None:
    primitive = kind.make()
    assert (primitive.closed, primitive.broken) == (False, False)
    primitive.close()
    assert (primitive.closed, primitive.broken) == (True, False)


def test_statistics_say_more_than_how_many_wait(kind: Kind) -> None:
    statistics = kind.make().statistics()
    assert dataclasses.is_dataclass(statistics)
    own = {field.name for field in dataclasses.fields(statistics)}
    assert "tasks_waiting" in own
    assert len(own) > 1 or not hasattr(kind.cls, "__final__"), "a user's class decides this itself"


async def test_repr_counts_the_waiters(kind: Kind) -> None:
    primitive = kind.make()
    kind.occupy(primitive)
    async with trio.open_nursery() as nursery:
        await waiting(kind, primitive, nursery)
        assert "1 waiting" in repr(primitive)
        kind.free(primitive)


async def test_repr_shows_the_state(lending: Kind) -> None:
    primitive = lending.make()
    before = repr(primitive)
    lending.take_nowait(primitive)
    assert repr(primitive) != before
    lending.give(primitive)
    assert repr(primitive) == before


def test_repr_shows_a_policy_other_than_the_default(kind: Kind) -> None:
    policy = kind.options.get("policy")
    assert ("policy=" in repr(kind.make())) == (policy is not None)
    if policy:
        assert f"policy={policy!r}" in repr(kind.make())


def test_repr_shows_that_it_is_closed(kind: Kind) -> None:
    primitive = kind.make()
    assert "closed" not in repr(primitive)
    primitive.close()
    assert "closed" in repr(primitive)


def test_it_can_be_referenced_weakly(kind: Kind) -> None:
    primitive = kind.make()
    reference = weakref.ref(primitive)
    assert reference() is primitive
    del primitive
    gc.collect()
    assert reference() is None


async def test_nothing_keeps_a_primitive_alive_that_was_used_and_is_idle(kind: Kind) -> None:
    primitive = kind.make()
    kind.occupy(primitive)
    async with trio.open_nursery() as nursery:
        await waiting(kind, primitive, nursery)
        kind.free(primitive)
    reference = weakref.ref(primitive)
    del primitive
    gc.collect()
    assert reference() is None


async def test_a_task_that_has_waited_is_not_taken_for_one_that_is_about_to_park(
    kind: Kind,
) -> None:
    """Nor kept alive by that."""
    primitive = kind.make()
    kind.occupy(primitive)
    async with trio.open_nursery() as nursery:
        await waiting(kind, primitive, nursery)
        kind.free(primitive)
    assert of_this_thread().parking is None


async def test_nor_is_one_whose_claim_was_refused(kind: Kind) -> None:
    primitive = kind.make()
    primitive.close()
    async with trio.open_nursery() as nursery:
        attempt = Attempt(kind, primitive)
        nursery.start_soon(attempt.run)
    assert attempt.outcome == "failed"
    assert of_this_thread().parking is None


async def test_nothing_keeps_a_primitive_alive_that_broke_its_waiters(kind: Kind) -> None:
    primitive = kind.make()
    async with trio.open_nursery() as nursery:
        kind.occupy(primitive)
        await waiting(kind, primitive, nursery)
        primitive.close()
        if kind.lends:
            kind.free(primitive)
    reference = weakref.ref(primitive)
    del primitive, nursery
    gc.collect()
    assert reference() is None


@pytest.mark.parametrize("double", [copy.copy, copy.deepcopy, pickle.dumps])
def test_doubling_is_refused_by_name(kind: Kind, double: Callable[[Any], Any]) -> None:
    primitive = kind.make()
    with pytest.raises(TypeError, match=f"{type(primitive).__name__} cannot be copied or pickled"):
        double(primitive)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_no_protocol_pickles_it(kind: Kind, protocol: int) -> None:
    with pytest.raises(TypeError, match="cannot be copied or pickled"):
        pickle.dumps(kind.make(), protocol)


def test_it_is_equal_to_itself_alone_and_hashable(kind: Kind) -> None:
    primitive = kind.make()
    assert len({primitive, primitive, kind.make()}) == 2


# A class of the user decides that itself.
@pytest.mark.parametrize("kind", kinds(lambda kind: hasattr(kind.cls, "__final__")))
def test_it_has_no_room_for_misspelt_attributes(kind: Kind) -> None:
    with pytest.raises(AttributeError):
        kind.make().valeu = 3


BASES = (Primitive, Monitor)  # meant to be subclassed

FINAL = [
    cls
    for name in PUBLIC
    if isinstance(cls := getattr(structsync, name), type)
    and issubclass(cls, Primitive)
    and cls not in BASES
]


@pytest.mark.parametrize("cls", FINAL)
def test_subclassing_is_refused_and_the_base_is_named(cls: type) -> None:
    with pytest.raises(TypeError, match=rf"{cls.__name__} is final.*structsync\.Primitive"):
        type("Mine", (cls,), {})


def test_every_primitive_is_covered_by_a_kind() -> None:
    assert {*FINAL, Monitor} <= {kind.cls for kind in KINDS}


def test_subclassing_primitive_is_allowed() -> None:
    class Mine(Primitive[int]):
        pass

    assert issubclass(Mine, Primitive)
