"""Faults of what is asked of hosts, each for one claim."""

from __future__ import annotations

from collections.abc import Hashable

from structsync._core.monitors.stand_in import Readiness, Review, Stage

from ._planting import fault


@fault(
    Readiness,
    "_startable",
    refuted_by="stand_in.a_host_is_asked_for_its_object_where_the_call_would_start",
)
def every_host_is_asked(readiness: Readiness) -> set[Hashable]:
    return {*readiness.stages}


@fault(Readiness, "review", refuted_by="stand_in.what_would_not_start_any_more_is_let_go")
def no_host_is_let_go(readiness: Readiness) -> Review:
    review = intact_review(readiness)
    return review._replace(let_go=[])


@fault(Readiness, "allows", refuted_by="stand_in.who_was_set_aside_is_not_supposed_to_be_ready")
def each_host_is_supposed_to_be_ready(readiness: Readiness, task: Hashable) -> bool:
    return readiness.supposing or readiness.stages.get(task) is Stage.READY


intact_review = Readiness.review
