"""The pictures of a request's life say what the cores do, and change when the cores change."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import pytest

from structsync import Status
from structsync._core.primitives.condition import ConditionCore
from structsync._core.primitives.semaphore import SemaphoreCore
from structsync._core.queue.request import Request

EXT = Path(__file__).parents[2] / "docs" / "ext"


@pytest.fixture
def lives(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The module that plays the cores; Sphinx has docs/ext on its path, the tests have not."""
    monkeypatch.syspath_prepend(EXT)
    yield importlib.import_module("lives")
    for name in ("lives", "drawing"):
        sys.modules.pop(name, None)


@pytest.fixture
def drawing(lives: ModuleType) -> ModuleType:
    return importlib.import_module("drawing")


def test_the_picture_shows_every_status(lives: ModuleType) -> None:
    assert {stage for edge in lives.edges(lives.REQUEST) for stage in edge} == {None, *Status}


def test_nothing_leads_out_of_an_ended_request(lives: ModuleType) -> None:
    assert {source for source, _ in lives.edges(lives.REQUEST)} == {None, Status.PENDING}


def test_a_request_that_ends_twice_shows_in_the_picture(
    lives: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    def withdraw(core: SemaphoreCore, request: Request[int]) -> list[Request[int]]:
        core.leave(request)
        request.status = Status.WITHDRAWN
        return core.settle()

    monkeypatch.setattr(SemaphoreCore, "withdraw", withdraw)
    assert (Status.GRANTED, Status.WITHDRAWN) in lives.edges(lives.REQUEST)


def test_a_withdrawal_that_lets_no_task_in_changes_the_picture(
    lives: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    def withdraw(core: SemaphoreCore, request: Request[int]) -> list[Request[int]]:
        core.leave(request)
        request.status = Status.WITHDRAWN
        return []

    ways_in = lives.edges(lives.REQUEST)[Status.PENDING, Status.GRANTED]
    monkeypatch.setattr(SemaphoreCore, "withdraw", withdraw)
    fewer = lives.edges(lives.REQUEST)[Status.PENDING, Status.GRANTED]
    assert {*ways_in} - {*fewer} == {"a larger claim ahead withdraws"}


def test_a_cancelled_notified_waiter_hands_its_notification_on(lives: ModuleType) -> None:
    ways = lives.edges(lives.CONDITION)["waiting", "notified"]
    assert ways == ["notify()", "a notified one ahead is cancelled"]


def test_a_lost_notification_changes_the_picture(
    lives: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop_waiting(core: ConditionCore, request: Request[Any]) -> bool:
        return core.leave(request) or core.lock.leave(request)

    monkeypatch.setattr(ConditionCore, "_stop_waiting", stop_waiting)
    assert lives.edges(lives.CONDITION)["waiting", "notified"] == ["notify()"]


@pytest.mark.parametrize("name", ["REQUEST", "CONDITION"])
def test_a_picture_shows_every_stage_and_every_word(
    lives: ModuleType, drawing: ModuleType, name: str
) -> None:
    edges = lives.edges(getattr(lives, name))
    svg = ElementTree.fromstring(drawing.Drawing(name, edges).svg())
    shown = {text.text for text in svg.iter("text")}
    assert shown == {
        *(stage for edge in edges for stage in edge if stage),
        *(line for words in edges.values() for line in words),
    }


@pytest.mark.parametrize("name", ["REQUEST", "CONDITION"])
def test_no_two_stages_of_a_picture_cover_each_other(
    lives: ModuleType, drawing: ModuleType, name: str
) -> None:
    edges = lives.edges(getattr(lives, name))
    svg = ElementTree.fromstring(drawing.Drawing(name, edges).svg())
    boxes = [
        {key: float(box.get(key, "0")) for key in ("x", "y", "width", "height")}
        for box in svg.iter("rect")
    ]
    for number, one in enumerate(boxes):
        for other in boxes[:number]:
            beside = abs(one["x"] - other["x"]) >= one["width"]
            upper, lower = sorted((one, other), key=lambda box: box["y"])
            assert beside or upper["y"] + upper["height"] <= lower["y"]
