"""States that allow no step: the built-in property `no_deadlock`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._errors import ANY_ERROR, SpecError
from ._finding import Finding, error_text
from ._rules import NO_DEADLOCK

if TYPE_CHECKING:
    from ._model import Model, Property


class DeadEnds:
    """Checks of each state without a step that it is declared terminal."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.can_fail = not model.terminals
        """True once some state would not have been allowed to be the last."""

    def finding(self, number: int, stuck: bool) -> Finding | None:
        """Judge the live spec, which is in the state of this number; return a refutation.

        Args:
            number: the number of the state.
            stuck: True if it allows no step.
        """
        if not stuck and self.can_fail:
            return None
        try:
            may_be_last = any(self._ask(one) for one in self._model.terminals)
        except SpecError:
            raise
        except ANY_ERROR as error:
            detail = f"@terminal raised {error_text(error)}"
            return Finding(NO_DEADLOCK, number, detail, no_answer=True)
        self.can_fail |= not may_be_last
        if may_be_last or not stuck:
            return None
        if self._model.terminals:
            why = "@terminal is not true of it"
        else:
            why = "nothing says that it may be the last; if it may, declare it: @terminal"
        return Finding(NO_DEADLOCK, number, f"no action is possible in this state, and {why}")

    def _ask(self, one: Property) -> bool:
        answer = one.judge(self._model.live)
        if type(answer) is not bool:
            raise SpecError(f"@terminal {one.name} must return True or False, not {answer!r}")
        return answer
