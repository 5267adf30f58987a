"""What a thread may ask its deputy for: to call a function, to enter a block, to leave it."""

from __future__ import annotations

import contextvars
import inspect
import math
import threading
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any

import outcome
import trio
from trio.lowlevel import TrioToken, current_trio_token, disable_ki_protection

from .deputy import Deputy, ForDeputy, Scope, run_finished
from .errand import in_trio_run


class Call(ForDeputy):
    """To call an async function."""

    __slots__ = ("_args", "_fn")
    _args: tuple[Any, ...]
    _fn: Callable[..., Awaitable[Any]]

    def __init__(
        self, fn: Callable[..., Awaitable[Any]], args: tuple[Any, ...], timeout: float | None
    ) -> None:
        super().__init__(timeout)
        self._fn, self._args = fn, args

    def __repr__(self) -> str:
        return f"the call of {self._fn!r}"

    async def do(self, deputy: Deputy) -> None:
        answer: outcome.Outcome[Any] | None = None
        try:
            with Scope(deputy) as scope:
                self.do_in(scope)
                answer = outcome.Value(await self._call())
        except BaseException as error:  # noqa: BLE001 - the thread raises it
            answer = outcome.Error(error)
        deputy.finish(self, answer)

    @disable_ki_protection  # the user's own code may be interrupted
    async def _call(self) -> Any:
        awaitable = self._fn(*self._args)
        if not inspect.isawaitable(awaitable):
            raise TypeError(
                f"call() calls async functions, and {self._fn!r} is not one: call it inside of one, or "
                "by trio.from_thread.run_sync()"
            )
        return await awaitable

    def undo(self, value: Any, interrupt: BaseException) -> None:
        interrupt.add_note(f"{self!r} had ended when this came; its result is dropped: {value!r}")


class Block:
    """A block of an async context manager, which a thread is in.

    Attributes:
      leaving: the errand to leave it, once that is done or to be done.
      deputy, token: the task that holds it, and in which run, once it is entered.
      context: in which it is entered, and left: a context variable that it sets is reset there.
    """

    __slots__ = ("_hosted", "_thread", "context", "deputy", "leaving", "manager", "token")
    context: contextvars.Context
    manager: AbstractAsyncContextManager[Any, Any]
    leaving: Leave | None
    deputy: Deputy | None
    token: TrioToken | None
    _hosted: bool
    _thread: int

    def __init__(
        self, manager: AbstractAsyncContextManager[Any, Any], token: TrioToken | None
    ) -> None:
        self.manager = manager
        self.leaving = None
        self.deputy = None
        self.token = token
        self._hosted = token is None
        self._thread = threading.get_ident()

    def enter(self, timeout: float | None) -> Any:
        """Enter it; in the thread."""
        return Enter(self, timeout).ask(self.token)

    def leave(self, error: BaseException | None) -> bool:
        """Leave it; in the thread, or wherever the thread's frame is finalized.

        Returns whether the context manager suppresses the error.
        """
        leave = Leave(self, error)
        if in_trio_run():  # a finalizer in the thread of a run, which must not block
            leave.post()
            return False
        hosted = self._hosted and self._thread == threading.get_ident()
        try:
            return bool(leave.ask(None if hosted else self.token))
        except trio.RunFinishedError:
            if error is None:
                raise run_finished() from None
        except BaseException as raised:
            if raised is not error:
                raise
        return False  # the error of the body goes on

    def leave_if_lost(self) -> None:
        """Have it left, if it is entered and that has not been asked for yet; from anywhere."""
        if self.deputy is not None and self.leaving is None:
            Leave(self, None).post()

    def entered_by(self, deputy: Deputy) -> None:
        """Note the task that holds it for the thread."""
        self.token, self.deputy = current_trio_token(), deputy
        deputy.blocks.append(self)


class Enter(ForDeputy):
    """To enter a block, and to keep it until it is left."""

    __slots__ = ("_block",)
    _block: Block

    def __init__(self, block: Block, timeout: float | None) -> None:
        super().__init__(timeout)
        self._block = block
        block.context = self.context

    def __repr__(self) -> str:
        return f"the wait for {self._block.manager!r}"

    async def do(self, deputy: Deputy) -> None:
        errand: Enter | Leave = self
        answer: outcome.Outcome[Any] | None = None
        try:
            with Scope(deputy) as scope:
                self.do_in(scope)
                manager = self._block.manager
                value = await type(manager).__aenter__(manager)
                scope.deadline = math.inf
                self._block.entered_by(deputy)
                self.answer(outcome.Value(value))
                try:
                    errand = await self._until_left(deputy)
                    errand.do_in(scope)
                    error = errand.error
                except trio.RunFinishedError as ended:
                    error = ended
                try:
                    answer = outcome.Value(await _exit(manager, error))
                finally:
                    deputy.blocks.remove(self._block)
        except BaseException as raised:  # noqa: BLE001 - the thread raises it
            answer = outcome.Error(raised)
        deputy.finish(errand, answer)

    async def _until_left(self, deputy: Deputy) -> Leave:
        while self._block.leaving is None:
            errand = await deputy.next_errand()
            await errand.do(deputy)
        return self._block.leaving

    def undo(self, value: Any, interrupt: BaseException) -> None:
        with suppress(BaseException):  # what the thread raises is the interrupt
            self._block.leave(interrupt)


class Leave(ForDeputy):
    """To leave a block, which is done whatever interrupts the wait for it."""

    __slots__ = ("_block", "error")
    _block: Block
    context: contextvars.Context
    error: BaseException | None

    def __init__(self, block: Block, error: BaseException | None) -> None:
        super().__init__(must=True)
        self._block = block
        self.context = block.context
        self.error = error

    def __repr__(self) -> str:
        return f"leaving the block of {self._block.manager!r}"

    def post(self) -> None:
        """Have it done, without waiting for it."""
        assert self._block.token is not None
        with suppress(trio.RunFinishedError):
            self._block.token.run_sync_soon(self.accept)

    def accept(self) -> None:
        block = self._block
        if block.token is not current_trio_token():
            # The frame of a worker thread's job outlived it, and the thread is in another run now.
            Leave(block, self.error).post()
            self.answer(outcome.Value(False))
        elif block.deputy is None or block not in block.deputy.blocks:
            # Left before, perhaps after it was asked for too early: else the end of the run has left it.
            is_left = block.leaving is not None
            self.answer(outcome.Value(False) if is_left else outcome.Error(run_finished()))
        else:
            block.deputy.give(self)

    async def do(self, deputy: Deputy) -> None:
        if self._block.leaving is not None:
            self.answer(outcome.Value(False))
            return
        self._block.leaving = self
        if deputy.blocks[-1] is not self._block:
            self.answer(
                outcome.Error(
                    RuntimeError(
                        f"{self!r} has to wait for the blocks that this thread entered later and is in: "
                        "leave them first"
                    )
                )
            )

    def undo(self, value: Any, interrupt: BaseException) -> None:
        """It is what was wanted."""


async def _exit(
    manager: AbstractAsyncContextManager[Any, Any], error: BaseException | None
) -> bool:
    traceback = None if error is None else error.__traceback__
    kind = None if error is None else type(error)
    return bool(await type(manager).__aexit__(manager, kind, error, traceback))
