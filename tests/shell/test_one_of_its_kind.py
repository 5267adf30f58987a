"""What stands for a place, a grant or a task is one object: it is not copied, and there is no other kind of it.

For the primitives themselves see ``every_primitive/test_objects``.
"""

from __future__ import annotations

import copy
import enum
import inspect
import pickle
from collections.abc import Callable
from contextlib import AsyncExitStack

import pytest

import structsync
from structsync import (
    Broadcast,
    Lock,
    LockMap,
    Monitor,
    Primitive,
    Semaphore,
    Synchronizer,
    acquire_all,
    acquire_any,
    open_channel,
    open_pool,
    open_scope,
    open_thread_pool,
)
from tests.public_names import PUBLIC


async def nothing(*_: object) -> None:
    """Be a job."""


async def all_of_them(stack: AsyncExitStack) -> list[object]:
    """Return one object of each kind."""
    claim = Semaphore(9).claim()
    pool = await stack.enter_async_context(open_pool(1))
    return [
        acquire_all(Lock().claim()),
        acquire_any(Lock().claim()),
        Semaphore(1).request(),
        stack.enter_context(acquire_any(claim).request()),
        await stack.enter_async_context(acquire_all(claim)),
        LockMap[str](),
        Monitor().entry(lambda: None),
        Synchronizer(),
        Broadcast[int](1),
        Broadcast[int](1).subscribe(),
        *open_channel(1),
        await stack.enter_async_context(open_scope()),
        await stack.enter_async_context(open_thread_pool(1)),
        pool,
        pool.submit_nowait(nothing),
        pool.map(nothing, []),
    ]


def is_one(kind: object) -> bool:
    """Whether it is a class whose objects are not copied, of those that are no primitives."""
    return (
        inspect.isclass(kind)
        and not issubclass(kind, Primitive | enum.Enum)
        and kind.__reduce_ex__ is not object.__reduce_ex__
    )


KINDS = {name: kind for name in PUBLIC if is_one(kind := getattr(structsync, name))}


@pytest.mark.parametrize("double", [copy.copy, copy.deepcopy, pickle.dumps])
async def test_it_cannot_be_doubled(double: Callable[[object], object]) -> None:
    async with AsyncExitStack() as stack:
        objects = await all_of_them(stack)
        for one in objects:
            with pytest.raises(TypeError, match=r"cannot be copied or pickled|clone\(\) it"):
                double(one)
    assert KINDS.keys() - {type(one).__name__ for one in objects} == set()


#: Their constructors do not say that they are private, so that a subclass does no harm.
MAY_BE_EXTENDED = {"SendingEnd", "ReceivingEnd"}


@pytest.mark.parametrize("name", sorted({*KINDS, "Claim", "Changes"} - MAY_BE_EXTENDED))
def test_it_cannot_be_subclassed(name: str) -> None:
    # the blocks of groups say it together
    with pytest.raises(TypeError, match=f"{name} is final|blocks of acquire_all and acquire_any"):
        type("Mine", (getattr(structsync, name),), {"__module__": "mine"})
