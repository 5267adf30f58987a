"""A machine of Hypothesis that takes the steps of a specification with the real thing, and compares."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from random import Random
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import rule

from structsync.checking._errors import SpecError
from structsync.checking._events import Call
from structsync.checking._following import differing
from structsync.checking._language import Spec
from structsync.checking._rules import action_names
from structsync.checking._simulation import Simulation
from structsync.report._words import listed

from .machine import ScheduledStateMachine, outside_the_run
from .rule_task import MachineFailed, RuleTask


class Adapter:
    """Base class of your adapter, which makes an object take the steps of a specification.

    A subclass has a method for each action of the specification, with the names of its parameters:
    sync, or async where the object waits. An async call that the specification leaves waiting
    waits in a task of its own; what happens when it is served is the rest of the method.

    ::

        class PoolAdapter(checking.Adapter):
            def __init__(self) -> None:
                self.pool = Pool(1)
                self.having: set[str] = set()

            async def borrow(self, who: str) -> None:
                await self.pool.borrow()
                self.having.add(who)

            def give_up(self, who: str) -> None:
                self.cancel("borrow", who=who)

            def state(self) -> dict[str, object]:
                return {"having": tuple(sorted(self.having))}
    """

    _started: dict[Call, RuleTask]
    _seconds: float = 0

    def state(self) -> Mapping[str, object]:
        """Return what is visible of the object when no task can run: its state, and which calls were served.

        It is called inside the run, and compared with the specification's :meth:`Spec.observed` under
        the same names.
        """
        raise NotImplementedError(f"{type(self).__name__} has no state(), so nothing is compared")

    def cancel(self, action: str, /, **arguments: Any) -> None:
        """Cancel the latest call of an async action with these arguments.

        Raises:
          ValueError: there was no such call.
        """
        call = Call(action, **arguments)
        if call not in self._started:
            raise ValueError(f"there was no {call!r} that could be cancelled")
        self._started[call].cancel()

    def pass_time(self, seconds: float) -> None:
        """Let time pass in the run after this step; no time passes in other steps.

        Args:
          seconds: how much, by trio's clock.
        """
        self._seconds = seconds


class ConformingMachine(ScheduledStateMachine):
    """Takes drawn steps of a specification, and compares with the real thing after each of them."""

    _spec: ClassVar[type[Spec]]
    _make: ClassVar[staticmethod[[], Adapter]]

    def __init__(self) -> None:
        super().__init__()
        self._simulation = Simulation(self._spec)
        self._adapter = type(self)._make()
        self._adapter._started = {}

    @rule(data=st.data())
    @outside_the_run
    def step(self, data: Any) -> None:
        """Take one step that the specification allows; called by Hypothesis."""
        enabled = self._simulation.enabled()
        if not enabled:
            return
        call = data.draw(st.sampled_from(enabled), label="step")
        self._simulation.apply(call.action, **call.arguments)
        if broken := self._simulation.refuted():
            raise SpecError(
                f"{call!r} breaks {', '.join(broken)} of {self._spec.__name__} itself, whatever the "
                f"object does: structsync check finds that, or its bounds are others"
            )
        method = functools.partial(getattr(self._adapter, call.action), **call.arguments)
        run = self._machine_run
        task, _ = run.perform(method, call.action)
        if task is not None:
            self._adapter._started[call] = task
        run.rest()
        seconds, self._adapter._seconds = self._adapter._seconds, 0
        run.pass_time(seconds)
        _, seen = run.perform(self._adapter.state, "state")
        if not isinstance(seen, Mapping):
            raise SpecError(
                f"{type(self._adapter).__name__}.state() returned {seen!r}; return a dictionary of what is "
                "visible, under the names of observed()"
            )
        differences = differing(self._simulation.observed(), seen)
        _check_tells(self._spec, type(self._adapter).__name__, tuple(seen))
        if differences:
            raise MachineFailed(f"after {call!r} {'; '.join(differences)}")


#: So many steps of a specification are taken to see whether what is compared ever changes.
STEPS = 300


@functools.lru_cache(maxsize=256)
def _check_tells(spec: type[Spec], adapter: str, names: tuple[str, ...]) -> None:
    """Raise unless an object that does nothing at all would be seen to differ by these names."""
    if not names:
        raise SpecError(f"{adapter}.state() is empty, so nothing is compared")
    simulation, source = Simulation(spec), Random(0)

    def compared() -> list[object]:
        return [simulation.observed().get(name) for name in names]

    first = compared()
    for _ in range(STEPS):
        enabled = simulation.enabled()
        if enabled:
            call = source.choice(enabled)
            simulation.apply(call.action, **call.arguments)
        else:
            simulation.restart()
        if compared() != first:
            return
    raise SpecError(
        f"{adapter}.state() returns {listed(names)}, which no step of {spec.__name__} changes: an "
        "object that does nothing would pass; let state() and observed() return what the steps are for"
    )


def machine(spec: type[Spec], adapter: Callable[[], Adapter]) -> type[ScheduledStateMachine]:
    """Return a state machine of Hypothesis that compares an object with a specification.

    ::

        TestPool = checking.machine(PoolSpec, PoolAdapter).TestCase

    In each step, an action that the specification allows is drawn, and taken in the specification and by
    the adapter in a trio run; when no task can run any more, what is visible of the object is compared with
    what the specification says. Failures shrink as in any machine.

    Args:
      spec: the spec class.
      adapter: what makes an adapter for each example: a subclass of :class:`Adapter`, or a function.

    Raises:
      SpecError: the spec breaks a rule of the language, or the adapter lacks a method for an action.
        In an example: a property of the spec is broken, or no step changes what ``state()`` returns, so
        that an object that does nothing would pass.
    """
    Simulation(spec)  # whatever is wrong with it is told now, and not in the first example
    kind = adapter if isinstance(adapter, type) else type(adapter())
    if not issubclass(kind, Adapter):
        raise SpecError(f"an adapter is a subclass of checking.Adapter, and {kind!r} is not")
    if missing := [n for n in action_names(spec) if not callable(getattr(kind, n, None))]:
        raise SpecError(
            f"{kind.__name__} has no method for the actions {', '.join(missing)} of {spec.__name__}"
        )
    if inspect.iscoroutinefunction(kind.state):
        raise SpecError(
            f"{kind.__name__}.state() is async, but it is called when no task can run: write def, and let it "
            "wait for nothing"
        )
    name = f"{spec.__name__}Machine"
    body = {"_spec": spec, "_make": staticmethod(adapter), "__module__": spec.__module__}
    made: type[ScheduledStateMachine] = type(name, (ConformingMachine,), body)
    return made
