"""open_process_pool: sync functions in processes, which may be killed; with real processes."""

import errno
import os
import pickle
import signal
import sys
import threading
import time
from typing import Any, NoReturn

import pytest
import trio

from structsync import open_process_pool
from structsync._primitives import in_process

# What a process is to call has to be importable there, and the same object here, where other tests import modules
# again: so the tests below give it built-in functions.


def fail(word: str) -> NoReturn:
    raise ValueError(word)


class Unfriendly(Exception):
    """An error that is pickled, and cannot be made again."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__("unfriendly")


def fail_unfriendly() -> NoReturn:
    raise Unfriendly(1, 2)


async def test_processes_fail_and_die_and_are_cancelled_and_the_pool_goes_on() -> None:
    import trio_parallel

    async with open_process_pool(1) as pool:
        first = await pool.run(os.getpid)
        assert first != os.getpid()
        assert await pool.run(os.getpid) == first

        with pytest.raises(ValueError, match="invalid literal") as raised:
            await pool.run(int, "word")
        assert "ValueError: invalid literal" in str(raised.value.__cause__)

        unpicklable: Any = threading.Lock()
        for function, arguments in ((abs, (unpicklable,)), (threading.Lock, ()), (lambda: 1, ())):
            with pytest.raises(
                TypeError, match=r"cannot be pickled: .*; use functions and classes"
            ):
                await pool.run(function, *arguments)
        assert await pool.run(os.getpid) == first

        async def run(number: int) -> None:
            results.append(await pool.run(abs, number))

        results: list[int] = []
        async with trio.open_nursery() as nursery:
            for number in (-1, -2):  # they are queued behind what kills the only process
                nursery.start_soon(run, number)
            with pytest.raises(trio_parallel.BrokenWorkerError, match="SIGKILL"):
                await pool.run(signal.raise_signal, signal.SIGKILL)
            assert pool.statistics().tasks_waiting + pool.statistics().running == 2
        assert sorted(results) == [1, 2]
        second = await pool.run(os.getpid)
        assert second != first

        begin = time.monotonic()
        with trio.move_on_after(0.1):
            await pool.run(time.sleep, 60)
        assert time.monotonic() - begin < 30
        assert await pool.run(os.getpid) not in (first, second)
        assert [result async for result in pool.map(abs, [-1, -2])] == [1, 2]
        assert pool.statistics().cancelled == 1


async def test_a_submitted_job_whose_process_is_killed_cancels_the_pool() -> None:
    import trio_parallel

    with pytest.RaisesGroup(trio_parallel.BrokenWorkerError):
        async with open_process_pool(1) as pool:
            killed = await pool.submit(signal.raise_signal, signal.SIGKILL)
            queued = await pool.submit(abs, -1)
    assert (killed.status, queued.status) == ("failed", "cancelled")


def test_an_error_that_cannot_be_pickled_is_told() -> None:
    answer = in_process.call(fail_unfriendly)
    assert isinstance(answer, in_process.Broken)
    assert "cannot be pickled: Unfriendly('unfriendly')" in str(answer.error)
    assert "raise Unfriendly(1, 2)" in answer.text
    pickle.dumps(answer)


class Changed(Exception):
    """An error that is pickled as something else."""

    def __reduce__(self) -> tuple[Any, ...]:
        return str, ("no error",)


class Hostile(Changed):
    def __repr__(self) -> str:
        raise ValueError("no repr")


@pytest.mark.parametrize(
    ("error", "told"), [(Changed, "Changed()"), (Hostile, "<Hostile without a repr>")]
)
def test_an_error_that_is_pickled_as_no_error_is_told(error: type[Exception], told: str) -> None:
    def fails() -> NoReturn:
        raise error

    answer = in_process.call(fails)
    assert str(answer.error).endswith(f"cannot be pickled: {told}")


async def test_what_keeps_a_process_from_being_started_is_told_as_it_is() -> None:
    async def run_sync(*args: Any) -> NoReturn:
        raise OSError(errno.EMFILE, "Too many open files")

    with pytest.raises(OSError, match="Too many open files"):
        await in_process.run(run_sync, abs, -1)


def test_a_call_in_a_process_answers_its_result_or_its_error() -> None:
    assert in_process.call(abs, -1) == 1
    answer = in_process.call(fail, "word")
    assert isinstance(answer.error, ValueError)


async def test_without_trio_parallel_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "trio_parallel", None)
    with pytest.raises(ImportError, match=r"pip install 'structsync\[processes\]'"):
        async with open_process_pool(1):
            pass


async def test_bad_arguments_are_refused_before_anything_starts() -> None:
    with pytest.raises(ValueError, match="workers must be >= 1"):
        open_process_pool(0)


async def test_a_manager_makes_processes_and_a_pool_each_time_that_it_is_entered() -> None:
    manager, found = open_process_pool(1), list[int]()
    for number in range(2):
        async with manager as pool:
            with pytest.raises(RuntimeError, match="entered already; open a pool for each block"):
                await manager.__aenter__()
            found.append(await pool.run(abs, -number))
    assert found == [0, 1]
