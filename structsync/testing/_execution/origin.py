"""Whose error it was: what an exception that left a test says about its origin."""

from __future__ import annotations

from collections.abc import Iterator

from .frames import is_below, place


def describe_error(error: BaseException) -> tuple[str, str]:
    """Return an error in a sentence, and what distinguishes it from others: type and place.

    Of a group the members are described, because a nursery wraps each error into one.
    """
    leaves = list(leaves_of(error))
    sentences = dict.fromkeys(map(_sentence, leaves))
    culprits = sorted({f"{type(one).__name__} at {_origin(one)}" for one in leaves})
    return "; ".join(sentences), ", ".join(culprits)


def leaves_of(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, or those in a group."""
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from leaves_of(one)
    else:
        yield error


def _sentence(error: BaseException) -> str:
    try:
        text = str(error).strip()
    except BaseException as failed:  # noqa: BLE001 - the user's; the error itself is what matters
        text = f"its str() raises {type(failed).__name__}"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__ + _inside(error)


def _inside(error: BaseException) -> str:
    """Return in which function of a library an error without a text was raised, in words; or nothing."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or not is_below(trace.tb_frame):
        return ""
    library = str(trace.tb_frame.f_globals["__name__"]).partition(".")[0]
    return f" in {library}'s {trace.tb_frame.f_code.co_name}()"


def _origin(error: BaseException) -> str:
    """Return the innermost place in the program itself where an error passed."""
    found = ""
    trace = error.__traceback__
    while trace is not None:
        if not found or not is_below(trace.tb_frame):
            found = f"{place(trace.tb_frame).partition(':')[0]}:{trace.tb_lineno}"
        trace = trace.tb_next
    return found
