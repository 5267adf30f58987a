"""Does a program have sets of texts? Their order is another one in each process."""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from structsync.testing._execution import frames
from structsync.testing._execution.under_test import is_under_test

from .choosers import Replay

if TYPE_CHECKING:
    from structsync.testing._execution.execution import Execution
    from structsync.testing._execution.schedule import Choice, Schedule


class TextsReplay(Replay):
    """Makes the steps of a schedule again, and sees whether code or variables have a set of texts."""

    def __init__(self, schedule: Schedule) -> None:
        super().__init__(schedule)
        self.has_texts = False

    def choose(self, execution: Execution, options: tuple[Choice, ...]) -> Choice | None:
        if not self.has_texts:
            self.has_texts = any(map(_is_of_texts, _values(execution)))
        return super().choose(execution, options)


def _values(execution: Execution) -> Iterator[Any]:
    """Yield what the frames of the program can use by one name."""
    for task in execution.names.of:
        if execution.is_alive(task):
            for frame in frames.frames_of(execution.coroutine_of(task)):
                if is_under_test(frame.f_globals.get("__name__", "")):
                    yield from frame.f_locals.values()
                    yield from _of_code(frame.f_code, frame.f_globals)


def _of_code(code: types.CodeType, variables: dict[str, Any]) -> Iterator[Any]:
    yield from (variables[name] for name in code.co_names if name in variables)
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            yield from _of_code(one, variables)
        elif isinstance(one, frozenset):  # of a set that is gone through where it stands
            yield one


def _is_of_texts(thing: Any) -> bool:
    if isinstance(thing, set | frozenset):
        return len(thing) > 1 and _any_text(thing)
    return False


def _any_text(things: Iterable[Any]) -> bool:
    return any(isinstance(one, str | bytes) for one in things)
