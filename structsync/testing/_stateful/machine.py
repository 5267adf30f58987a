"""Stateful tests in which the schedule is drawn by Hypothesis, like everything else.

Hypothesis calls the rules of a machine one after the other. An async rule becomes a task; between two
rules tasks run, one step at a time, in a drawn order. So the schedule is a part of the example: it
is stored, replayed and shrunk together with the program.

Of Hypothesis are used: the machine's documented methods, ``check_invariants``, and the marks that
its decorators leave on a method, because a rule has to be replaced by what starts it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Coroutine
from dataclasses import replace
from random import Random
from typing import Any, ClassVar, TypeVar

import trio
from hypothesis import note, reject, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    INITIALIZE_RULE_MARKER,
    INVARIANT_MARKER,
    RULE_MARKER,
    RuleBasedStateMachine,
    initialize,
    multiple,
)

from structsync.testing._search import engine_choice
from structsync.testing._search.choosers import UNLIMITED
from structsync.testing._settings import ClockMode, Order, Settings

from .rule_task import MachineFailed as MachineFailed
from .rule_task import RuleTask as RuleTask
from .run import MachineRun

F = TypeVar("F", bound=Callable[..., object])


def outside_the_run(function: F) -> F:
    """Mark a rule that is called by Hypothesis itself, outside the run."""
    vars(function)["__structsync_rule__"] = True
    return function


class ScheduledStateMachine(RuleBasedStateMachine):
    """A rule-based state machine of Hypothesis whose rules may be async, under a drawn schedule.

    Rules, invariants, preconditions and bundles are those of ``hypothesis.stateful``. What is
    different:

    * An ``async def`` rule is started as a task of its own, and may still be waiting when the next
      rule comes. If it has a target, Hypothesis waits for its result; if everything is blocked
      before there is one, nothing is added to the bundle.
    * A sync rule is a single step; it may do what needs a task, such as ``release()``.
    * After each rule a drawn number of steps runs, each of which lets a drawn task run until its next
      checkpoint, cancels a drawn rule (parked or runnable), or lets time pass until the next deadline.
      The simplest schedule is first in, first out, until no task can run, without cancellations.
    * Invariants must be sync. They are checked after each step, and so are those of all primitives of
      structsync.
    * An ``@initialize`` rule that is async must return before the first rule; it runs first in,
      first out.
    * ``teardown`` may be async. When it has returned, what is unfinished is cancelled, and must end.
      After a failure its errors do not count; if the failure broke the nursery, an async one is run up to
      its first wait.

    Keyword arguments of the class, as in ``class Machine(ScheduledStateMachine, cancels=1)``; a
    subclass inherits them:

    Args:
      cancels: the most rules that are cancelled in one example; any number by default.
      order: ``"any"``: each runnable task may go next; ``"trio"``: all that are runnable run once
          before anything newly runnable.
      clock: ``"autojump"``: time passes only when no task can run; ``"explore"``: the next deadline
          may also fire early.
      max_steps: an example with more steps fails.

    Raises:
      TypeError: if an invariant or a precondition is async.
      ValueError: if a keyword argument has a value that it cannot have.
    """

    _asked: ClassVar[Settings] = Settings(cancels=UNLIMITED)

    def __init_subclass__(
        cls,
        *,
        cancels: int | None = None,
        order: Order | None = None,
        clock: ClockMode | None = None,
        max_steps: int | None = None,
        **others: Any,
    ) -> None:
        super().__init_subclass__(**others)
        given = {"cancels": cancels, "order": order, "clock": clock, "max_steps": max_steps}
        asked: dict[str, Any] = {name: one for name, one in given.items() if one is not None}
        cls._asked = replace(cls._asked, **asked)
        for _, function in inspect.getmembers(cls, inspect.isfunction):
            _schedule_rules(function)
        if not hasattr(cls.teardown, "__structsync_ends__"):
            cls.teardown = _ending(cls.teardown)  # type: ignore[assignment]  # a wrapper of it
        # Hypothesis suppresses all health checks of a machine; here nothing is known to need it.
        cls.TestCase.settings = settings(deadline=None)
        # Once per process, and not within the first example, whose time may be limited.
        engine_choice.chosen()

    def __init__(self) -> None:
        super().__init__()
        self._machine_run = MachineRun(self._asked)

    # For rules.

    def get_root_nursery(self) -> trio.Nursery:
        """Return the nursery of the machine, for tasks that are no rules, such as a server.

        An error in one of them fails the example. They are cancelled after ``teardown``.

        Raises:
          RuntimeError: if no rule has been called yet.
        """
        return self._machine_run.nursery

    def start(self, async_fn: Callable[..., Coroutine[Any, Any, object]], *args: Any) -> RuleTask:
        """Start a task like an async rule, and return its handle; for use in a sync rule.

        With the handle in a bundle, another rule can cancel this very task.

        Args:
          async_fn: the async function to run.
          args: its arguments.

        Raises:
          TypeError: if ``async_fn`` is not async.
          RuntimeError: if it is not called inside a rule.
        """
        if not inspect.iscoroutinefunction(async_fn):
            raise TypeError(f"start() needs an async function, not {async_fn!r}")
        try:
            trio.lowlevel.current_task()
        except RuntimeError:
            text = "start() belongs into a rule: tasks start while one runs"
            raise RuntimeError(text) from None
        return self._machine_run.spawn(async_fn(*args), async_fn.__name__)

    @property
    def is_quiescent(self) -> bool:
        """Whether no task can run; for invariants that need not hold while one can."""
        return self._machine_run.is_quiescent

    async def settle(self) -> None:
        """Wait, in ``teardown``, until every rule that was started has ended.

        Time passes as needed. Whatever a rule waits for should have been provided before.

        Raises:
          MachineFailed: if nothing can run and a rule still waits: it would wait forever.
          RuntimeError: if it is not called in ``teardown``.
        """
        await self._machine_run.settle()

    def teardown(self) -> Any:
        """Clean up; does nothing by default. It may be overridden by a sync or an async method."""
        return _NothingToAwait()

    # For Hypothesis.

    @initialize(source=st.randoms(use_true_random=False))
    @outside_the_run
    def draw_schedule(self, source: Random) -> None:
        """Take over the source of all choices; called by Hypothesis."""
        self._machine_run.actions.source = source

    def check_invariants(
        self, settings: settings, output: Callable[[str], object], runtimes: dict[str, float]
    ) -> None:
        """Check the invariants; after a rule, also run tasks, and check after each step."""
        check = super().check_invariants

        def quietly() -> None:
            shown: list[str] = []
            try:
                check(settings, shown.append, runtimes)
            except BaseException:
                for line in shown[-1:]:
                    note(line)
                raise

        run = self._machine_run
        if run.closed:
            # What is left of the program does nothing. Hypothesis cannot end it, but must find a rule.
            if not any(all(self.bundle(one.name) for one in rule.bundles) for rule in self.rules):
                reject()
            return
        run.print_steps()
        check(settings, output, runtimes)
        if run.between_rules(quietly):
            note("# the end, teardown():")
            self.teardown()


class _NothingToAwait:
    """May be awaited or not."""

    def __await__(self) -> Any:
        return iter(())


def _schedule_rules(function: Any) -> None:
    """Let what Hypothesis will call as a rule run as a task, or a step, of the machine."""
    stated = getattr(function, INVARIANT_MARKER, None)
    if stated is not None and _is_async(stated.function):
        raise TypeError(
            f"the invariant {stated.function.__qualname__} is async: it is checked between two "
            "steps, where nothing can wait; write 'def', and take what needs a task into a rule"
        )
    for mark in (RULE_MARKER, INITIALIZE_RULE_MARKER):
        rule = getattr(function, mark, None)
        for condition in getattr(rule or stated, "preconditions", ()):
            if _is_async(condition):
                raise TypeError(f"a precondition of {function.__qualname__} is async; write 'def'")
        if rule is not None and not hasattr(rule.function, "__structsync_rule__"):
            initial = mark == INITIALIZE_RULE_MARKER
            rule.function = _scheduled(rule.function, initial, bool(rule.targets))
            rule.preconditions = tuple(map(_or_over, rule.preconditions))


def _or_over(condition: Callable[[Any], bool]) -> Callable[[Any], bool]:
    @functools.wraps(condition)
    def holds(machine: Any) -> bool:
        over = isinstance(machine, ScheduledStateMachine) and machine._machine_run.closed
        return over or condition(machine)

    return holds


def _is_async(function: Any) -> bool:
    return inspect.iscoroutinefunction(inspect.unwrap(function))


def _scheduled(function: Any, initial: bool, has_targets: bool) -> Callable[..., Any]:
    @functools.wraps(function)
    def perform(machine: RuleBasedStateMachine, /, **arguments: Any) -> Any:
        call = functools.partial(function, machine, **arguments)
        if not isinstance(machine, ScheduledStateMachine):
            return call()  # a mixin with rules may serve other machines too
        run = machine._machine_run
        if run.closed:
            return multiple() if has_targets else None
        if not initial:
            run.actions.exploring = True
        task, result = run.perform(call, function.__name__)
        if task is None or not (initial or has_targets):
            return result
        if run.finish(task):
            return task.value
        if initial:
            raise MachineFailed(f"an @initialize rule waits forever: {run.places([task])}")
        return multiple()

    vars(perform)["__structsync_rule__"] = True
    return perform


def _ending(teardown: Callable[[Any], Any]) -> Callable[[Any], Any]:
    @functools.wraps(teardown)
    def end(machine: ScheduledStateMachine) -> Any:
        if machine._machine_run.closed:
            return None  # the program came to its end before Hypothesis did
        if machine._machine_run.ending:
            return teardown(machine)  # called by that of a subclass
        return machine._machine_run.end(functools.partial(teardown, machine))

    vars(end)["__structsync_ends__"] = True
    return end
