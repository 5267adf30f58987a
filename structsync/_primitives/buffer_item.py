"""An item of a buffer in hand: used up if the block ends well, and put back where it was if not."""

from __future__ import annotations

from types import CoroutineType
from typing import Any, Generic, NoReturn, TypeVar, cast, final

from trio.lowlevel import current_task, enable_ki_protection

from structsync._core.primitives.sides import Lend
from structsync._runtime import items, releasing
from structsync._runtime.done import DONE, coroutine_function
from structsync._runtime.items_in_hand import put_back
from structsync._runtime.primitive import Primitive

T = TypeVar("T")


@final
class BufferItem(Generic[T]):
    """The block of a task that works on an item, from :meth:`Buffer.item`; it yields the item.

    ::

        with contextlib.suppress(trio.EndOfChannel):
            while True:
                async with jobs.item() as job:
                    await carry_out(job)

    A block that ends with an error or a cancellation puts its item back at its old position, ahead of every
    item that would have come out after it. Otherwise the item is used up. So no job is lost, whatever stops
    its worker.

    An item in hand keeps its room, so that it can always be put back; a buffer for ``n`` items lends ``n``
    at most. After :meth:`Buffer.complete` an item may still be put back, so a get raises
    :exc:`trio.EndOfChannel` only when no item is left or in hand. After :meth:`Buffer.close` the block
    continues, and at its end the item is dropped.

    An item whose block fails every time is put back again and again. To drop it, catch the error inside the
    block.
    """

    __slots__ = ("_buffer", "_claim")
    _buffer: Primitive[Any]
    _claim: Lend | None

    def __init__(self, buffer: Primitive[Any]) -> None:
        self._buffer = buffer
        self._claim = None

    def __init_subclass__(cls) -> NoReturn:
        raise TypeError("BufferItem is final; Buffer.item() makes them")

    @enable_ki_protection
    def __aenter__(self) -> CoroutineType[Any, Any, T]:
        return self._enter()

    @coroutine_function
    @enable_ki_protection
    async def _enter(self) -> T:
        if self._claim is not None:
            raise RuntimeError("this block was entered already; call item() for each block")
        self._claim = claim = Lend(current_task())
        core: Any = self._buffer._core
        try:
            await items.exchange(self._buffer, claim, core.queue.gets)
        except BaseException:
            self._claim = None
            raise
        return cast(T, core.item_of(claim))

    @enable_ki_protection
    def __aexit__(
        self, kind: object, error: object, traceback: object, /
    ) -> CoroutineType[Any, Any, None]:
        claim = self._claim
        if claim is None:
            raise RuntimeError(
                f"{self!r} is not entered; leave it once, by the task that entered it"
            )
        self._claim = None
        if error is None:
            releasing.release(self._buffer, claim)
        else:
            put_back(self._buffer, claim)
        return DONE

    def __repr__(self) -> str:
        state = "" if self._claim is None else ", entered"
        return f"<BufferItem of {self._buffer!r}{state}>"
