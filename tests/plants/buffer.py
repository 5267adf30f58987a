"""Faults of buffers."""

from __future__ import annotations

from typing import Any

import pytest
from trio.lowlevel import Abort

from structsync._core.primitives.buffer import NO_ROOM, BufferCore
from structsync._core.primitives.sides import Lend
from structsync._core.queue.arbiter import NOT_ADMITTED
from structsync._core.queue.request import BROKEN, Request
from structsync._primitives.buffer_item import BufferItem
from structsync._runtime import cancelling, items
from structsync._runtime.done import DONE
from structsync.specs import buffer_faults, lent_items_faults

from ._reuse import plant


def the_item_of_a_cancelled_task_is_lost(patch: pytest.MonkeyPatch) -> None:
    """P16: what was handed over to a task that is cancelled then is no task's."""
    intact = cancelling.abort

    def abort(request: Request[Any], raise_cancel: Any) -> Abort:
        found = intact(request, raise_cancel)
        core = request.primitive._core
        if found is Abort.SUCCEEDED and isinstance(core, BufferCore) and core.items:
            core.items.take()
        return found

    patch.setattr(cancelling, "abort", abort)


def an_item_is_handed_out_twice(patch: pytest.MonkeyPatch) -> None:
    intact = BufferCore.grant

    def grant(self: BufferCore, request: Request[Any], handed: Any = NOT_ADMITTED) -> Any:
        gets = type(request.claim) is not tuple
        handed = intact(self, request, handed)
        if gets and len(self.items) < self.max_items:
            self.items.append(request.claim)
        return handed

    patch.setattr(BufferCore, "grant", grant)


def a_put_is_not_told_to_those_that_get(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(items, "tell_others", lambda *_: None)


def half_of_a_put_is_put(patch: pytest.MonkeyPatch) -> None:
    """As many as there is room for now; the others are forgotten."""
    intact = BufferCore.exchange

    def exchange(self: BufferCore, claim: Any, ahead: Request[Any] | None, takes: bool) -> Any:
        if type(claim) is tuple:
            claim = claim[: max(1, int(self.max_items) - len(self.items))]
        return intact(self, claim, ahead, takes)

    patch.setattr(BufferCore, "exchange", exchange)


def the_end_of_a_window_takes_nothing(patch: pytest.MonkeyPatch) -> None:
    plant(patch, BufferCore, buffer_faults.TheEndOfAWindowIsIgnored)


def a_task_that_waits_for_more_is_not_told_of_the_end(patch: pytest.MonkeyPatch) -> None:
    def complete(self: BufferCore, *causes: Any) -> list[Request[Any]]:
        self.completed, self.room = (causes[0], causes[1]), NO_ROOM
        return []

    patch.setattr(BufferCore, "complete", complete)


def what_comes_back_wakes_no_task(patch: pytest.MonkeyPatch) -> None:
    plant(patch, BufferCore, lent_items_faults.WhatComesBackWakesNoTask)


def what_comes_back_goes_to_the_end(patch: pytest.MonkeyPatch) -> None:
    plant(patch, BufferCore, lent_items_faults.WhatComesBackGoesToTheEnd)


def what_fails_is_lost(patch: pytest.MonkeyPatch) -> None:
    plant(patch, BufferCore, lent_items_faults.WhatFailsIsLost)


def a_block_that_is_stopped_keeps_its_item(patch: pytest.MonkeyPatch) -> None:
    """Neither used up nor put back: it is in hand forever."""
    intact = BufferItem.__aexit__

    def leave(self: BufferItem[Any], kind: object, error: object, traceback: object, /) -> Any:
        return intact(self, kind, error, traceback) if error is None else DONE

    patch.setattr(BufferItem, "__aexit__", leave)


def the_end_is_told_while_an_item_is_in_hand(patch: pytest.MonkeyPatch) -> None:
    intact = BufferCore.complete

    def complete(self: BufferCore, for_puts: Any, for_gets: Any) -> list[Request[Any]]:
        ended = intact(self, for_puts, for_gets)
        return [*ended, *[self.end_with(one, BROKEN, for_gets) for one in [*self.queue.gets]]]

    patch.setattr(BufferCore, "complete", complete)


def an_item_in_hand_leaves_its_room(patch: pytest.MonkeyPatch) -> None:
    intact = BufferCore.lend

    def lend(self: BufferCore, claim: Lend) -> Lend:
        intact(self, claim)
        self.room += 1
        return claim

    patch.setattr(BufferCore, "lend", lend)
