"""The block of a task that borrows an item of a pool."""

from __future__ import annotations

from types import CoroutineType
from typing import Any, Generic, NoReturn, TypeVar, cast, final

import trio
from trio.lowlevel import enable_ki_protection

from structsync._runtime import lending
from structsync._runtime.done import DONE, coroutine_function
from structsync._runtime.lending import Loan
from structsync._runtime.primitive import Primitive

T = TypeVar("T")


@final
class PoolItem(Generic[T]):
    """The block of a borrower, from :meth:`ResourcePool.item`; it yields the item."""

    __slots__ = ("_keeps", "_loan", "_pool")

    _pool: Primitive[Any]
    _keeps: bool
    _loan: Loan | None

    def __init__(self, pool: Primitive[Any], keeps: bool) -> None:
        self._pool = pool
        self._keeps = keeps
        self._loan = None

    def __init_subclass__(cls) -> NoReturn:
        raise TypeError("PoolItem is final; ResourcePool.item() makes them")

    @enable_ki_protection
    def __aenter__(self) -> CoroutineType[Any, Any, T]:
        return self._enter()

    @coroutine_function
    @enable_ki_protection
    async def _enter(self) -> T:
        if self._loan is not None:
            raise RuntimeError("this block was entered already; call item() for each block")
        self._loan = loan = Loan(trio.lowlevel.current_task())
        try:
            return cast(T, await lending.borrow(self._pool, loan))
        except BaseException:
            self._loan = None
            raise

    @enable_ki_protection
    def __aexit__(
        self, kind: object, error: object, traceback: object, /
    ) -> CoroutineType[Any, Any, None]:
        pool, loan = self._pool, self._loan
        if loan is None:
            raise RuntimeError(
                f"{self!r} is not entered; leave it once, by the task that entered it"
            )
        core = lending.of(pool)._core
        self._loan = None
        if error is not None and not self._keeps:
            core.discard(loan)
        lending.leave(pool, loan)
        if core.has_stale(lending.time_of(pool)):
            return lending.close_stale(pool)
        return DONE

    def __repr__(self) -> str:
        state = "" if self._loan is None else ", entered"
        return f"<PoolItem of {self._pool!r}{state}>"
