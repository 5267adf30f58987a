"""Faults of what becomes of the answers of user code, each for one claim."""

from __future__ import annotations

from types import CoroutineType

from structsync._core.monitors import entry
from structsync._core.monitors.entry import Guard, Invocation

from ._planting import fault


@fault(Guard, "holds", refuted_by="guards.a_guard_holds_where_its_answer_is_true")
def a_coroutine_is_true(guard: Guard, invocation: Invocation) -> bool:
    return bool(guard.function(invocation) if guard.reads_request else guard.function())


@fault(entry, "refuse_coroutine", refuted_by="guards.a_trigger_is_run_and_not_awaited")
def whatever_a_trigger_returns_is_ignored(answer: object, what: str) -> None:
    if isinstance(answer, CoroutineType):
        answer.close()


@fault(Invocation, "__repr__", refuted_by="guards.a_call_says_what_was_called")
def the_words_are_left_out(call: Invocation) -> str:
    return f"<call {call.entry.name}({', '.join(map(repr, call.args))}) of {call.task!r}>"
