"""C4 for every primitive, at every instruction: an interrupt loses nothing.

The sweeps run one small program again and again, with SIGINT at another instruction each time: where it may
make a difference, and nightly at each. After each run the primitive must be whole: as free as before, and usable.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest
import trio
import trio.testing

from structsync import Semaphore, observe, open_scope
from structsync._runtime import live

from .kinds import KINDS, Kind, OfGroup, OfResourcePool
from .striking import Interrupts

# Struck between making a coroutine and awaiting it: Python then says so, and nothing is taken.
pytestmark = pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")

# One for each way through the shell; the others differ in the core, where nothing can be struck.
SWEPT = [
    "semaphore",
    "priority semaphore",
    "three permits",
    "lock",
    "budget lock",
    "all of a group",
    "any of a group",
    "condition",
    "wait queue",
    "parker",
    "rate limiter",
    "limiter",
    "user-written bridge",
    "buffer, getting",
    "buffer, putting",
    "buffer, in batches",
    "buffer, item in hand",
    "resource pool",
]
KIND_OF = {kind.name: kind for kind in KINDS}


def kinds(chosen: Callable[[Kind], bool]) -> list[str]:
    return [name for name in SWEPT if chosen(KIND_OF[name])]


async def usable(kind: Kind, primitive: Any) -> None:
    """Check that a take passes: at once, or with a helper where a kind needs one."""
    with trio.fail_after(1):
        async with trio.open_nursery() as nursery:
            kind.prepare(primitive)
            nursery.start_soon(take_and_give, kind, primitive)
            if not kind.passes:
                await trio.testing.wait_all_tasks_blocked()
                kind.free(primitive)


async def take_and_give(kind: Kind, primitive: Any) -> None:
    await kind.take(primitive)
    kind.give(primitive)


def assert_whole(kind: Kind, primitive: Any, before: object) -> None:
    assert primitive.statistics().tasks_waiting == 0
    if kind.lends:
        assert kind.state(primitive) == before
    else:  # an unblock that no task used is rightly still there
        trio.run(usable, kind, primitive, clock=trio.testing.MockClock(autojump_threshold=0))


def sweep_program(
    kind: Kind, main: Callable[[Any], Awaitable[None]], interrupted: Interrupts
) -> int:
    """Interrupt main(primitive) at every instruction; the primitive is whole afterwards."""

    def program(k: int) -> list[str]:
        primitive = kind.make()
        before = kind.state(primitive)
        struck = interrupted(lambda: main(primitive), k)
        try:
            assert_whole(kind, primitive, before)
        except BaseException as error:
            error.add_note(f"struck in {struck}")
            raise
        return struck

    return interrupted.sweep(program)


@pytest.mark.parametrize("name", kinds(lambda kind: kind.passes))
def test_an_interrupt_at_any_instruction_of_a_free_take_loses_nothing(
    name: str, interrupted: Interrupts
) -> None:
    passing = KIND_OF[name]

    async def main(primitive: Any) -> None:
        passing.prepare(primitive)
        await passing.take(primitive)
        try:
            await trio.lowlevel.checkpoint()
        finally:
            passing.give(primitive)

    assert sweep_program(passing, main, interrupted) > 50


def test_a_take_that_may_be_interrupted_after_it_has_taken_is_found(
    interrupted: Interrupts,
) -> None:
    kind = KIND_OF["semaphore"]

    @trio.lowlevel.enable_ki_protection
    async def main(primitive: Any) -> None:
        primitive.acquire_nowait()
        await trio.lowlevel.checkpoint_if_cancelled()
        primitive.release()

    with pytest.raises(AssertionError) as caught:
        sweep_program(kind, main, interrupted)
    assert "Semaphore.acquire_nowait" in str(caught.value.__notes__)


async def occupant(kind: Kind, primitive: Any, task_status: Any) -> None:
    kind.occupy(primitive)
    try:
        task_status.started()
        await trio.testing.wait_all_tasks_blocked()
    finally:
        if kind.lends:
            kind.free(primitive)
    if not kind.lends:
        kind.free(primitive)


@pytest.mark.parametrize("name", SWEPT)
def test_an_interrupt_at_any_instruction_of_a_busy_take_loses_nothing(
    name: str, interrupted: Interrupts
) -> None:
    kind = KIND_OF[name]

    async def main(primitive: Any) -> None:
        async with trio.open_nursery() as nursery:
            await nursery.start(occupant, kind, primitive)
            await kind.take(primitive)
            try:
                await trio.lowlevel.checkpoint()
            finally:
                kind.give(primitive)

    assert sweep_program(kind, main, interrupted) > 50


async def takes_in_a_block(kind: Kind, primitive: Any) -> None:
    block = primitive.permits(3) if kind.name == "three permits" else primitive
    if isinstance(kind, OfGroup):
        block = kind.block(primitive)
    if isinstance(kind, OfResourcePool):
        block = primitive.item(keep_on_error=True)
    async with block:
        await trio.lowlevel.checkpoint()


BLOCKS = kinds(lambda kind: hasattr(kind.cls, "__aenter__"))


@pytest.mark.parametrize("name", BLOCKS)
def test_an_interrupt_at_any_instruction_of_an_async_with_block_loses_nothing(
    name: str, interrupted: Interrupts
) -> None:
    kind = KIND_OF[name]
    assert sweep_program(kind, partial(takes_in_a_block, kind), interrupted) > 50


#: The others wait for several things, or for an item, as a take of theirs does.
OF_ONE = kinds(
    lambda kind: hasattr(kind.cls, "__aenter__") and not isinstance(kind, OfGroup | OfResourcePool)
)


@pytest.mark.parametrize("name", OF_ONE)
def test_an_interrupt_at_any_instruction_of_a_block_that_has_to_wait_loses_nothing(
    name: str, interrupted: Interrupts
) -> None:
    kind = KIND_OF[name]

    async def main(primitive: Any) -> None:
        async with trio.open_nursery() as nursery:
            await nursery.start(occupant, kind, primitive)
            await takes_in_a_block(kind, primitive)

    assert sweep_program(kind, main, interrupted) > 50


def test_an_interrupt_at_any_instruction_of_a_scope_leaves_nothing_half_owned(
    interrupted: Interrupts,
) -> None:
    def program(k: int) -> list[str]:
        primitive, owned = Semaphore(1), []

        async def main() -> None:
            async with open_scope() as scope:
                owned.append(scope.own(primitive))
                await trio.lowlevel.checkpoint()

        async def own_again() -> None:
            async with open_scope() as scope:
                scope.own(primitive)

        struck = interrupted(main, k)
        if owned:
            assert "closed" in repr(primitive), struck
        if "closed" not in repr(primitive):
            trio.run(own_again)
        return struck

    assert interrupted.sweep(program) > 50


def test_an_interrupt_at_any_instruction_of_observe_leaves_no_observer_behind(
    interrupted: Interrupts,
) -> None:
    def program(k: int) -> list[str]:
        async def main() -> None:
            with observe(lambda event: None):
                Semaphore(1).acquire_nowait()

        struck = interrupted(main, k)
        assert live.everywhere == [], struck
        return struck

    assert interrupted.sweep(program) > 50
