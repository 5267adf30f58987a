"""A failing schedule in a few lines: where it deviates from plain FIFO order, and what follows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from structsync.report import Blocked, Sentence, Step
from structsync.report._words import counted
from structsync.testing._execution.names import MAIN
from structsync.testing._execution.schedule import Choice

from .notes import CANCELLED

#: Of more deviations, of more tasks that are blocked, and of more changes only so many are told.
MOST_STARS, MOST_BLOCKED, MOST_CHANGES = 6, 6, 3


def story(
    steps: Sequence[Step], choices: Sequence[Choice], firsts: Sequence[Choice]
) -> Iterator[Sentence]:
    """Yield the deviations from plain FIFO order, each with what it led to."""
    stars = [index for index, step in enumerate(steps) if step.deviation]
    if not stars:
        yield Sentence("plain FIFO order, and nothing is cancelled:")
        return
    yield Sentence(f"plain FIFO order, but for {counted(len(stars), 'step')}:")
    for index in stars[:MOST_STARS]:
        yield Sentence(_deviation(steps[index], choices[index], firsts[index]), index + 1)
        effect = _effect(steps, index)
        if effect is not None:
            yield effect
    if stars[MOST_STARS:]:
        yield Sentence(f"and {counted(len(stars) - MOST_STARS, 'more deviation')}")


def _deviation(step: Step, choice: Choice, first: Choice) -> str:
    """Say what happens in a step, and what would have happened there."""
    if choice.kind == "run":
        return f"{step.actor} runs instead of {first.name}"
    when = "while all tasks wait" if first.kind == "clock" else f"before {first.name} runs"
    if choice.kind == "clock":
        return f"the next deadline passes {when}"
    where = f" at {step.stack[0]}" if step.stack else ""
    if choice.kind == "cancel":
        when = "before it runs" if first.name == step.actor else when
        return f"{step.actor} is cancelled{where}, {when}"
    opened = f", {step.note}," if step.note else ""
    what = "the whole test" if choice.name == MAIN else f"the cancel scope {choice.name}{opened}"
    return f"{what} is cancelled while {step.actor} is{where}, {when}"


def _effect(steps: Sequence[Step], index: int) -> Sentence | None:
    """Say what a deviating step has led to: at once, or when the cancelled task ran."""
    actor = steps[index].actor
    if steps[index].injected:
        ran = [
            n
            for n, one in enumerate(steps)
            if n > index and one.actor == actor and not one.injected
        ]
        if not ran:
            return None
        # Not what it did on its way to the next checkpoint, but where it met the cancellation.
        index = next((n for n in ran if steps[n].note.startswith(CANCELLED)), ran[0])
    step = steps[index]
    parts = (
        ["exits" if step.parked == "exits" else f"parks at {step.stack[0]}"] if step.parked else []
    )
    before = steps[index - 1].state if index else {}
    parts += _changes(before, step.state)
    met = "gets Cancelled and " if step.note.startswith(CANCELLED) else ""
    return Sentence(f"so {actor} {met}{'; '.join(parts)}", index + 1) if parts else None


def _changes(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    changed = [name for name in after if name in before and after[name] != before[name]]
    told = [f"{name} was {before[name]}, is {after[name]}" for name in changed[:MOST_CHANGES]]
    more = len(changed) - MOST_CHANGES
    return [*told, f"{counted(more, 'more change')}"] if more > 0 else told


def reasons_of_a_deadlock(blocked: Sequence[Blocked]) -> Iterator[Sentence]:
    """Yield which tasks wait in a cycle, then what each task waits for that does not wait for its children."""
    if circle := _circle({one.task: one.waits_for for one in blocked}):
        yield Sentence(_told(circle))
    leaves = [
        one for one in blocked if not one.why.startswith("waits for the tasks of its nursery")
    ]
    for one in leaves[:MOST_BLOCKED]:
        yield Sentence(f"{one.task} {one.why or 'waits'} ({one.where[0]})")
    if leaves[MOST_BLOCKED:]:
        yield Sentence(f"and {counted(len(leaves) - MOST_BLOCKED, 'more task')}")


def _told(circle: Sequence[str]) -> str:
    if len(circle) == 1:
        return f"{circle[0]} waits for itself"
    if len(circle) == 2:
        return f"{circle[0]} and {circle[1]} wait for each other"
    links = ", which waits for ".join([*circle[1:], circle[0]])
    return f"{circle[0]} waits for {links}"


def _circle(edges: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the tasks of a shortest cycle, the first named first; none if no task waits in one."""
    best: list[str] = []
    for start in edges:
        ways = [[start]]
        seen = {start}
        while ways:
            way = ways.pop(0)
            for name in edges.get(way[-1], ()):
                if name == start and (not best or len(way) < len(best)):
                    best = way
                if name not in seen:
                    seen.add(name)
                    ways.append([*way, name])
    return best
