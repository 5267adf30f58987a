"""Other schedules of a test that was written without them in mind.

Such a test passes in plain trio, and it was not written to hold in every order. So what is reported is a
schedule that fails beside one that passes; what fails in all of them is no matter of order.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf

from structsync.testing._execution.execution import Execution
from structsync.testing._execution.skips import pass_on_a_skip

from .audit import has_failed
from .choosers import Prefix, ShortDepthFirst, Trace
from .priorities import RandomPriorities
from .result import SearchResult
from .runs import Runs

#: Every schedule is tried if that ends within this share of what the search may cost.
PLAIN_SHARE = 4
#: A cancellation at each step may take this share of it.
SWEEP_SHARE = 2
#: A test that fails in so many schedules, and passes in none, does not fail by its order.
ALL_FAIL = 30


class NotExplored(Exception):
    """A test that cannot be explored, which is no fault of its own; the text is the reason.

    Its cause is what the test itself raises, if it does so in every schedule.
    """


class _Test:
    """A test whose plain schedule is known."""

    def __init__(self, runs: Runs, file: str) -> None:
        self._runs = runs
        self._file = file
        self.trace = Trace()
        self.plain = runs.execute(self.trace)
        pass_on_a_skip(self.plain.ending)
        self._is_as_before(Prefix(self.plain.choices, go_on=True))
        assert self.plain.ending is not None
        if self.plain.ending.kind == "endless":
            raise NotExplored(f"it takes more than max_steps={runs.settings.max_steps:,} steps")
        # It may end with a lock held on purpose.
        self._leaks = self.plain.ending.kind == "leak"

    def _is_as_before(self, chooser: Prefix) -> None:
        again = self._runs.execute(chooser)
        assert again.ending is not None
        assert self.plain.ending is not None
        if (
            again.choices != self.plain.choices
            or again.ending.signature != self.plain.ending.signature
        ):
            raise NotExplored(
                "under the same schedule it did not do the same the second time: something outlives an "
                f"execution, a global variable or what a fixture has made; {_ended(self.plain)} once, "
                f"{_ended(again)} then"
            )

    def failed(self, execution: Execution) -> bool:
        """Return whether an execution shows a failure of the test."""
        ending = execution.ending
        return has_failed(execution) and not (
            self._leaks and ending is not None and ending.kind == "leak"
        )

    def failed_when_cancelled(self, execution: Execution) -> bool:
        """Return the same for an execution that was cancelled from outside.

        What the test asserts in a ``finally`` need not be so then.
        """
        error = execution.ending.error if execution.ending is not None else None
        if isinstance(error, BaseExceptionGroup):
            # Python 3.11 takes no method here.
            is_own = error.split(lambda one: self._is_own_assertion(one))[1] is None
        else:
            is_own = error is not None and self._is_own_assertion(error)
        return self.failed(execution) and not is_own

    def _is_own_assertion(self, error: BaseException) -> bool:
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        is_own = trace is not None and trace.tb_frame.f_code.co_filename == self._file
        return isinstance(error, AssertionError) and is_own

    def require_innocence(self) -> None:
        """Make sure that a failure was not left behind by the executions before it."""
        self._is_as_before(Prefix(self.plain.choices, go_on=True))


def search_existing(runs: Runs, *, file: str, sweep: bool) -> SearchResult:
    """Look for a schedule in which a test fails that passes in others.

    With ``sweep`` the whole test is cancelled from outside, too: at each step of its plain schedule. The file is that
    of the test function.

    Raises:
      NotExplored: there is none to look for, or none that would mean anything.
      NondeterminismError: something besides the schedule decides what the test does.
    """
    asked = runs.settings
    runs.settings = replace(asked, cancels=0)
    test = _Test(runs, file)
    runs.executions = runs.steps = 0
    if test.failed(test.plain):
        _require_one_that_passes(runs, test)
        return _found(test.plain, runs)
    said = []
    if sweep:
        runs.settings = replace(asked, cancels=1, search="sweep")
        failed, text = _sweep(runs, test)
        if failed is not None:
            test.require_innocence()
            return _found(failed, runs)
        said = [text] if text else []
        runs.settings = replace(asked, cancels=0)
    failed, is_complete = _plainly(runs, test)
    if failed is None and not is_complete:
        failed, text = _by_priorities(runs, test)
        said.append(text)
    if failed is not None:
        test.require_innocence()
        return _found(failed, runs)
    return SearchResult(None, runs.executions, 0, 0, "; ".join(said) or None)


def _found(failed: Execution, runs: Runs) -> SearchResult:
    reason = "stopped at the first failure"
    return SearchResult(failed, runs.executions, 0, 0, reason, way="sampled")


def _require_one_that_passes(runs: Runs, test: _Test) -> None:
    chooser = RandomPriorities(runs.settings.seed, runs.settings.depth)
    while runs.executions < ALL_FAIL and runs.stopped(0) is None:
        chooser.begin()
        execution = runs.execute(chooser)
        chooser.ended(execution)
        if not test.failed(execution):
            test.require_innocence()
            return
    assert test.plain.ending is not None
    raise NotExplored(
        f"it fails in each of {runs.executions + 1} executions, so no order decides: "
        f"{_ended(test.plain)}"
    ) from test.plain.ending.error


def _sweep(runs: Runs, test: _Test) -> tuple[Execution | None, str]:
    """Cancel at each step of the plain schedule; return what failed, or what was left out."""
    trace = Trace()
    made = runs.execute(trace).choices
    steps = [(step, one) for step, some in enumerate(trace.offered) for one in some]
    with runs.leaving(SWEEP_SHARE):
        for step, one in steps:
            if one.kind != "scope":
                continue
            if stopped := runs.stopped(0):
                return None, f"{stopped}, cancelled in the first {step} of {len(made)} steps"
            execution = runs.execute(Prefix([*made[:step], one], go_on=True))
            if test.failed_when_cancelled(execution):
                return execution, ""
    return None, ""


def _plainly(runs: Runs, test: _Test) -> tuple[Execution | None, bool]:
    """Try every schedule; return what failed, and whether that was all."""
    asked, start = runs.settings, runs.executions
    most = inf if asked.executions is None else asked.executions / PLAIN_SHARE
    end = inf if asked.seconds is None else runs.seconds + asked.seconds / PLAIN_SHARE
    chooser = ShortDepthFirst(asked.max_steps - 1)
    while not runs.stopped(0) and runs.executions - start < most and runs.seconds < end:
        chooser.begin()
        execution = runs.execute(chooser)
        if chooser.gave_up:
            break
        if test.failed(execution):
            return execution, False
        if not chooser.advance():
            return None, True
    return None, False


def _by_priorities(runs: Runs, test: _Test) -> tuple[Execution | None, str]:
    """Try schedules by priorities at random; return what failed, or what the rest is worth."""
    chooser = RandomPriorities(runs.settings.seed, runs.settings.depth)
    done = 0
    while (stopped := runs.stopped(0)) is None:
        chooser.begin()
        execution = runs.execute(chooser)
        chooser.ended(execution)
        done += 1
        if test.failed(execution):
            return execution, ""
    return None, f"{stopped}: {chooser.summary(done)}; seed={runs.settings.seed}"


def _ended(execution: Execution) -> str:
    ending = execution.ending
    assert ending is not None
    return f"{ending.kind}: {ending.message}" if ending.message else ending.kind
