"""A monitor's own attributes: those that a primitive says of itself cannot be taken by them."""

from __future__ import annotations

from typing import Any

import pytest

from structsync import Monitor, Semaphore


class Door(Monitor):
    def __init__(self, name: str) -> None:
        super().__init__()
        setattr(self, name, True)


@pytest.mark.parametrize("name", ["closed", "broken"])
def test_assigning_what_a_monitor_says_of_itself_is_refused_with_another_name(name: str) -> None:
    message = rf"Door\.{name} cannot be assigned: .* own_{name} for example"
    with pytest.raises(AttributeError, match=message):
        Door(name)


@pytest.mark.parametrize("name", ["closed", "broken"])
@pytest.mark.parametrize("annotated", [False, True])
def test_declaring_it_is_refused_when_the_class_is_made(name: str, annotated: bool) -> None:
    message = rf"Shop\.{name} must have another name: .* whether the monitor itself is {name}"
    with pytest.raises(TypeError, match=message):
        type(
            "Shop", (Monitor,), {"__annotations__": {name: "bool"}} if annotated else {name: False}
        )


def test_a_property_that_says_more_is_a_class_of_its_own_business() -> None:
    class Shop(Monitor):
        @property
        def closed(self) -> bool:
            return True

    assert Shop().closed
    assert not Shop().broken


def test_every_primitive_says_so() -> None:
    semaphore: Any = Semaphore(1)
    with pytest.raises(AttributeError, match=r"Semaphore\.closed cannot be assigned"):
        semaphore.closed = True
    semaphore.close()
    assert semaphore.closed
