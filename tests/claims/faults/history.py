"""Faults of what a session keeps of a log, each for one claim."""

from __future__ import annotations

from structsync._core.shared.history import Entries, History, Mark

from ._planting import fault


@fault(
    History,
    "compared",
    refuted_by="history.what_was_read_before_the_last_comparison_but_one_is_forgotten",
)
def what_was_read_before_the_last_comparison_is_forgotten(history: History, state: bytes) -> None:
    history.base = history.mark = Mark(history.position, history.stamp, state)
    history.entries.clear()


def of_the_base(history: History) -> int:
    return history.base.position


entries_have_no_positions = fault(
    History, "position", refuted_by="history.where_nothing_was_read_the_log_begins"
)(property(of_the_base))


CONTINUES = "history.what_another_session_tells_continues_what_was_read_from_the_last_entry_on"


@fault(History, "continued_by", refuted_by=CONTINUES)
def news_of_a_log_that_was_lost_continue_another(
    history: History, start: int, entries: Entries
) -> Entries:
    known = history.position - start
    return entries[known:] if 0 < known < len(entries) else ()


@fault(History, "continued_by", refuted_by=CONTINUES)
def news_that_begin_after_what_was_read_are_enough(
    history: History, start: int, entries: Entries
) -> Entries:
    known = history.position - start
    if known > 0 and (known > len(entries) or entries[known - 1][0] != history.stamp):
        return ()
    return entries[max(known, 0) :]


@fault(History, "continued_by", refuted_by=CONTINUES)
def the_last_entry_is_read_again(history: History, start: int, entries: Entries) -> Entries:
    known = history.position - start
    if not 0 < known < len(entries) or entries[known - 1][0] != history.stamp:
        return ()
    return entries[known - 1 :]
