"""The results of a pool's ``map``: taken ahead of the loop over them, and no further."""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar, cast, final

from trio.lowlevel import checkpoint, enable_ki_protection

from structsync._runtime.arguments import check_count

from .pool_base import Pool
from .result_streams import AsyncStream, Stream, Submit, SyncStream

if TYPE_CHECKING:
    from typing import Self

T = TypeVar("T")


@final
class Results(Generic[T]):
    """The results of the jobs of ``map``, one after the other; made by ``map`` of a pool.

    An async iterator for one task. Leaving the loop early cancels the remaining jobs, at once if nothing
    else refers to this object; ``await results.aclose()``, or :func:`contextlib.aclosing`, does so in any
    case.
    """

    __slots__ = ("__weakref__", "_stream")

    def __init__(
        self,
        pool: Pool,
        submit: Submit,
        items: Iterable[Any] | AsyncIterable[Any],
        ordered: bool,
        ahead: int | None,
    ) -> None:
        if ahead is None:
            ahead = 2 * pool._core.workers
        check_count(ahead, "ahead")
        if isinstance(items, AsyncIterable):
            self._stream: Stream = AsyncStream(pool, submit, ordered, ahead, aiter(items))
        else:
            self._stream = SyncStream(pool, submit, ordered, ahead, iter(items))

    def __aiter__(self) -> Self:
        return self

    @enable_ki_protection
    async def __anext__(self) -> T:
        """Return the next result.

        Cancellation: nothing is lost, the next call returns it.

        Raises:
          BaseException: what a job or the source of the items raises; instead of a ``StopAsyncIteration``
              of one of these, a RuntimeError.
          JobCancelled: if the pool is cancelled.
          StopAsyncIteration: if there is none left, or this was closed.
          trio.BusyResourceError: if another task waits for the next result.
          RuntimeError: if a job of this pool calls: it would wait for itself.
        """
        return cast(T, await self._stream.next())

    @enable_ki_protection
    async def aclose(self) -> None:
        """Cancel the remaining jobs, and take no more items. Idempotent.

        Raises:
          RuntimeError: from another run.
        """
        self._stream.close()
        await checkpoint()

    @enable_ki_protection
    def __del__(self) -> None:
        with suppress(AttributeError):  # of one whose arguments were refused
            self._stream.abandon()

    def __init_subclass__(cls) -> NoReturn:
        raise TypeError("Results is final; only a pool's map() makes them")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("Results cannot be copied or pickled: their jobs belong to one pool")
