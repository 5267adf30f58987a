"""A pool's numbers: each worker has one job, and as many jobs are accepted as there is room for."""

from __future__ import annotations

from structsync._core.primitives.job_queue import JobQueueCore
from structsync._core.queue.request import PENDING, WITHDRAWN

from ._queue import BOUND


def a_job_is_given_to_a_worker_that_is_free(workers: int, busy: int) -> None:
    assert 0 <= busy <= workers
    core = JobQueueCore(workers, 0)
    core.busy = busy
    if core.admits("job"):
        last = core.admit("job")
        assert core.busy == busy + 1 <= workers
        assert last == (core.busy == workers)
    else:
        assert core.busy == busy == workers


def a_job_that_ends_frees_one_worker(workers: int, busy: int) -> None:
    assert 0 <= busy <= workers
    core = JobQueueCore(workers, 0)
    core.busy = busy
    try:
        core.discharge("job")
    except RuntimeError:
        assert core.busy == busy == 0
    else:
        assert core.busy == busy - 1 >= 0


def the_oldest_are_accepted_as_far_as_there_is_room(jobs: int, room: int, gone: int) -> None:
    assert 1 <= jobs <= BOUND
    assert room >= 0
    assert 0 <= gone < jobs
    core = JobQueueCore(0, room)
    requests = [core.submit(number, waiter=number) for number in range(jobs)]
    assert [core.is_held_back(one) for one in requests] == [
        number >= room for number in range(jobs)
    ]
    core.withdraw(requests[gone])  # whichever it was
    left = [one for one in requests if one is not requests[gone]]
    assert [core.is_held_back(one) for one in left] == [
        number >= room for number in range(jobs - 1)
    ]
    assert core.accepted == sum(not core.is_held_back(one) for one in left)


def only_what_is_held_back_is_given_up(jobs: int, room: int, which: int) -> None:
    assert 1 <= jobs <= BOUND
    assert room >= 0
    assert 0 <= which < jobs
    core = JobQueueCore(0, room)
    requests = [core.submit(number, waiter=number) for number in range(jobs)]
    ended = core.give_up(requests[which])
    if which < room:  # accepted: its task is told so, and the job is the pool's
        assert ended is None
        assert requests[which].status is PENDING
    else:
        assert ended == []
        assert requests[which].status is WITHDRAWN
    assert len(core.queue) == jobs - (which >= room)
