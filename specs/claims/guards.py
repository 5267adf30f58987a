"""A guard holds or does not, by what it returns; what the code of a user raises ends one call; nothing is awaited."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from structsync._core.monitors.entry import EntryCore, Guard, Invocation, Trigger
from structsync._core.queue.user_code import UserCodeFailed


def coroutine() -> Any:
    async def function() -> None: ...

    made = function()
    made.close()  # a path that ends before the core does so would leave a warning behind
    return made


def answer_of(kind: int) -> Any:
    """Return one of the answers that a function may give, or raise."""
    if kind == 6:
        raise LookupError("of the user")
    if kind == 7:
        return coroutine()
    return (True, False, None, 0, 1, "yes")[kind]


def function_of(kind: int, given: list[Any]) -> Callable[..., Any]:
    """Return a function of a user's; what it is given, and a coroutine that it returns, is kept."""

    def function(*call: Invocation) -> Any:
        given.extend(call)
        answer = answer_of(kind)
        if kind == 7:
            given.append(answer)
        return answer

    return function


def is_of(error: BaseException | None, kind: int, what: str) -> bool:
    """Return whether the error is that of the answer: the user's own, or of what is no sync function."""
    if kind < 6:
        return error is None
    if kind == 6:
        return isinstance(error, LookupError)
    return isinstance(error, TypeError) and str(error).startswith(f"a {what} must be a sync")


def a_guard_holds_where_its_answer_is_true(kind: int, reads_request: bool) -> None:
    assert 0 <= kind <= 7
    given: list[Any] = []
    guard = Guard(function_of(kind, given), reads_request=reads_request)
    call = Invocation(EntryCore("entry", guard), "task", (1,), {"key": 2})
    error: BaseException | None = None
    try:
        holds = call.entry.permits(call)
    except UserCodeFailed as failed:
        error = failed.error
        assert kind >= 6
    else:
        assert kind < 6
        assert holds is (kind in (0, 4, 5))
    assert is_of(error, kind, "guard")
    assert given[:1] == [call] or not reads_request
    assert len(given) == reads_request + (kind == 7)
    assert call.entry.reads_request == reads_request


def a_trigger_is_run_and_not_awaited(kind: int, reads_request: bool) -> None:
    assert 0 <= kind <= 7
    given: list[Any] = []
    call = Invocation(EntryCore("entry"), "task")
    error: BaseException | None = None
    try:
        Trigger(function_of(kind, given), reads_request=reads_request).run(call)
    except UserCodeFailed as failed:
        error = failed.error
        assert kind >= 6
    else:
        assert kind < 6
    assert is_of(error, kind, "trigger")
    assert given[:1] == [call] or not reads_request
    assert len(given) == reads_request + (kind == 7)


def a_call_says_what_was_called(has_words: bool) -> None:
    assert has_words in (False, True)
    entry = EntryCore("entry")
    call = Invocation(entry, "task", (1, "two"), {"key": 3} if has_words else None)
    words = "1, 'two', key=3" if has_words else "1, 'two'"
    assert repr(call) == f"<call entry({words}) of 'task'>"
    assert (call.args, call.kwargs) == ((1, "two"), {"key": 3} if has_words else {})
    assert entry.permits(call)
    assert not entry.reads_request
    assert entry.cause is None
