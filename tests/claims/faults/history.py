"""Faults of what a session keeps of a log, each for one claim."""

from __future__ import annotations

from structsync._core.shared.history import History, Mark

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
