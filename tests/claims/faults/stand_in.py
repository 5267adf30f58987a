"""Faults of what is asked of hosts, each for one claim."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from structsync._core.monitors.stages import Lane, Stage, StageLanes
from structsync._core.monitors.stand_in import Readiness, Review, StandInCore, Starting
from structsync._core.queue.request import Queue

from ._planting import Ended, fault


@fault(
    Readiness,
    "_startable",
    refuted_by="stand_in.a_host_is_asked_for_its_object_where_the_call_would_start",
)
def every_host_is_asked(readiness: Readiness) -> Starting:
    return {core: one for core in readiness.cores for one in core.queue}


@fault(Readiness, "review", refuted_by="stand_in.what_would_not_start_any_more_is_let_go")
def no_host_is_let_go(readiness: Readiness) -> Review:
    review = intact_review(readiness)
    return review._replace(let_go=[])


@fault(Readiness, "allows", refuted_by="stand_in.a_call_set_aside_is_not_supposed_to_be_ready")
def each_host_is_supposed_to_be_ready(readiness: Readiness, task: Hashable) -> bool:
    return readiness.supposing or readiness.stages.get(task) is Stage.READY


@fault(
    StandInCore,
    "candidates",
    refuted_by="stand_in.one_answers_for_those_whose_hosts_stand_alike",
)
def each_waiter_is_considered(core: StandInCore) -> Ended:
    return [*core.queue]


@fault(StageLanes, "move", refuted_by="stand_in.one_answers_for_those_whose_hosts_stand_alike")
def a_call_stands_where_it_stood(lanes: StageLanes, call: Any, stage: Stage) -> None:
    pass


@fault(Lane, "append", refuted_by="stand_in.a_call_keeps_its_position_however_its_host_stands")
def a_call_let_go_becomes_the_last(lane: Lane, request: Any) -> None:
    Queue.append(lane, request)


intact_review = Readiness.review
